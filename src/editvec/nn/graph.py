"""A gated graph network over sparse edges (Li et al., 2016): graphs of any size side by side, nothing padded.

Written out with its gradient, like the LSTM: a message is computed once for a node and a type of edge that leaves it,
not for every type, and the gradients of the weights are taken over all rounds at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from editvec.nn.products import affine_by_rows, by_rows, over_rows, prepared


class Edges(NamedTuple):
    """Edges of several types between numbered nodes."""

    sources: Tensor  # [edges]
    targets: Tensor  # [edges]
    types: Tensor  # [edges]


class Gather(NamedTuple):
    """Sums of rows of a table: for line i those in `rows[starts[i]:starts[i + 1]]`."""

    rows: Tensor
    starts: Tensor  # [lines]

    def of(self, table: Tensor) -> Tensor:
        """[table, dim] → [lines, dim]."""
        return embedding_bag(self.rows, table, self.starts, mode="sum")


class Wiring(NamedTuple):
    """Edges as a network reads them. A sender is a node together with a type of edge that leaves it."""

    senders: Tensor  # [senders], the node of each, those of a type together
    sizes: list[int]  # the number of senders of each type
    arrive: Gather  # for each node the senders that reach it
    leave: Gather  # for each sender the nodes that it reaches
    sent: Gather  # for each node its senders
    counts: Tensor  # [nodes, types], how many edges of each type reach a node

    @classmethod
    def of(cls, edges: Edges, num_nodes: int, num_types: int) -> Wiring:
        """Of edges between `num_nodes` nodes."""
        keys, which = torch.unique(edges.types * num_nodes + edges.sources, return_inverse=True)
        senders = keys % max(1, num_nodes)
        reached = torch.bincount(edges.targets * num_types + edges.types, minlength=num_nodes * num_types)
        return cls(
            senders,
            torch.bincount(keys // max(1, num_nodes), minlength=num_types).tolist(),
            _gather(which, edges.targets, num_nodes),
            _gather(edges.targets, which, len(senders)),
            _gather(torch.arange(len(senders)), senders, num_nodes),
            reached.view(num_nodes, num_types).float(),
        )


def _gather(rows: Tensor, lines: Tensor, num_lines: int) -> Gather:
    counts = torch.bincount(lines, minlength=num_lines)
    return Gather(rows[lines.argsort(stable=True)], counts.cumsum(0) - counts)


class GraphNetwork(nn.Module):
    """`num_steps` rounds, the same weights in each: a node gets the sum of its neighbours' messages, by type of edge,
    and updates its state with a GRU."""

    def __init__(self, *, dim: int, num_edge_types: int, num_steps: int) -> None:
        super().__init__()
        self.num_edge_types, self.num_steps = num_edge_types, num_steps
        self.message = nn.Linear(dim, num_edge_types * dim)
        self.update = nn.GRUCell(dim, dim)

    def forward(self, states: Tensor, wiring: Wiring) -> Tensor:
        """`states` [nodes, dim] → [nodes, dim]."""
        dim = states.shape[1]
        update = self.update
        after: Tensor = _Rounds.apply(  # type: ignore[no-untyped-call]
            states,
            self.message.weight.view(-1, dim, dim),
            self.message.bias.view(-1, dim),
            update.weight_ih,
            update.weight_hh,
            update.bias_ih,
            update.bias_hh,
            wiring,
            self.num_steps,
        )
        return after


class _Rounds(torch.autograd.Function):
    """The rounds and their gradient. N nodes, S senders, T types, D numbers a node, R rounds. The gates are torch's:
    reset, update, new."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,  # [N, D]
        message: Tensor,  # [T, D, D]
        message_bias: Tensor,  # [T, D]
        inputs: Tensor,  # [3 D, D]
        recurrent: Tensor,  # [3 D, D]
        input_bias: Tensor,  # [3 D]
        recurrent_bias: Tensor,  # [3 D]
        wiring: Wiring,
        num_rounds: int,
    ) -> Tensor:
        nodes, dim = states.shape
        both = 2 * dim
        # Without a gradient to come, every round is written over the one before.
        kept = num_rounds if any(ctx.needs_input_grad) else 1
        hidden = states.new_empty(kept + 1, nodes, dim)
        heard, keeps = (states.new_empty(kept, nodes, dim) for _ in range(2))
        gates = states.new_empty(kept, nodes, 3 * dim)
        hidden[0] = states
        said = states.new_empty(len(wiring.senders), dim)
        of_state = states.new_empty(nodes, 3 * dim)
        always = wiring.counts @ message_bias
        for now in range(num_rounds):
            state, hear, gate, keep = hidden[now % (kept + 1)], heard[now % kept], gates[now % kept], keeps[now % kept]
            for out, source, weight in _by_type(wiring, message, said, state.index_select(0, wiring.senders)):
                torch.mm(source, weight.t(), out=out)
            torch.add(wiring.arrive.of(said), always, out=hear)
            ready = prepared(state)
            affine_by_rows(recurrent_bias, ready, recurrent.t(), nodes, out=of_state)
            affine_by_rows(input_bias, prepared(hear), inputs.t(), nodes, out=gate)
            gate[:, :both].add_(of_state[:, :both]).sigmoid_()
            keep.copy_(of_state[:, both:])
            reset, update, new = gate.chunk(3, 1)
            new.addcmul_(reset, keep).tanh_()
            torch.lerp(new, state, update, out=hidden[(now + 1) % (kept + 1)])
        ctx.save_for_backward(message, inputs, recurrent, hidden, heard, keeps, gates)
        ctx.wiring, ctx.precision = wiring, ready.dtype
        return hidden[num_rounds % (kept + 1)]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        message, inputs, recurrent, hidden, heard, keeps, gates = ctx.saved_tensors
        wiring: Wiring = ctx.wiring
        rounds, nodes, dim = heard.shape
        reset, update, new = gates.chunk(3, 2)
        # What a gradient is multiplied with does not depend on it: all rounds at once.
        rest = 1 - update
        to_new = torch.addcmul(rest, rest * new, new, value=-1)
        to_update = torch.addcmul(update, update, update, value=-1).mul_(hidden[:-1] - new)
        to_reset = torch.addcmul(reset, reset, reset, value=-1).mul_(keeps)
        # Of new, reset, update and what is kept: the first three read what was heard, the last three the states.
        of_gates = heard.new_empty(rounds, nodes, 4 * dim)
        heard_by = inputs.roll(dim, 0)
        of_heard = torch.empty_like(heard)
        of_said = heard.new_empty(rounds, len(wiring.senders), dim)
        back = heard.new_empty(len(wiring.senders), dim)
        of_state = gradients[0]
        for now in range(rounds - 1, -1, -1):
            of_new, of_reset, of_update, of_keep = of_gates[now].chunk(4, 1)
            torch.mul(of_state, to_new[now], out=of_new)
            torch.mul(of_state, to_update[now], out=of_update)
            torch.mul(of_new, to_reset[now], out=of_reset)
            torch.mul(of_new, reset[now], out=of_keep)
            ready = prepared(of_gates[now], ctx.precision)
            of_heard[now] = by_rows(ready[:, : 3 * dim], heard_by, nodes)
            of_said[now] = wiring.leave.of(of_heard[now])
            for out, source, weight in _by_type(wiring, message, back, of_said[now]):
                torch.mm(source, weight, out=out)
            of_state = wiring.sent.of(back).addcmul_(of_state, update[now])
            of_state += by_rows(ready[:, dim:], recurrent, nodes)
        of_message = torch.zeros_like(message)
        start = 0
        for kind, size in enumerate(wiring.sizes):
            if size:
                spoke = hidden[:-1].index_select(1, wiring.senders[start : start + size]).view(-1, dim)
                of_message[kind] = of_said[:, start : start + size].reshape(-1, dim).t() @ spoke
            start += size
        of_gates = of_gates.view(-1, 4 * dim)
        ready = prepared(of_gates, ctx.precision)
        of_bias = of_gates.sum(0)
        return (
            of_state,
            of_message,
            wiring.counts.t() @ of_heard.sum(0),
            over_rows(ready[:, : 3 * dim], prepared(heard.view(-1, dim), ctx.precision)).roll(-dim, 0),
            over_rows(ready[:, dim:], prepared(hidden[:-1].reshape(-1, dim), ctx.precision)),
            of_bias[: 3 * dim].roll(-dim, 0),
            of_bias[dim:],
            None,
            None,
        )


def _by_type(wiring: Wiring, weights: Tensor, out: Tensor, source: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
    """For each type that has senders their rows of `out` and of `source`, and its weight."""
    parts = zip(torch.split(out, wiring.sizes), torch.split(source, wiring.sizes), weights, strict=True)
    return [part for part in parts if len(part[0])]


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
