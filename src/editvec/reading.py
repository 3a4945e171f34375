"""Tokens as the networks read them: ids → embeddings → states in their surroundings.

The paper has one reader for before, after and context; encoder and editor may share it or have one each.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from editvec.nn.recurrent import BiLSTM
from editvec.tensors.batch import Batch, Ragged, SourceBatch, stack
from editvec.vocab import UNKNOWN


class Read(NamedTuple):
    """Tokens as a reader saw them."""

    all: Tensor  # [batch, longest, dim]; on padding, anything
    final: Tensor  # [batch, dim], the last state forwards ⊕ the last backwards
    embedded: Tensor  # [batch, longest, dim], each token by itself


class Reading(NamedTuple):
    """The tokens of a source as a reader saw them, so that an encoder and an editor that share it read once."""

    before: Read
    context: Read | None


class TokenEmbedding(nn.Module):
    """Ids → embeddings. Ids from `num_known` up, the tokens outside the vocabulary, have `num_slots` embeddings in the
    order of their first occurrence in an edit, or, where there are none, all that of UNKNOWN."""

    def __init__(self, *, num_known: int, num_slots: int, dim: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.num_known, self.num_slots = num_known, num_slots
        self.table = nn.Embedding(num_known + num_slots, dim)
        nn.init.normal_(self.table.weight, std=dim**-0.5)
        self.dropout = nn.Dropout(dropout)

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

    def forward(self, tokens: Ragged) -> Read:
        """Reads tokens."""
        embedded = self.embedding(tokens.ids)
        states, final = self.lstm(embedded, tokens.lengths)
        return Read(states + embedded if self.residual else states, final, embedded)

    def read(self, source: SourceBatch, *, context: bool) -> Reading:
        """What an editor may read."""
        return Reading(self(source.before), self(source.context) if context else None)

    def read_edit(self, batch: Batch, *, context: bool) -> tuple[Reading, Read]:
        """What an editor may read, and `after`. Two versions of one edit are about as long: both are read in one go."""
        versions = stack(batch.source.before, batch.target.after)
        states, final, embedded = self(versions)
        size = len(batch)
        (first, second) = batch.source.before.ids.shape[1], batch.target.after.ids.shape[1]
        before = Read(states[:size, :first], final[:size], embedded[:size, :first])
        after = Read(states[size:, :second], final[size:], embedded[size:, :second])
        return Reading(before, self(batch.source.context) if context else None), after
