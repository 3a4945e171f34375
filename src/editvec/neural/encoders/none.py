"""`none`: no encoder, the baseline. Its vectors are all alike, so the editor has only before and context."""

from __future__ import annotations

import torch
from torch import Tensor

from editvec.neural.batch import Batch
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.reading import Read


class NoEncoder(EditEncoder):
    """Every edit is the zero vector of one dimension."""

    edit_dim = 1
    reads = False

    @classmethod
    def from_config(cls, config: ModelConfig, num_known: int, num_kinds: int) -> NoEncoder:
        """As a config has it."""
        return cls()

    def forward(self, batch: Batch, before: Read | None, after: Read | None) -> Tensor:
        return torch.zeros(len(batch), self.edit_dim)
