"""A gated graph network over sparse edges (Li et al., 2016).

The nodes of graphs of any size are concatenated; nothing is padded.
"""

from __future__ import annotations

from editvec.neural.arrays import Array, Ints, concat, graph_rounds, scatter_add, sigmoid, tanh
from editvec.neural.layers.layer import Layer, Linear, Weight, uniform
from editvec.neural.layers.packing import Wiring


class GatedUnit(Layer):
    """The weights of a GRU, with the gates in torch's order: reset, update, new."""

    def __init__(self, dim: int) -> None:
        start = uniform(dim**-0.5)
        self.weight_ih, self.weight_hh = Weight((3 * dim, dim), start), Weight((3 * dim, dim), start)
        self.bias_ih, self.bias_hh = Weight((3 * dim,), start), Weight((3 * dim,), start)


class GraphNetwork(Layer):
    """A gated graph network of `num_steps` rounds that share their weights.

    In each round, a node receives the sum of its neighbours' messages and updates its state with a GRU. Messages depend
    on the type of the edge.
    """

    def __init__(self, *, dim: int, num_edge_types: int, num_steps: int) -> None:
        self.num_edge_types, self.num_steps = num_edge_types, num_steps
        self.message = Linear(dim, num_edge_types * dim)
        self.update = GatedUnit(dim)

    def __call__(self, states: Array, wiring: Wiring) -> Array:
        """Return the states of the nodes after all rounds; `states` and the result have [nodes, dim]."""
        dim = states.shape[1]
        update = self.update
        assert self.message.bias is not None
        return graph_rounds(
            states,
            self.message.weight.value.reshape(-1, dim, dim),
            self.message.bias.value.reshape(-1, dim),
            update.weight_ih.value,
            update.weight_hh.value,
            update.bias_ih.value,
            update.bias_hh.value,
            wiring,
            self.num_steps,
        )


class GatedSum(Layer):
    """A layer that pools the nodes of each graph into one vector.

    Each node contributes a vector, weighted by a gate that reads the first and the last state of the node (Gilmer et
    al., 2017).
    """

    def __init__(self, *, dim: int, out_dim: int) -> None:
        self.gate = Linear(2 * dim, 1)
        self.share = Linear(dim, out_dim)

    def __call__(self, first: Array, last: Array, owners: Ints, num_graphs: int) -> Array:
        """Return one vector per graph: [graphs, out_dim].

        Shapes: `first` and `last` [nodes, dim], the node states before and after the graph network; `owners` [nodes],
        the graph of each node.
        """
        shares = sigmoid(self.gate(concat(first, last))) * tanh(self.share(last))
        return scatter_add(shares, owners, num_graphs)
