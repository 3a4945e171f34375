"""Attention: scores of queries against keys, normalised over the valid keys."""

from __future__ import annotations

from editvec.neural.arrays import Array, Mask, softmax
from editvec.neural.layers.layer import Layer, Linear


class Attention(Layer):
    """Bilinear attention: the softmax over keys of query · W · key.

    It is also the pointer of a copy mechanism, which uses attention weights as probabilities.
    """

    def __init__(self, *, query_dim: int, key_dim: int) -> None:
        self.project = Linear(query_dim, key_dim, bias=False)

    def __call__(self, queries: Array, keys: Array, mask: Mask) -> Array:
        """Return the attention weights: [batch, n, m].

        Shapes: `queries` [batch, n, query_dim], `keys` [batch, m, key_dim], `mask` [batch, m], True for valid keys. In
        a row whose mask is False everywhere, all weights are equal.
        """
        return self.weigh(self.project(queries), keys, mask)

    def weigh(self, projected: Array, keys: Array, mask: Mask) -> Array:
        """Return the attention weights for queries that are already projected: [batch, n, m].

        Shapes: `projected` [batch, n, key_dim], `keys` [batch, m, key_dim], `mask` [batch, m].
        """
        return softmax(projected @ keys.mT, mask[:, None, :])
