"""`sequence`: a biLSTM over the alignment of before and after (section 3.2 of the paper).

Each position is (tag, before token, after token); as in the original code the two tokens are states of the token
reader, so that they carry their surroundings, and a side without a token is zeros.

What a recurrent layer makes of a rare token is a matter of luck: it has hardly been trained on it. With `token_skip`,
the embeddings of the tokens that an edit adds, and of those that it removes, also reach the vector by a linear map
alone, the same for all tokens, so that what holds for frequent ones holds for rare ones.
"""

from __future__ import annotations

import numpy as np

from editvec.diff import Tag
from editvec.neural.arrays import Array, Ints, concat, scatter_add, take, where
from editvec.neural.batch import TAG_PAD, AlignmentBatch, Batch
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.examples import NOWHERE, TAGS
from editvec.neural.layers.layer import Embedding, Linear
from editvec.neural.layers.recurrent import BiLSTM, take_from_each
from editvec.neural.reading import Read


class SequenceEncoder(EditEncoder):
    """The final states of both directions are the edit vector, with what is carried added.

    The first tokens that are added have a map each; those from the `token_skip`-th on share one, and so do all that are
    removed.
    """

    def __init__(self, *, token_dim: int, tag_dim: int, edit_dim: int, token_skip: int) -> None:
        self.edit_dim, self.token_skip = edit_dim, token_skip
        self.tags = Embedding(TAG_PAD + 1, tag_dim)
        self.lstm = BiLSTM(input_dim=tag_dim + 2 * token_dim, dim=edit_dim)
        if token_skip:
            self.carried = Linear((token_skip + 1) * token_dim, edit_dim, bias=False)

    @classmethod
    def from_config(cls, config: ModelConfig, num_known: int, num_kinds: int) -> SequenceEncoder:
        """Return the encoder of a config."""
        return cls(
            token_dim=config.embed_dim, tag_dim=config.tag_dim, edit_dim=config.edit_dim, token_skip=config.token_skip
        )

    def __call__(self, batch: Batch, before: Read | None, after: Read | None) -> Array:
        """Return the vectors of a batch, whose tokens a reader has read: [batch, edit_dim]."""
        assert before is not None and after is not None
        alignment = batch.alignment
        sides = [_at(before.all, alignment.before), _at(after.all, alignment.after)]
        final = self.lstm(concat(self.tags(alignment.tags.ids), *sides), alignment.tags.lengths).final
        return final + self._carried(alignment, before, after) if self.token_skip else final

    def _carried(self, alignment: AlignmentBatch, before: Read, after: Read) -> Array:
        """Return what the changed tokens, each by itself, put into the vectors: [batch, edit_dim]."""
        changed = alignment.tags.mask & (alignment.tags.ids != TAGS.index(Tag.EQUAL))
        added = changed & (alignment.after != NOWHERE)
        removed = changed & (alignment.before != NOWHERE)
        batch, slots = len(added), self.token_skip
        row, column = added.nonzero()
        # The first ones have a slot each, the others share the last.
        slot = row * slots + np.minimum(added.cumsum(1)[row, column] - 1, slots - 1)
        put_in = scatter_add(_tokens(after.embedded, row, alignment.after[row, column]), slot, batch * slots)
        row, column = removed.nonzero()
        taken_away = scatter_add(_tokens(before.embedded, row, alignment.before[row, column]), row, batch)
        return self.carried(concat(put_in.reshape(batch, -1), taken_away))


def _tokens(embedded: Array, rows: Ints, places: Ints) -> Array:
    """Return the tokens at `places` of `rows` [n]: `embedded` [batch, longest, dim] → [n, dim]."""
    batch, longest, dim = embedded.shape
    return take(embedded.reshape(batch * longest, dim), rows * longest + places)


def _at(states: Array, places: Ints) -> Array:
    return where(take_from_each(states, np.maximum(places, 0)), (places != NOWHERE)[..., None])
