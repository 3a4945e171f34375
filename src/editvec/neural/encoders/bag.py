"""`bag`: the sums of the embeddings of added and of removed tokens, concatenated (the paper's bag of edits)."""

from __future__ import annotations

import numpy as np

from editvec.neural.arrays import Array, Ints, Mask, concat, where
from editvec.neural.batch import Batch, Ragged
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.examples import NOWHERE
from editvec.neural.reading import Read, TokenEmbedding
from editvec.neural.vocab import VocabSizes


class BagEncoder(EditEncoder):
    """The bag-of-edits encoder.

    When a token is replaced, the old token counts as removed and the new one as added.
    """

    reads = False

    def __init__(self, *, sizes: VocabSizes, num_slots: int, edit_dim: int) -> None:
        self.edit_dim = edit_dim
        self.embedding = TokenEmbedding(sizes=sizes, num_slots=num_slots, dim=edit_dim // 2)

    @classmethod
    def from_config(cls, config: ModelConfig, sizes: VocabSizes, num_kinds: int) -> BagEncoder:
        """Return the encoder of a config."""
        return cls(sizes=sizes, num_slots=config.unknown_slots, edit_dim=config.edit_dim)

    def __call__(self, batch: Batch, before: Read | None, after: Read | None) -> Array:
        """Return the vectors of a batch: [batch, edit_dim]."""
        alignment = batch.alignment
        changed = alignment.tags.ids != 0
        sides = (batch.target.after, alignment.after), (batch.source.before, alignment.before)
        return concat(*(self._sum(tokens, places, changed) for tokens, places in sides))

    def _sum(self, tokens: Ragged, places: Ints, changed: Mask) -> Array:
        """Return the summed embeddings of the changed tokens of one side: [batch, edit_dim / 2]."""
        there = (changed & (places != NOWHERE))[..., None]
        embedded = self.embedding(
            np.take_along_axis(tokens.ids, np.maximum(places, 0), 1), self.embedding.spell(tokens.names)
        )
        return where(embedded, there).sum(1)
