"""Reading tokens: ids become embeddings, and embeddings become states that depend on the surrounding tokens.

The paper has one reader for before, after and the context. The encoder and the editor can share a reader or have one
each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from editvec.neural.arrays import Array, Ints, dropout
from editvec.neural.batch import Batch, Ragged, SourceBatch, stack
from editvec.neural.layers.layer import Embedding, Layer
from editvec.neural.layers.recurrent import BiLSTM
from editvec.neural.vocab import UNKNOWN


class Read(NamedTuple):
    """Tokens as a reader has read them."""

    all: Array  # [batch, longest, dim]; undefined on padding
    final: Array  # [batch, dim], the last forward and the last backward state, concatenated
    embedded: Array  # [batch, longest, dim], the embedding of each token


class Reading(NamedTuple):
    """The tokens of a source as a reader has read them; an encoder and an editor can share it."""

    before: Read
    context: Read | None = None


class TokenEmbedding(Layer):
    """A layer that maps ids to embeddings.

    Ids from `num_known` on are tokens outside the vocabulary. They have `num_slots` embeddings, in the order of their
    first occurrence in an edit. Without slots, all of them have the embedding of UNKNOWN.
    """

    def __init__(self, *, num_known: int, num_slots: int, dim: int, dropout: float = 0.0) -> None:
        self.num_known, self.num_slots, self.dim, self.dropout = num_known, num_slots, dim, dropout
        self.table = Embedding(num_known + num_slots, dim, deviation=dim**-0.5)

    def __call__(self, ids: Ints) -> Array:
        """Return the embeddings of ids: [...] becomes [..., dim]."""
        if self.num_slots:
            rows = np.minimum(ids, self.num_known + self.num_slots - 1)
        else:
            rows = np.where(ids < self.num_known, ids, UNKNOWN)
        return dropout(self.table(rows), self.dropout)


class Reader(Layer):
    """A biLSTM over embedded tokens; with `residual`, the embedding of a token is added to its state."""

    def __init__(self, *, embedding: TokenEmbedding, residual: bool) -> None:
        self.embedding, self.residual = embedding, residual
        self.lstm = BiLSTM(input_dim=embedding.dim, dim=embedding.dim)

    def __call__(self, *parts: Ragged) -> list[Read]:
        """Return the states of the tokens of all parts, which are computed in one pass."""
        tokens = stack(*parts)
        embedded = self.embedding(tokens.ids)
        states, final = self.lstm(embedded, tokens.lengths)
        if self.residual:
            states = states + embedded
        found, start = [], 0
        for part in parts:
            rows = slice(start, start := start + len(part.lengths))
            found.append(Read(states[rows, : part.longest], final[rows], embedded[rows, : part.longest]))
        return found

    def read(self, source: SourceBatch, *, context: bool) -> Reading:
        """Return the states of what an editor may read."""
        parts = [source.before, source.context] if context else [source.before]
        return Reading(*(self(part)[0] for part in parts))

    def read_edit(self, batch: Batch, *, context: bool) -> tuple[Reading, Read]:
        """Return the states of what an editor may read, and those of `after`.

        All parts are read in one pass. The number of steps is that of the longest part, and in the small batches of
        training the steps determine the time.
        """
        after, *found = self(batch.target.after, batch.source.before, *([batch.source.context] if context else []))
        return Reading(*found), after
