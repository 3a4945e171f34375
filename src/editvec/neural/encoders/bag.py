"""`bag`: the sum of the embeddings of the tokens added ⊕ that of the tokens removed (the paper's bag of edits)."""

from __future__ import annotations

import torch
from torch import Tensor

from editvec.neural.batch import Batch
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.examples import NOWHERE
from editvec.neural.reading import Read, TokenEmbedding


class BagEncoder(EditEncoder):
    """A token that was replaced counts as removed, what replaced it as added."""

    reads = False

    def __init__(self, *, num_known: int, num_slots: int, edit_dim: int) -> None:
        super().__init__()
        self.edit_dim = edit_dim
        self.embedding = TokenEmbedding(num_known=num_known, num_slots=num_slots, dim=edit_dim // 2)

    @classmethod
    def from_config(cls, config: ModelConfig, num_known: int, num_kinds: int) -> BagEncoder:
        """As a config has it."""
        return cls(num_known=num_known, num_slots=config.unknown_slots, edit_dim=config.edit_dim)

    def forward(self, batch: Batch, before: Read | None, after: Read | None) -> Tensor:
        alignment = batch.alignment
        changed = alignment.tags.ids != 0
        sides = (batch.target.after.ids, alignment.after), (batch.source.before.ids, alignment.before)
        return torch.cat([self._sum(ids, places, changed) for ids, places in sides], -1)

    def _sum(self, ids: Tensor, places: Tensor, changed: Tensor) -> Tensor:
        there = (changed & (places != NOWHERE))[..., None]
        embedded: Tensor = self.embedding(ids.gather(1, places.clamp(min=0)))
        return (embedded * there).sum(1)
