"""`sequence`: a biLSTM over the alignment of before and after (section 3.2 of the paper).

Each position is a tag, a token before and a token after. As in the original code, the two tokens are states of the
token reader, so that they include their surroundings. A missing token is a zero vector.

A recurrent layer is hardly trained on rare tokens, so its states for them are unreliable. With `token_skip`, the
embeddings of the added and the removed tokens also reach the vector through a linear map that is the same for all
tokens. What the map learns from frequent tokens then also holds for rare ones.
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
from editvec.neural.vocab import VocabSizes


class SequenceEncoder(EditEncoder):
    """The sequence encoder: the edit vector is the final states of both directions, plus the token skip.

    In the token skip, each of the first added tokens has its own map. The added tokens from the `token_skip`-th on
    share one map, and so do all removed tokens.
    """

    def __init__(self, *, token_dim: int, tag_dim: int, edit_dim: int, token_skip: int) -> None:
        self.edit_dim, self.token_skip = edit_dim, token_skip
        self.tags = Embedding(TAG_PAD + 1, tag_dim)
        self.lstm = BiLSTM(input_dim=tag_dim + 2 * token_dim, dim=edit_dim)
        if token_skip:
            self.carried = Linear((token_skip + 1) * token_dim, edit_dim, bias=False)

    @classmethod
    def from_config(cls, config: ModelConfig, sizes: VocabSizes, num_kinds: int) -> SequenceEncoder:
        """Return the encoder of a config."""
        return cls(
            token_dim=config.embed_dim, tag_dim=config.tag_dim, edit_dim=config.edit_dim, token_skip=config.token_skip
        )

    def __call__(self, batch: Batch, before: Read | None, after: Read | None) -> Array:
        """Return the vectors of a batch: [batch, edit_dim]."""
        assert before is not None and after is not None
        alignment = batch.alignment
        sides = [_at(before.all, alignment.before), _at(after.all, alignment.after)]
        final = self.lstm(concat(self.tags(alignment.tags.ids), *sides), alignment.tags.lengths).final
        return final + self._carried(alignment, before, after) if self.token_skip else final

    def _carried(self, alignment: AlignmentBatch, before: Read, after: Read) -> Array:
        """Return the token skip of the vectors, a linear map of the changed tokens: [batch, edit_dim]."""
        changed = alignment.tags.mask & (alignment.tags.ids != TAGS.index(Tag.EQUAL))
        added = changed & (alignment.after != NOWHERE)
        removed = changed & (alignment.before != NOWHERE)
        batch, slots = len(added), self.token_skip
        row, column = added.nonzero()
        # The first added tokens have a slot each; the others share the last slot.
        slot = row * slots + np.minimum(added.cumsum(1)[row, column] - 1, slots - 1)
        put_in = scatter_add(_tokens(after.embedded, row, alignment.after[row, column]), slot, batch * slots)
        row, column = removed.nonzero()
        taken_away = scatter_add(_tokens(before.embedded, row, alignment.before[row, column]), row, batch)
        return self.carried(concat(put_in.reshape(batch, -1), taken_away))


def _tokens(embedded: Array, rows: Ints, places: Ints) -> Array:
    """Return the embeddings of tokens at `places` of `rows`: [n, dim].

    Shapes: `embedded` [batch, longest, dim], `rows` and `places` [n].
    """
    batch, longest, dim = embedded.shape
    return take(embedded.reshape(batch * longest, dim), rows * longest + places)


def _at(states: Array, places: Ints) -> Array:
    """Return the states at the given positions, zeros at NOWHERE: [batch, any, dim]."""
    return where(take_from_each(states, np.maximum(places, 0)), (places != NOWHERE)[..., None])
