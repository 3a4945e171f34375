"""Several processes as one: what `torchrun` starts, or a world of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True, slots=True)
class World:
    """This process among its peers."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes and talks."""
        return self.rank == 0

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes."""
        if self.size > 1:
            distributed.all_reduce(values)
        return values

    def all_well(self, well: bool) -> bool:
        """Return whether every process says so; returns when all have."""
        return bool(self.sum(torch.tensor(float(not well))) == 0)

    def wait(self) -> None:
        """Returns when every process has come here."""
        if self.size > 1:
            distributed.barrier()

    def wrap(self, model: nn.Module) -> nn.Module:
        """Return the model with its gradients averaged over all processes."""
        return DistributedDataParallel(model) if self.size > 1 else model


def leads() -> bool:
    """Return whether this process is the one that talks, before or after it has joined the others."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def joined() -> Iterator[World]:
    """Return the world that `torchrun` made of this process, or one of its own."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield World()
        return
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
    # One process prepares the corpora while the others wait, which takes as long as there are edits.
    distributed.init_process_group("gloo", timeout=timedelta(days=7))
    try:
        yield World(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
