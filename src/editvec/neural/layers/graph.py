"""A gated graph network over sparse edges (Li et al., 2016): graphs of any size side by side, nothing padded."""

from __future__ import annotations

from editvec.neural.arrays import Array, Ints, concat, graph_rounds, scatter_add, sigmoid, tanh
from editvec.neural.layers.layer import Layer, Linear, Weight, uniform
from editvec.neural.layers.packing import Wiring


class GatedUnit(Layer):
    """The weights of a GRU, in torch's order of gates: reset, update, new."""

    def __init__(self, dim: int) -> None:
        start = uniform(dim**-0.5)
        self.weight_ih, self.weight_hh = Weight((3 * dim, dim), start), Weight((3 * dim, dim), start)
        self.bias_ih, self.bias_hh = Weight((3 * dim,), start), Weight((3 * dim,), start)


class GraphNetwork(Layer):
    """Rounds of messages between the nodes of graphs, the same weights in each.

    In each of `num_steps` rounds a node gets the sum of its neighbours' messages, by type of edge, and updates its
    state with a GRU.
    """

    def __init__(self, *, dim: int, num_edge_types: int, num_steps: int) -> None:
        self.num_edge_types, self.num_steps = num_edge_types, num_steps
        self.message = Linear(dim, num_edge_types * dim)
        self.update = GatedUnit(dim)

    def __call__(self, states: Array, wiring: Wiring) -> Array:
        """Return the states of the nodes after all rounds: `states` [nodes, dim] → [nodes, dim]."""
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
    """The nodes of each graph as one vector.

    The share of each node is weighted by a gate that sees what it was and became (Gilmer et al., 2017).
    """

    def __init__(self, *, dim: int, out_dim: int) -> None:
        self.gate = Linear(2 * dim, 1)
        self.share = Linear(dim, out_dim)

    def __call__(self, first: Array, last: Array, owners: Ints, num_graphs: int) -> Array:
        """Return the vectors of graphs: [graphs, out_dim].

        `first` and `last` [nodes, dim], the graph of each node `owners` [nodes].
        """
        shares = sigmoid(self.gate(concat(first, last))) * tanh(self.share(last))
        return scatter_add(shares, owners, num_graphs)
