"""Tokens as the networks read them: ids → embeddings → states in their surroundings.

The paper has one reader for before, after and context; encoder and editor may share it or have one each.
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
    """Tokens as a reader saw them."""

    all: Array  # [batch, longest, dim]; on padding, anything
    final: Array  # [batch, dim], the last state forwards ⊕ the last backwards
    embedded: Array  # [batch, longest, dim], each token by itself


class Reading(NamedTuple):
    """The tokens of a source as a reader saw them, so that an encoder and an editor that share it read once."""

    before: Read
    context: Read | None = None


class TokenEmbedding(Layer):
    """Ids → embeddings.

    Ids from `num_known` up, the tokens outside the vocabulary, have `num_slots` embeddings in the order of their first
    occurrence in an edit, or, where there are none, all that of UNKNOWN.
    """

    def __init__(self, *, num_known: int, num_slots: int, dim: int, dropout: float = 0.0) -> None:
        self.num_known, self.num_slots, self.dim, self.dropout = num_known, num_slots, dim, dropout
        self.table = Embedding(num_known + num_slots, dim, deviation=dim**-0.5)

    def __call__(self, ids: Ints) -> Array:
        """Return the embeddings of ids of any shape [...]: [..., dim]."""
        if self.num_slots:
            rows = np.minimum(ids, self.num_known + self.num_slots - 1)
        else:
            rows = np.where(ids < self.num_known, ids, UNKNOWN)
        return dropout(self.table(rows), self.dropout)


class Reader(Layer):
    """A biLSTM over embedded tokens; with `residual` a token's embedding is added to its state."""

    def __init__(self, *, embedding: TokenEmbedding, residual: bool) -> None:
        self.embedding, self.residual = embedding, residual
        self.lstm = BiLSTM(input_dim=embedding.dim, dim=embedding.dim)

    def __call__(self, *parts: Ragged) -> list[Read]:
        """Read tokens, all parts in one go."""
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
        """Read what an editor may read."""
        parts = [source.before, source.context] if context else [source.before]
        return Reading(*(self(part)[0] for part in parts))

    def read_edit(self, batch: Batch, *, context: bool) -> tuple[Reading, Read]:
        """Read what an editor may read, and `after`, in one go.

        The longest part has as many steps whatever is read beside it, and in the small batches of training it is the
        steps that cost.
        """
        after, *found = self(batch.target.after, batch.source.before, *([batch.source.context] if context else []))
        return Reading(*found), after
