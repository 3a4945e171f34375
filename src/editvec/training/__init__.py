"""Training: the loop, its checkpoints, and training in several processes."""

from editvec.training.distributed import leads
from editvec.training.loop import CHECKPOINT, Progress
from editvec.training.run import Files, OtherFailedError, part_of, resume, train

__all__ = ["CHECKPOINT", "Files", "OtherFailedError", "Progress", "leads", "part_of", "resume", "train"]
