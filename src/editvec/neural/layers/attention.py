"""Where to look: scores of queries against keys, normalised over what is there."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Attention(nn.Module):
    """Bilinear attention: softmax over keys of query · W · key. Also the pointer of a copy mechanism, which is nothing
    but attention weights taken as probabilities."""

    def __init__(self, *, query_dim: int, key_dim: int) -> None:
        super().__init__()
        self.project = nn.Linear(query_dim, key_dim, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        """`queries` [batch, n, query_dim], `keys` [batch, m, key_dim], `mask` [batch, m] → weights [batch, n, m]. Where
        the mask is nowhere True they are all alike."""
        return self.weigh(self.project(queries), keys, mask)

    def weigh(self, projected: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        """The same for queries that were projected already: [batch, n, key_dim]."""
        scores = torch.bmm(projected, keys.transpose(1, 2))
        return scores.masked_fill(~mask[:, None, :], torch.finfo(scores.dtype).min).softmax(-1)
