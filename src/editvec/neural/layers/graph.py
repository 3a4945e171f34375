"""A gated graph network over sparse edges (Li et al., 2016): graphs of any size side by side, nothing padded.

Written out with its gradient, like the LSTM: edges that leave one node, or reach one, share a message, and the
gradients of the gates' weights are taken over all rounds at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from editvec.neural.layers.products import add_by_rows, affine_by_rows, by_rows, over_rows, prepared

_of_sigmoid = torch.ops.aten.sigmoid_backward.grad_input


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
    """Edges as a network reads them. Edges of a type meet in relays, which sum states, turn the sum into a message and
    pass it on: one for each node that they leave, or for each that they reach, whichever are fewer."""

    sizes: list[int]  # the number of relays of each type; those of a type are together
    reads: Gather  # for each relay the nodes that it sums
    read: Gather  # for each node the relays that sum it
    tells: Gather  # for each relay the nodes that it passes its message to
    told: Gather  # for each node the relays that it hears
    counts: Tensor  # [nodes, types], how many edges of each type reach a node

    @classmethod
    def of(cls, edges: Edges, num_nodes: int, num_types: int) -> Wiring:
        """Of edges between `num_nodes` nodes."""
        size = num_nodes * num_types
        leave, reach = edges.types * num_nodes + edges.sources, edges.types * num_nodes + edges.targets
        left, reached = torch.bincount(leave, minlength=size), torch.bincount(reach, minlength=size)
        fewer = (left.view(num_types, -1) > 0).sum(1) <= (reached.view(num_types, -1) > 0).sum(1)
        keys, which = torch.unique(leave.where(fewer[edges.types], reach), return_inverse=True)
        nodes, types = keys % max(1, num_nodes), keys // max(1, num_nodes)
        relays = torch.arange(len(keys))
        # A relay where edges leave has one node to read, and one where they arrive has one to tell.
        by_source, at_source = fewer[types], fewer[edges.types]
        reads = _joined(relays[by_source], nodes[by_source], which[~at_source], edges.sources[~at_source])
        tells = _joined(relays[~by_source], nodes[~by_source], which[at_source], edges.targets[at_source])
        return cls(
            torch.bincount(types, minlength=num_types).tolist(),
            _gather(reads[1], reads[0], len(keys)),
            _gather(reads[0], reads[1], num_nodes),
            _gather(tells[1], tells[0], len(keys)),
            _gather(tells[0], tells[1], num_nodes),
            reached.view(num_types, num_nodes).t().float(),
        )


def _joined(one: Tensor, other: Tensor, more: Tensor, others: Tensor) -> tuple[Tensor, Tensor]:
    return torch.cat([one, more]), torch.cat([other, others])


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
    """The rounds and their gradient. N nodes, M relays, T types, D numbers a node, R rounds. The gates are torch's:
    reset, update, new. Whatever is squashed is a table of its own: torch's tanh of a part of one takes ten times as
    long."""

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
        summed: list[Tensor] = []
        heard, keeps, news = (states.new_empty(kept, nodes, dim) for _ in range(3))
        gates = states.new_empty(kept, nodes, both)
        hidden[0] = states
        said = states.new_empty(sum(wiring.sizes), dim)
        always = wiring.counts @ message_bias
        gate_bias = input_bias[:both] + recurrent_bias[:both]
        from_heard, from_state = inputs.t(), recurrent.t()
        for now in range(num_rounds):
            state = hidden[now % (kept + 1)]
            hear, gate, keep, new = (table[now % kept] for table in (heard, gates, keeps, news))
            summed[now % kept :] = [wiring.reads.of(state)]
            for out, source, weight in _by_type(wiring, message, said, summed[-1]):
                torch.mm(source, weight.t(), out=out)
            torch.add(wiring.told.of(said), always, out=hear)
            ready, ready_heard = prepared(state), prepared(hear)
            affine_by_rows(gate_bias, ready, from_state[:, :both], nodes, out=gate)
            add_by_rows(gate, ready_heard, from_heard[:, :both], nodes)
            affine_by_rows(recurrent_bias[both:], ready, from_state[:, both:], nodes, out=keep)
            affine_by_rows(input_bias[both:], ready_heard, from_heard[:, both:], nodes, out=new)
            reset, update = gate.sigmoid_().chunk(2, 1)
            new.addcmul_(reset, keep).tanh_()
            torch.lerp(new, state, update, out=hidden[(now + 1) % (kept + 1)])
        ctx.save_for_backward(message, inputs, recurrent, hidden, heard, keeps, gates, news, *summed)
        ctx.wiring, ctx.precision = wiring, ready.dtype
        return hidden[num_rounds % (kept + 1)]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        message, inputs, recurrent, hidden, heard, keeps, gates, news, *summed = ctx.saved_tensors
        wiring: Wiring = ctx.wiring
        rounds, nodes, dim = heard.shape
        # Of new, reset, update and what is kept: the first three read what was heard, the last three the states.
        of_gates = heard.new_empty(rounds, nodes, 4 * dim)
        heard_by = inputs.roll(dim, 0)
        of_message, of_heard_all = torch.zeros_like(message), torch.zeros_like(heard[0])
        back = torch.empty_like(summed[0])
        rest, spare = torch.empty_like(heard[0]), torch.empty_like(heard[0])
        of_state = gradients[0]
        for now in range(rounds - 1, -1, -1):
            of_new, of_reset, of_update, of_keep = of_gates[now].chunk(4, 1)
            reset, update = gates[now].chunk(2, 1)
            new = news[now]
            torch.addcmul(of_state, of_state, update, value=-1, out=rest)
            torch.addcmul(rest, torch.mul(rest, new, out=spare), new, value=-1, out=of_new)
            _of_sigmoid(torch.mul(of_new, keeps[now], out=spare), reset, grad_input=of_reset)
            _of_sigmoid(torch.sub(hidden[now], new, out=spare).mul_(of_state), update, grad_input=of_update)
            torch.mul(of_new, reset, out=of_keep)
            ready = prepared(of_gates[now], ctx.precision)
            of_heard = by_rows(ready[:, : 3 * dim], heard_by, nodes)
            of_heard_all += of_heard
            of_said = wiring.tells.of(of_heard)
            for out, source, weight in _by_type(wiring, message, back, of_said):
                torch.mm(source, weight, out=out)
            for out, source, weight in _by_type(wiring, of_message, of_said, summed[now]):
                weight.addmm_(out.t(), source)
            of_state = wiring.read.of(back).addcmul_(of_state, update)
            add_by_rows(of_state, ready[:, dim:], recurrent, nodes)
        of_gates = of_gates.view(-1, 4 * dim)
        ready = prepared(of_gates, ctx.precision)
        of_bias = of_gates.sum(0)
        return (
            of_state,
            of_message,
            wiring.counts.t() @ of_heard_all,
            over_rows(ready[:, : 3 * dim], prepared(heard.view(-1, dim), ctx.precision)).roll(-dim, 0),
            over_rows(ready[:, dim:], prepared(hidden[:-1].reshape(-1, dim), ctx.precision)),
            of_bias[: 3 * dim].roll(-dim, 0),
            of_bias[dim:],
            None,
            None,
        )


def _by_type(wiring: Wiring, weights: Tensor, out: Tensor, source: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
    """For each type that has relays their rows of `out` and of `source`, and its weight."""
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
