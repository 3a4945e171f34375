"""`sequence`: a biLSTM over the alignment of before and after (section 3.2 of the paper).

Each position is (tag, before token, after token); as in the original code the two tokens are states of the token
reader, so that they carry their surroundings, and a side without a token is zeros.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from editvec.config import ModelConfig
from editvec.encoders.base import EditEncoder
from editvec.nn.recurrent import BiLSTM, States, take
from editvec.tensors.batch import TAG_PAD, Batch
from editvec.tensors.example import NOWHERE


class SequenceEncoder(EditEncoder):
    """The final states of both directions are the edit vector."""

    def __init__(self, *, token_dim: int, tag_dim: int, edit_dim: int) -> None:
        super().__init__()
        self.edit_dim = edit_dim
        self.tags = nn.Embedding(TAG_PAD + 1, tag_dim)
        self.lstm = BiLSTM(input_dim=tag_dim + 2 * token_dim, dim=edit_dim)

    @classmethod
    def from_config(cls, config: ModelConfig, num_known: int, num_kinds: int) -> SequenceEncoder:
        """As a config has it."""
        return cls(token_dim=config.embed_dim, tag_dim=config.tag_dim, edit_dim=config.edit_dim)

    def forward(self, batch: Batch, before: States | None, after: States | None) -> Tensor:
        assert before is not None and after is not None
        alignment = batch.alignment
        sides = [_at(before.all, alignment.before), _at(after.all, alignment.after)]
        inputs = torch.cat([self.tags(alignment.tags.ids), *sides], -1)
        states: States = self.lstm(inputs, alignment.tags.lengths)
        return states.final


def _at(states: Tensor, places: Tensor) -> Tensor:
    return take(states, places.clamp(min=0)) * (places != NOWHERE)[..., None]
