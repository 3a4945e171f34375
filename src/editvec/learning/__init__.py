"""The main job: a history → the edits that it keeps making → rules → places where they are still due."""

from editvec.learning.learn import Learned, Request, learn

__all__ = ["Learned", "Request", "learn"]
