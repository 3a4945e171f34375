"""`graph`: a gated graph network over both trees, which are connected where they match (section 3.2 of the paper).

It has two layers of five steps. The states of each layer are pooled by a gated sum; the two sums make up the edit
vector, as in the original code.
"""

from __future__ import annotations

from editvec.neural.arrays import Array, concat, dropout, replace, take, tanh
from editvec.neural.batch import EDGE_TYPES, TAG_PAD, Batch
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.layers.graph import GatedSum, GraphNetwork
from editvec.neural.layers.layer import Embedding, Linear
from editvec.neural.layers.packing import Wiring
from editvec.neural.reading import Read
from editvec.neural.vocab import VocabSizes


class GraphEncoder(EditEncoder):
    """The graph encoder.

    The initial state of a token is the reader's state; that of any other node is the embedding of its kind. Both are
    combined with the embedding of their tag.
    """

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
        self.edit_dim, self.dropout = edit_dim, dropout
        self.kinds = Embedding(num_kinds, token_dim)
        self.tags = Embedding(TAG_PAD, tag_dim)
        self.start = Linear(token_dim + tag_dim, token_dim)
        self.layers = [
            GraphNetwork(dim=token_dim, num_edge_types=len(EDGE_TYPES), num_steps=num_steps) for _ in range(num_layers)
        ]
        sizes = [edit_dim // num_layers] * (num_layers - 1)
        sizes.append(edit_dim - sum(sizes))
        self.pools = [GatedSum(dim=token_dim, out_dim=size) for size in sizes]

    @classmethod
    def from_config(cls, config: ModelConfig, sizes: VocabSizes, num_kinds: int) -> GraphEncoder:
        """Return the encoder of a config."""
        return cls(
            num_kinds=num_kinds,
            token_dim=config.embed_dim,
            tag_dim=config.tag_dim,
            edit_dim=config.edit_dim,
            num_layers=config.graph_layers,
            num_steps=config.graph_steps,
            dropout=config.graph_dropout,
        )

    def __call__(self, batch: Batch, before: Read | None, after: Read | None) -> Array:
        """Return the vectors of a batch: [batch, edit_dim]."""
        graph = batch.graph
        assert graph is not None and before is not None and after is not None
        nodes = self.kinds(graph.kinds)
        for side, read in (graph.before_tokens, before), (graph.after_tokens, after):
            _, longest, dim = read.all.shape
            nodes = replace(nodes, side.nodes, take(read.all.reshape(-1, dim), side.rows * longest + side.places))
        first = tanh(self.start(concat(nodes, self.tags(graph.tags))))
        states, pooled, wiring = first, [], Wiring.of(graph.edges, len(first), len(EDGE_TYPES))
        for layer, pool in zip(self.layers, self.pools, strict=True):
            states = layer(dropout(states, self.dropout), wiring)
            pooled.append(pool(first, states, graph.owners, len(batch)))
        return concat(*pooled)
