"""Training: the loop, its checkpoints, and several processes."""

from editvec.training.distributed import leads
from editvec.training.loop import Progress
from editvec.training.run import Files, resume, train

__all__ = ["Files", "Progress", "leads", "resume", "train"]
