"""Where to look: scores of queries against keys, normalised over what is there."""

from __future__ import annotations

from editvec.neural.arrays import Array, Mask, softmax
from editvec.neural.layers.layer import Layer, Linear


class Attention(Layer):
    """Bilinear attention: softmax over keys of query · W · key.

    Also the pointer of a copy mechanism, which is nothing but attention weights taken as probabilities.
    """

    def __init__(self, *, query_dim: int, key_dim: int) -> None:
        self.project = Linear(query_dim, key_dim, bias=False)

    def __call__(self, queries: Array, keys: Array, mask: Mask) -> Array:
        """Return weights [batch, n, m] of queries for keys, where the mask is True.

        `queries` [batch, n, query_dim], `keys` [batch, m, key_dim], `mask` [batch, m]. Where it is nowhere True the
        weights are all alike.
        """
        return self.weigh(self.project(queries), keys, mask)

    def weigh(self, projected: Array, keys: Array, mask: Mask) -> Array:
        """Return the same for queries that were projected already: [batch, n, key_dim]."""
        return softmax(projected @ keys.mT, mask[:, None, :])
