"""What an edit encoder is."""

from __future__ import annotations

from typing import Self

from editvec.neural.arrays import Array
from editvec.neural.batch import Batch
from editvec.neural.config import ModelConfig
from editvec.neural.layers.layer import Layer
from editvec.neural.reading import Read


class EditEncoder(Layer):
    """Edits → vectors. It sees before and after."""

    edit_dim: int
    reads: bool = True
    """Whether it uses what a reader made of the tokens; where not, `before` and `after` are None."""
    needs_trees: bool = False

    @classmethod
    def from_config(cls, config: ModelConfig, num_known: int, num_kinds: int) -> Self:
        """Return the encoder of a config, over `num_known` ids of a vocabulary and `num_kinds` kinds of nodes."""
        raise NotImplementedError

    def __call__(self, batch: Batch, before: Read | None, after: Read | None) -> Array:
        """Return the vectors of a batch, whose tokens a reader has read: [batch, edit_dim]."""
        raise NotImplementedError
