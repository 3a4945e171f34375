"""Training in several processes that `torchrun` starts, or in one."""

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
    """The rank of this process and the number of processes."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Return whether this is the process that writes files and messages."""
        return self.rank == 0

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum of a tensor over all processes."""
        if self.size > 1:
            distributed.all_reduce(values)
        return values

    def all_well(self, well: bool) -> bool:
        """Return whether `well` is true in every process; wait for all processes."""
        return bool(self.sum(torch.tensor(float(not well))) == 0)

    def wait(self) -> None:
        """Wait until every process has called this."""
        if self.size > 1:
            distributed.barrier()

    def wrap(self, model: nn.Module) -> nn.Module:
        """Return the model with gradients that are averaged over all processes."""
        return DistributedDataParallel(model) if self.size > 1 else model


def leads() -> bool:
    """Return whether this process writes messages. It need not have joined the others yet."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def joined() -> Iterator[World]:
    """Yield the world that `torchrun` set up for this process, or a world of one process."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield World()
        return
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
    # One process prepares the corpora while the others wait. The time grows with the number of edits.
    distributed.init_process_group("gloo", timeout=timedelta(days=7))
    try:
        yield World(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
