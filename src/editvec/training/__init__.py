"""Training: the loop, its checkpoints, and training in several processes.

The names are imported when they are first used, so that a run's configuration can be read without torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from editvec.training.distributed import leads
    from editvec.training.loop import CHECKPOINT, Progress
    from editvec.training.run import Files, OtherFailedError, part_of, resume, train

__all__ = ["CHECKPOINT", "Files", "OtherFailedError", "Progress", "leads", "part_of", "resume", "train"]

_MODULES = {
    "CHECKPOINT": "loop",
    "Files": "run",
    "OtherFailedError": "run",
    "Progress": "loop",
    "leads": "distributed",
    "part_of": "run",
    "resume": "run",
    "train": "run",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'editvec.training' has no attribute {name!r}")
    return getattr(import_module(f"editvec.training.{_MODULES[name]}"), name)
