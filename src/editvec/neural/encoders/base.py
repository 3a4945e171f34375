"""The protocol of edit encoders."""

from __future__ import annotations

from typing import Self

from editvec.neural.arrays import Array
from editvec.neural.batch import Batch
from editvec.neural.config import ModelConfig
from editvec.neural.layers.layer import Layer
from editvec.neural.reading import Read
from editvec.neural.vocab import VocabSizes


class EditEncoder(Layer):
    """A layer that maps edits to vectors. It sees both before and after."""

    edit_dim: int
    reads: bool = True
    """Whether the encoder uses tokens that a reader has read; if not, `before` and `after` are None."""
    needs_trees: bool = False

    @classmethod
    def from_config(cls, config: ModelConfig, sizes: VocabSizes, num_kinds: int) -> Self:
        """Return the encoder of a config.

        `sizes` are those of the vocabulary, and `num_kinds` the number of kinds of nodes.
        """
        raise NotImplementedError

    def __call__(self, batch: Batch, before: Read | None, after: Read | None) -> Array:
        """Return the vectors of a batch: [batch, edit_dim].

        `before` and `after` are the tokens of the batch as a reader has read them.
        """
        raise NotImplementedError
