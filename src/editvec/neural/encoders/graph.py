"""`graph`: both trees in one graph, connected where they match, through a gated graph network (section 3.2 of the
paper). Two layers of five steps; each is pooled by a gated sum, and the two make the edit vector, as in the original
code."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from editvec.neural.batch import EDGE_TYPES, TAG_PAD, Batch
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.layers.dropout import Dropout
from editvec.neural.layers.graph import GatedSum, GraphNetwork, Wiring
from editvec.neural.reading import Read


class GraphEncoder(EditEncoder):
    """A node that is a token starts from the reader's state of it, another one from its kind; both know their tag."""

    needs_trees = True

    def __init__(
        self,
        *,
        num_kinds: int,
        token_dim: int,
        tag_dim: int,
        edit_dim: int,
        num_layers: int,
        num_steps: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.edit_dim = edit_dim
        self.kinds = nn.Embedding(num_kinds, token_dim)
        self.tags = nn.Embedding(TAG_PAD, tag_dim)
        self.start = nn.Linear(token_dim + tag_dim, token_dim)
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(
            GraphNetwork(dim=token_dim, num_edge_types=len(EDGE_TYPES), num_steps=num_steps) for _ in range(num_layers)
        )
        sizes = [edit_dim // num_layers] * (num_layers - 1)
        sizes.append(edit_dim - sum(sizes))
        self.pools = nn.ModuleList(GatedSum(dim=token_dim, out_dim=size) for size in sizes)

    @classmethod
    def from_config(cls, config: ModelConfig, num_known: int, num_kinds: int) -> GraphEncoder:
        """As a config has it."""
        return cls(
            num_kinds=num_kinds,
            token_dim=config.embed_dim,
            tag_dim=config.tag_dim,
            edit_dim=config.edit_dim,
            num_layers=config.graph_layers,
            num_steps=config.graph_steps,
            dropout=config.graph_dropout,
        )

    def forward(self, batch: Batch, before: Read | None, after: Read | None) -> Tensor:
        graph = batch.graph
        assert graph is not None and before is not None and after is not None
        nodes = self.kinds(graph.kinds)
        for side, read in (graph.before_tokens, before), (graph.after_tokens, after):
            nodes = nodes.index_put((side.nodes,), read.all[side.rows, side.places])
        first = self.start(torch.cat([nodes, self.tags(graph.tags)], -1)).tanh()
        states, pooled, wiring = first, [], Wiring.of(graph.edges, len(first), len(EDGE_TYPES))
        for layer, pool in zip(self.layers, self.pools, strict=True):
            states = layer(self.dropout(states), wiring)
            pooled.append(pool(first, states, graph.owners, len(batch)))
        return torch.cat(pooled, -1)
