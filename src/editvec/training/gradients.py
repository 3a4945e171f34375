"""Gradients by hand: of the LSTM, of the rounds of a graph network, and of the softmax over a large vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from editvec.neural.arrays import Ints
from editvec.neural.layers.packing import Gather, Packing, Wiring
from editvec.training.products import add_by_rows, affine_by_rows, by_rows, over_rows, prepared

_of_sigmoid = torch.ops.aten.sigmoid_backward.grad_input


class TensorPacking(NamedTuple):
    """A packing as tensors, over the same memory."""

    order: Tensor
    sizes: list[int]
    ranks: Tensor
    places: Tensor
    previous: Tensor
    last: Tensor

    @classmethod
    def of(cls, packing: Packing) -> TensorPacking:
        """Return that of a packing."""
        order, sizes, *others = packing
        return cls(torch.from_numpy(order), sizes, *map(torch.from_numpy, others))


def _by_step(sizes: Sequence[int], *tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Return the rows of each step in tables [any, N, any], all tables side by side, the first step first."""
    return zip(*(table.split_with_sizes(list(sizes), 1) for table in tables), strict=True)


def _sums(gather: Gather, table: Tensor) -> Tensor:
    return embedding_bag(torch.from_numpy(gather.rows), table, torch.from_numpy(gather.starts), mode="sum")


class Chosen(torch.autograd.Function):
    """softmax(states · weightᵀ + bias)[choice] with its gradient by hand: the one large array is written in place,
    three times less traffic than torch's own chain of operations."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, choices: Tensor) -> Tensor:
        ready = prepared(states)
        scores = by_rows(ready, weight.t(), len(states)).add_(bias)
        if not len(states):
            ctx.save_for_backward(ready, weight, choices, scores, scores.sum(1), scores.sum(1))
            return scores.sum(1)
        exponents = scores.sub_(scores.amax(1, keepdim=True)).exp_()
        inverse = exponents.sum(1).reciprocal_()
        chosen = exponents.gather(1, choices[:, None]).squeeze(1).mul_(inverse)
        ctx.save_for_backward(ready, weight, choices, exponents, inverse, chosen)
        return chosen

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        ready, weight, choices, exponents, inverse, chosen = ctx.saved_tensors
        # d chosen / d score = chosen · (1[choice] − softmax); the exponents become that in place, so once only.
        slope = gradients[0] * chosen
        scores = exponents.mul_(-(slope * inverse)[:, None])
        scores.scatter_add_(1, choices[:, None], slope[:, None])
        of_scores = prepared(scores, ready.dtype)
        return by_rows(of_scores, weight, len(scores)), over_rows(of_scores, ready), scores.sum(0), None


class Recurrence(torch.autograd.Function):
    """The LSTM and its gradient. D directions, B sequences, T steps at most, N in all, I inputs, H units, G = 4 H
    gates. What a step leaves behind is in tables of B + N rows: the beginnings, then the packed steps."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,  # [B, T, I]
        weight: Tensor,  # [D, I, G]
        recurrent: Tensor,  # [D, H, G]
        bias: Tensor,  # [D, G]
        hidden: Tensor,  # [D, B, H]
        cell: Tensor,  # [D, B, H]
        always: Tensor | None,  # [D, B, G]
        back: Tensor | None,  # [D, H, G]
        looked: Ints | None,  # [N], rows of the tables
        packed_as: Packing,
    ) -> tuple[Tensor, Tensor]:
        size, units = len(weight), hidden.shape[-1]
        batch, longest, _ = inputs.shape
        packing = TensorPacking.of(packed_as)
        looked_back = None if looked is None else torch.from_numpy(looked)
        order, places = packing.order, packing.places[:size]
        found = inputs.reshape(batch * longest, -1).index_select(0, places.reshape(-1))
        packed = prepared(found.view(*places.shape, -1))  # [D, at least N, I]
        gates = by_rows(packed, weight, places.shape[1]).add_(bias[:, None])
        if always is not None:
            gates += always.index_select(1, order[packing.ranks])
        hiddens, cells = (inputs.new_empty(size, batch + places.shape[1], units) for _ in range(2))
        hiddens[:, :batch], cells[:, :batch] = hidden[:, order], cell[:, order]
        squashed = inputs.new_empty(size, places.shape[1], units)
        was, held = hiddens[:, :batch], cells[:, :batch]
        steps = _by_step(
            packing.sizes,
            gates,
            gates[..., : 3 * units],
            *gates.chunk(4, -1),
            cells[:, batch:],
            squashed,
            hiddens[:, batch:],
        )
        back_at = None if looked_back is None else iter(looked_back.split_with_sizes(packing.sizes))
        for gate, soft, out, keep_in, forget, new, state, squeezed, now in steps:
            num = gate.shape[1]
            gate.baddbmm_(was[:, :num], recurrent)
            if back is not None and back_at is not None:
                gate.baddbmm_(hiddens.index_select(1, next(back_at)), back)
            soft.sigmoid_()
            new.tanh_()
            torch.mul(forget, held[:, :num], out=state)
            state.addcmul_(keep_in, new)
            torch.tanh(state, out=squeezed)
            torch.mul(out, squeezed, out=now)
            was, held = now, state
        ctx.save_for_backward(packed, weight, recurrent, gates, hiddens, cells, squashed, back, looked_back)
        ctx.packing, ctx.shape, ctx.has_always = packing, inputs.shape, always is not None
        states = inputs.new_zeros(batch * longest, size * units)
        for number, place in enumerate(places):
            states[place, number * units : (number + 1) * units] = hiddens[number, batch:]
        final = hiddens[:, batch + packing.last].transpose(0, 1).reshape(batch, -1)
        return states.view(batch, longest, -1), final

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        packed, weight, recurrent, gates, hiddens, cells, squashed, back, looked = ctx.saved_tensors
        packing: TensorPacking = ctx.packing
        size, total, units = squashed.shape
        batch, longest, _ = ctx.shape
        order, places = packing.order, packing.places[:size]
        # What is said about each hidden state: from above, then, step by step, by those that read it.
        said = torch.zeros_like(hiddens)
        above = gradients[0].reshape(batch * longest, -1)
        for number, place in enumerate(places):
            torch.index_select(above[:, number * units : (number + 1) * units], 0, place, out=said[number, batch:])
        said[:, batch + packing.last] += gradients[1].view(batch, size, units).transpose(0, 1)
        # What a gate's gradient is multiplied with does not depend on the gradient: all steps at once.
        out, keep_in, forget, new = gates.chunk(4, -1)
        to_cell = torch.addcmul(out, out * squashed, squashed, value=-1)
        flat = torch.empty_like(gates)
        soft, by_out, by_in, by_forget, by_new = flat[..., : 3 * units], *flat.chunk(4, -1)
        torch.addcmul(gates[..., : 3 * units], gates[..., : 3 * units], gates[..., : 3 * units], value=-1, out=soft)
        by_out.mul_(squashed)
        by_in.mul_(new)
        by_forget.mul_(cells.index_select(1, packing.previous))
        torch.addcmul(keep_in, keep_in * new, new, value=-1, out=by_new)
        slopes = flat.view(size, total, 4, units)
        # Read row by row in every step, so worth a copy.
        transposed = recurrent.transpose(1, 2).contiguous()
        of_cells = cells.new_zeros(size, batch, units)
        steps = list(_by_step(packing.sizes, flat, slopes[:, :, 0], slopes[:, :, 1:], to_cell, forget, said[:, batch:]))
        back_at = None if looked is None else looked.split_with_sizes(packing.sizes)
        for step in range(len(steps) - 1, -1, -1):
            gate, of_out, of_others, squeeze, keep, of_hidden = steps[step]
            num = gate.shape[1]
            of_cell = of_cells[:, :num]
            of_cell.addcmul_(of_hidden, squeeze)
            of_out.mul_(of_hidden)
            of_others.mul_(of_cell[:, :, None])
            of_cell.mul_(keep)
            if back is not None and back_at is not None:
                said.index_add_(1, back_at[step], torch.bmm(gate, back.transpose(1, 2)))
            before = steps[step - 1][-1] if step else said[:, :batch]
            before[:, :num].baddbmm_(gate, transposed)
        of_always = None
        if ctx.has_always:
            of_always = flat.new_zeros(size, batch, 4 * units).index_add_(1, packing.ranks, flat)
        of_gates = prepared(flat, packed.dtype)
        of_packed = by_rows(of_gates, weight.transpose(1, 2), total)
        of_inputs = cells.new_zeros(batch * longest, packed.shape[-1])
        of_inputs.index_copy_(0, places[0], of_packed[0])
        for number in range(1, size):
            of_inputs.index_add_(0, places[number], of_packed[number])
        back_to_order = torch.empty_like(order).scatter_(0, order, torch.arange(batch))
        return (
            of_inputs.view(ctx.shape),
            over_rows(packed, of_gates),
            over_rows(prepared(hiddens.index_select(1, packing.previous), packed.dtype), of_gates),
            flat.sum(1),
            said[:, :batch][:, back_to_order],
            of_cells[:, back_to_order],
            None if of_always is None else of_always[:, back_to_order],
            None
            if back is None or looked is None
            else over_rows(prepared(hiddens.index_select(1, looked), packed.dtype), of_gates),
            None,
            None,
        )


