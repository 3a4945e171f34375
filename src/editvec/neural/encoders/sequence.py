"""`sequence`: a biLSTM over the alignment of before and after (section 3.2 of the paper).

Each position is (tag, before token, after token); as in the original code the two tokens are states of the token
reader, so that they carry their surroundings, and a side without a token is zeros.

What a recurrent layer makes of a rare token is a matter of luck: it has hardly been trained on it. With `token_skip`,
the embeddings of the tokens that an edit adds, and of those that it removes, also reach the vector by a linear map
alone, the same for all tokens, so that what holds for frequent ones holds for rare ones."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from editvec.diff import Tag
from editvec.neural.batch import TAG_PAD, AlignmentBatch, Batch
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.examples import NOWHERE, TAGS
from editvec.neural.layers.recurrent import BiLSTM, States, take
from editvec.neural.reading import Read


class SequenceEncoder(EditEncoder):
    """The final states of both directions are the edit vector, with what is carried added. The first tokens that are
    added have a map each; those from the `token_skip`-th on share one, and so do all that are removed."""

    def __init__(self, *, token_dim: int, tag_dim: int, edit_dim: int, token_skip: int) -> None:
        super().__init__()
        self.edit_dim, self.token_skip = edit_dim, token_skip
        self.tags = nn.Embedding(TAG_PAD + 1, tag_dim)
        self.lstm = BiLSTM(input_dim=tag_dim + 2 * token_dim, dim=edit_dim)
        if token_skip:
            self.carried = nn.Linear((token_skip + 1) * token_dim, edit_dim, bias=False)

    @classmethod
    def from_config(cls, config: ModelConfig, num_known: int, num_kinds: int) -> SequenceEncoder:
        """As a config has it."""
        return cls(
            token_dim=config.embed_dim, tag_dim=config.tag_dim, edit_dim=config.edit_dim, token_skip=config.token_skip
        )

    def forward(self, batch: Batch, before: Read | None, after: Read | None) -> Tensor:
        assert before is not None and after is not None
        alignment = batch.alignment
        sides = [_at(before.all, alignment.before), _at(after.all, alignment.after)]
        inputs = torch.cat([self.tags(alignment.tags.ids), *sides], -1)
        states: States = self.lstm(inputs, alignment.tags.lengths)
        return states.final + self._carried(alignment, before, after) if self.token_skip else states.final

    def _carried(self, alignment: AlignmentBatch, before: Read, after: Read) -> Tensor:
        """What the changed tokens, each by itself, put into the vectors: [batch, edit_dim]."""
        changed = alignment.tags.mask & (alignment.tags.ids != TAGS.index(Tag.EQUAL))
        added = changed & (alignment.after != NOWHERE)
        tokens = _at(after.embedded, alignment.after) * added[..., None]
        places = (added.cumsum(1) - 1).clamp(min=0, max=self.token_skip - 1)
        slots = tokens.new_zeros(len(tokens), self.token_skip, tokens.shape[2])
        slots = slots.scatter_add(1, places[..., None].expand_as(tokens), tokens)
        removed = _at(before.embedded, alignment.before) * changed[..., None]
        carried: Tensor = self.carried(torch.cat([slots.flatten(1), removed.sum(1)], 1))
        return carried


def _at(states: Tensor, places: Tensor) -> Tensor:
    return take(states, places.clamp(min=0)) * (places != NOWHERE)[..., None]
