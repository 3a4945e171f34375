"""Tokens as the networks read them: ids → embeddings → states in their surroundings.

The paper has one reader for before, after and context; encoder and editor may share it or have one each.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from editvec.neural.batch import Batch, Ragged, SourceBatch, stack
from editvec.neural.layers.dropout import Dropout
from editvec.neural.layers.recurrent import BiLSTM
from editvec.neural.vocab import UNKNOWN


class Read(NamedTuple):
    """Tokens as a reader saw them."""

    all: Tensor  # [batch, longest, dim]; on padding, anything
    final: Tensor  # [batch, dim], the last state forwards ⊕ the last backwards
    embedded: Tensor  # [batch, longest, dim], each token by itself


class Reading(NamedTuple):
    """The tokens of a source as a reader saw them, so that an encoder and an editor that share it read once."""

    before: Read
    context: Read | None = None


class TokenEmbedding(nn.Module):
    """Ids → embeddings. Ids from `num_known` up, the tokens outside the vocabulary, have `num_slots` embeddings in the
    order of their first occurrence in an edit, or, where there are none, all that of UNKNOWN."""

    def __init__(self, *, num_known: int, num_slots: int, dim: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.num_known, self.num_slots = num_known, num_slots
        self.table = nn.Embedding(num_known + num_slots, dim)
        nn.init.normal_(self.table.weight, std=dim**-0.5)
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids of any shape [...] → [..., dim]."""
        if self.num_slots:
            rows = ids.clamp(max=self.num_known + self.num_slots - 1)
        else:
            rows = torch.where(ids < self.num_known, ids, UNKNOWN)
        embedded: Tensor = self.dropout(self.table(rows))
        return embedded


class Reader(nn.Module):
    """A biLSTM over embedded tokens; with `residual` a token's embedding is added to its state."""

    def __init__(self, *, embedding: TokenEmbedding, residual: bool) -> None:
        super().__init__()
        self.embedding, self.residual = embedding, residual
        dim = embedding.table.embedding_dim
        self.lstm = BiLSTM(input_dim=dim, dim=dim)

    def forward(self, *parts: Ragged) -> list[Read]:
        """Reads tokens, all parts in one go."""
        tokens = stack(*parts)
        embedded = self.embedding(tokens.ids)
        states, final = self.lstm(embedded, tokens.lengths)
        if self.residual:
            states = states + embedded
        sizes = [len(part.lengths) for part in parts]
        found = zip(parts, states.split(sizes), final.split(sizes), embedded.split(sizes), strict=True)
        return [Read(some[:, : part.longest], last, each[:, : part.longest]) for part, some, last, each in found]

    def read(self, source: SourceBatch, *, context: bool) -> Reading:
        """What an editor may read."""
        parts = [source.before, source.context] if context else [source.before]
        return Reading(*(self(part)[0] for part in parts))

    def read_edit(self, batch: Batch, *, context: bool) -> tuple[Reading, Read]:
        """What an editor may read, and `after`. In one go: the longest part has as many steps whatever is read beside
        it, and in the small batches of training it is the steps that cost."""
        after, *found = self(batch.target.after, batch.source.before, *([batch.source.context] if context else []))
        return Reading(*found), after
