"""Recurrent layers over sequences of different lengths: only what is there is computed.

torch has two LSTMs for a CPU: its own, and oneDNN's, which is faster but prepares and keeps a program for every shape
that it meets, and a corpus of edits has hundreds of them (gigabytes). So this one is written out here, with its
gradient: it holds on to nothing, runs both directions in one loop, and takes what is the same in every step as such.
Sequences are packed: sorted by length, so that those that still run at a step are the first ones. Of the changed tokens
of a batch of edits, three quarters would be padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from editvec.neural.layers.products import by_rows, over_rows, prepared


class States(NamedTuple):
    """What a recurrent layer made of padded sequences."""

    all: Tensor  # [batch, longest, dim], the directions side by side; zeros on padding
    final: Tensor  # [batch, dim], the last state of each direction


class Packing(NamedTuple):
    """Where the steps of padded sequences stand when the first steps of all of them come first, then the second ones …,
    each time the longest sequence first. B sequences, T steps of the longest, N steps in all."""

    order: Tensor  # [B], the sequences, the longest first
    sizes: list[int]  # [T], how many of them have such a step
    ranks: Tensor  # [N], whose step it is: where its sequence stands in that order
    places: Tensor  # [2, N], where a packed step stands in the padded table, read forwards and backwards
    previous: Tensor  # [N], where the step before stands among the B beginnings and then the packed steps
    last: Tensor  # [B], the packed place of each sequence's last step

    @classmethod
    def of(cls, lengths: Tensor, longest: int) -> Packing:
        """Of sequences of `lengths` [B], at least 1 each, in a table of `longest` columns."""
        size = len(lengths)
        order = lengths.argsort(descending=True, stable=True)
        sizes = size - torch.bincount(lengths).cumsum(0)[:-1]
        starts = sizes.cumsum(0) - sizes
        steps = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        ranks = torch.arange(len(steps)) - starts[steps]
        rows = order[ranks]
        ahead = rows * longest + steps
        last = torch.empty_like(order).scatter_(0, order, starts[lengths[order] - 1] + torch.arange(size))
        return cls(
            order,
            sizes.tolist(),
            ranks,
            torch.stack([ahead, ahead + lengths[rows] - 1 - 2 * steps]),
            torch.where(steps > 0, size + starts[(steps - 1).clamp(min=0)] + ranks, ranks),
            last,
        )

    def look_back(self, back_to: Tensor) -> Tensor:
        """Among the beginnings and the packed steps, the one that each packed step looks back to: [B, T], by its number
        from 1 or 0 for the beginning → [N]."""
        sizes = torch.tensor(self.sizes)
        begin = len(self.order) + sizes.cumsum(0) - sizes
        numbers = back_to.reshape(-1)[self.places[0]]
        return torch.where(numbers > 0, begin[(numbers - 1).clamp(min=0)], 0) + self.ranks

    def by_step(self, *tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """The rows of each step in tables [any, N, any], all tables side by side, the first step first."""
        return zip(*(table.split_with_sizes(self.sizes, 1) for table in tables), strict=True)


class LSTM(nn.Module):
    """`num_directions` LSTMs side by side; the second one reads each sequence backwards. The gates are, in this order:
    out, in, forget, new. With `looks_back`, a step also reads the hidden state of an earlier one (the parent, where
    steps build a tree)."""

    def __init__(self, *, input_dim: int, dim: int, num_directions: int = 1, looks_back: bool = False) -> None:
        super().__init__()
        self.dim = dim
        bound = dim**-0.5

        def weight(*size: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(num_directions, *size).uniform_(-bound, bound))

        self.inputs, self.recurrent, self.bias = weight(input_dim, 4 * dim), weight(dim, 4 * dim), weight(4 * dim)
        self.back = weight(dim, 4 * dim) if looks_back else None

    def forward(
        self,
        inputs: Tensor,
        lengths: Tensor,
        start: tuple[Tensor, Tensor] | None = None,
        always: Tensor | None = None,
        back_to: Tensor | None = None,
    ) -> States:
        """`inputs` [batch, longest, input_dim] of which `lengths` [batch] steps count, at least one each; `start` the
        first hidden state and cell, each [directions, batch, dim]; `always` what is added to the gates in every step,
        [directions, batch, 4 · dim]; `back_to` [batch, longest] the earlier step that each one looks back to, from 1,
        or 0 for the start."""
        packing = Packing.of(lengths, inputs.shape[1])
        if start is None:
            nothing = inputs.new_zeros(len(self.bias), len(inputs), self.dim)
            start = nothing, nothing
        looked = None if back_to is None else packing.look_back(back_to)
        states, final = _Recurrence.apply(  # type: ignore[no-untyped-call]
            inputs, self.inputs, self.recurrent, self.bias, *start, always, self.back, looked, packing
        )
        return States(states, final)

    def step(
        self, inputs: Tensor, state: tuple[Tensor, Tensor], always: Tensor, looked: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """One step of the first direction: `inputs` [rows, input_dim], the hidden state and cell so far, each [rows,
        dim], what is added to the gates, [rows, 4 · dim], and the hidden state looked back to → both after it."""
        hidden, cell = state
        gates = (always + self.bias[0]).addmm_(inputs, self.inputs[0]).addmm_(hidden, self.recurrent[0])
        if self.back is not None and looked is not None:
            gates.addmm_(looked, self.back[0])
        out, keep_in, forget = gates[:, : 3 * self.dim].sigmoid().chunk(3, 1)
        # torch's tanh of a part of a table takes ten times as long as of a table.
        new = gates[:, 3 * self.dim :].contiguous().tanh_()
        cell = (forget * cell).addcmul_(keep_in, new)
        return out * cell.tanh(), cell


class BiLSTM(nn.Module):
    """A bidirectional LSTM with `dim / 2` units a direction."""

    def __init__(self, *, input_dim: int, dim: int) -> None:
        super().__init__()
        self.lstm = LSTM(input_dim=input_dim, dim=dim // 2, num_directions=2)

    def forward(self, inputs: Tensor, lengths: Tensor) -> States:
        """`inputs` [batch, longest, input_dim], `lengths` [batch] of at least 1."""
        states: States = self.lstm(inputs, lengths)
        return states


def take(values: Tensor, places: Tensor) -> Tensor:
    """`values` [batch, longest, dim] at `places` [batch, any], row by row: [batch, any, dim]."""
    return values[torch.arange(len(values))[:, None], places]


class _Recurrence(torch.autograd.Function):
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
        looked: Tensor | None,  # [N], rows of the tables
        packing: Packing,
    ) -> tuple[Tensor, Tensor]:
        size, units = len(weight), hidden.shape[-1]
        batch, longest, _ = inputs.shape
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
        steps = packing.by_step(
            gates, gates[..., : 3 * units], *gates.chunk(4, -1), cells[:, batch:], squashed, hiddens[:, batch:]
        )
        back_at = None if looked is None else iter(looked.split_with_sizes(packing.sizes))
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
        ctx.save_for_backward(packed, weight, recurrent, gates, hiddens, cells, squashed, back, looked)
        ctx.packing, ctx.shape, ctx.has_always = packing, inputs.shape, always is not None
        states = inputs.new_zeros(batch * longest, size * units)
        for number, place in enumerate(places):
            states[place, number * units : (number + 1) * units] = hiddens[number, batch:]
        final = hiddens[:, batch + packing.last].transpose(0, 1).reshape(batch, -1)
        return states.view(batch, longest, -1), final

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        packed, weight, recurrent, gates, hiddens, cells, squashed, back, looked = ctx.saved_tensors
        packing: Packing = ctx.packing
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
        steps = list(packing.by_step(flat, slopes[:, :, 0], slopes[:, :, 1:], to_cell, forget, said[:, batch:]))
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