class Rounds(torch.autograd.Function):
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
        counts = torch.from_numpy(wiring.counts).to(message.dtype)
        always = counts @ message_bias
        gate_bias = input_bias[:both] + recurrent_bias[:both]
        from_heard, from_state = inputs.t(), recurrent.t()
        for now in range(num_rounds):
            state = hidden[now % (kept + 1)]
            hear, gate, keep, new = (table[now % kept] for table in (heard, gates, keeps, news))
            summed[now % kept :] = [_sums(wiring.reads, state)]
            for out, source, weight in _by_type(wiring, message, said, summed[-1]):
                torch.mm(source, weight.t(), out=out)
            torch.add(_sums(wiring.told, said), always, out=hear)
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
            of_said = _sums(wiring.tells, of_heard)
            for out, source, weight in _by_type(wiring, message, back, of_said):
                torch.mm(source, weight, out=out)
            for out, source, weight in _by_type(wiring, of_message, of_said, summed[now]):
                weight.addmm_(out.t(), source)
            of_state = _sums(wiring.read, back).addcmul_(of_state, update)
            add_by_rows(of_state, ready[:, dim:], recurrent, nodes)
        of_gates = of_gates.view(-1, 4 * dim)
        ready = prepared(of_gates, ctx.precision)
        of_bias = of_gates.sum(0)
        return (
            of_state,
            of_message,
            torch.from_numpy(wiring.counts).to(message.dtype).t() @ of_heard_all,
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
