"""Reading tokens: ids become embeddings, and embeddings become states that depend on the surrounding tokens.

The paper has one reader for before, after and the context. The encoder and the editor can share a reader or have one
each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from editvec.neural.arrays import Array, Ints, dropout, is_learning, place, replace, scatter_add, take
from editvec.neural.batch import Batch, Ragged, SourceBatch, stack
from editvec.neural.layers.layer import Embedding, Layer
from editvec.neural.layers.recurrent import BiLSTM
from editvec.neural.layers.speller import rolled
from editvec.neural.names import NO_PIECE, NamePieces
from editvec.neural.vocab import UNKNOWN, VocabSizes


class Read(NamedTuple):
    """Tokens as a reader has read them."""

    all: Array  # [batch, longest, dim]; undefined on padding
    final: Array  # [batch, dim], the last forward and the last backward state, concatenated
    embedded: Array  # [batch, longest, dim], the embedding of each token


class Reading(NamedTuple):
    """The tokens of a source as a reader has read them; an encoder and an editor can share it."""

    before: Read
    context: Read | None = None


class Spelled(NamedTuple):
    """The embeddings of names, and where each row of a batch has its own."""

    table: Array  # [names, dim]
    starts: Ints  # [rows]

    def at(self, rows: Ints) -> Spelled:
        """Return the names of some rows."""
        return Spelled(self.table, self.starts[rows])


class TokenEmbedding(Layer):
    """A layer that maps ids to embeddings.

    The ids are first those of `num_words` words, then those of `num_pieces` pieces. Ids from `num_known` on are tokens
    outside the vocabulary. They have `num_slots` embeddings, in the order of their first occurrence in an edit.
    Without slots, all of them have the embedding of UNKNOWN. If there are pieces, the embedding of its pieces is added.
    """

    def __init__(self, *, sizes: VocabSizes, num_slots: int, dim: int, dropout: float = 0.0) -> None:
        self.num_words, self.num_pieces = sizes
        self.num_known, self.num_slots, self.dim, self.dropout = sum(sizes), num_slots, dim, dropout
        self.table = Embedding(self.num_words + num_slots, dim, deviation=dim**-0.5)
        if self.num_pieces:
            self.pieces = Embedding(self.num_pieces, dim, deviation=dim**-0.5)

    def __call__(self, ids: Ints, spelled: Spelled | None = None) -> Array:
        """Return the embeddings of ids: [batch] or [batch, n] becomes [..., dim]."""
        if self.num_slots:
            slots = np.minimum(ids - self.num_pieces, self.num_words + self.num_slots - 1)
            rows = np.where(ids < self.num_words, ids, np.where(ids < self.num_known, UNKNOWN, slots))
        else:
            rows = np.where(ids < self.num_words, ids, UNKNOWN)
        found = self.table(rows)
        if self.num_pieces:
            found = self._with_pieces(found.reshape(-1, self.dim), ids, spelled).reshape(*ids.shape, self.dim)
        return dropout(found, self.dropout)

    def spell(self, names: NamePieces | None) -> Spelled | None:
        """Return the embeddings of names: the sum of those of the pieces, each moved by its place in the token."""
        if names is None or not self.num_pieces:
            return None
        row, column = (names.pieces != NO_PIECE).nonzero()
        moved = rolled(self.pieces(names.pieces[row, column]), column)
        return Spelled(scatter_add(moved, row, len(names.pieces)), names.starts)

    def _with_pieces(self, found: Array, ids: Ints, spelled: Spelled | None) -> Array:
        """Return embeddings [ids, dim] with those of pieces, and with the names added to those of other tokens."""
        flat = ids.reshape(-1)
        (written,) = ((flat >= self.num_words) & (flat < self.num_known)).nonzero()
        # Training in several processes needs a gradient of every weight in every step.
        if len(written) or is_learning(found):
            found = replace(found, written, self.pieces(flat[written] - self.num_words))
        (unknown,) = (flat >= self.num_known).nonzero()
        if spelled is None or not len(unknown):
            return found
        numbers = spelled.starts[unknown // (len(flat) // len(ids))] + flat[unknown] - self.num_known
        return found + place(take(spelled.table, numbers), unknown, len(flat))


class Reader(Layer):
    """A biLSTM over embedded tokens; with `residual`, the embedding of a token is added to its state."""

    def __init__(self, *, embedding: TokenEmbedding, residual: bool) -> None:
        self.embedding, self.residual = embedding, residual
        self.lstm = BiLSTM(input_dim=embedding.dim, dim=embedding.dim)

    def __call__(self, *parts: Ragged) -> list[Read]:
        """Return the states of the tokens of all parts, which are computed in one pass."""
        tokens = stack(*parts)
        embedded = self.embedding(tokens.ids, self.embedding.spell(tokens.names))
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
