"""`none`: no encoder, as a baseline.

All vectors are equal, so the editor has only before and the context.
"""

from __future__ import annotations

import numpy as np

from editvec.neural.arrays import Array
from editvec.neural.batch import Batch
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.reading import Read
from editvec.neural.vocab import VocabSizes


class NoEncoder(EditEncoder):
    """An encoder that maps every edit to the zero vector of one dimension."""

    edit_dim = 1
    reads = False

    @classmethod
    def from_config(cls, config: ModelConfig, sizes: VocabSizes, num_kinds: int) -> NoEncoder:
        """Return the encoder of a config."""
        return cls()

    def __call__(self, batch: Batch, before: Read | None, after: Read | None) -> Array:
        """Return zero vectors: [batch, 1]."""
        return np.zeros((len(batch), self.edit_dim), np.float32)
