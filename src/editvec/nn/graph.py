"""A gated graph network over sparse edges (Li et al., 2016): graphs of any size side by side, nothing padded."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Edges(NamedTuple):
    """Edges of several types between numbered nodes."""

    sources: Tensor  # [edges]
    targets: Tensor  # [edges]
    types: Tensor  # [edges]


class GraphNetwork(nn.Module):
    """`num_steps` rounds, the same weights in each: a node gets the sum of its neighbours' messages, by type of edge,
    and updates its state with a GRU."""

    def __init__(self, *, dim: int, num_edge_types: int, num_steps: int) -> None:
        super().__init__()
        self.num_edge_types, self.num_steps = num_edge_types, num_steps
        self.message = nn.Linear(dim, num_edge_types * dim)
        self.update = nn.GRUCell(dim, dim)

    def forward(self, states: Tensor, edges: Edges) -> Tensor:
        """`states` [nodes, dim] → [nodes, dim]."""
        which = edges.sources * self.num_edge_types + edges.types
        for _ in range(self.num_steps):
            messages = self.message(states).view(-1, states.shape[1])[which]
            states = self.update(torch.zeros_like(states).index_add(0, edges.targets, messages), states)
        return states


class GatedSum(nn.Module):
    """The nodes of each graph as one vector: each node's share, weighted by a gate that sees what it was and became
    (Gilmer et al., 2017)."""

    def __init__(self, *, dim: int, out_dim: int) -> None:
        super().__init__()
        self.gate = nn.Linear(2 * dim, 1)
        self.share = nn.Linear(dim, out_dim)

    def forward(self, first: Tensor, last: Tensor, owners: Tensor, num_graphs: int) -> Tensor:
        """`first` and `last` [nodes, dim], the graph of each node `owners` [nodes] → [graphs, out_dim]."""
        shares: Tensor = self.gate(torch.cat([first, last], -1)).sigmoid() * self.share(last).tanh()
        return shares.new_zeros(num_graphs, shares.shape[1]).index_add(0, owners, shares)
