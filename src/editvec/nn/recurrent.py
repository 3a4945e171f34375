"""Recurrent layers over padded sequences, such that padding changes nothing.

torch has two LSTMs for a CPU: its own, and oneDNN's, which is faster but prepares and keeps a program for every shape
that it meets, and a corpus of edits has hundreds of them (gigabytes). So this one is written out here, with its
gradient: it is nearly as fast as oneDNN's at the sizes of the paper, holds on to nothing, runs both directions in one
loop, and takes what is the same in every step as such.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class States(NamedTuple):
    """What a recurrent layer made of padded sequences."""

    all: Tensor  # [batch, longest, dim]; on padding, anything
    final: Tensor  # [batch, dim], the last state forwards ⊕ the last backwards


class LSTM(nn.Module):
    """`num_directions` LSTMs side by side, each over inputs of its own. The gates are, in this order: out, in, forget,
    new. With `looks_back`, a step also reads the hidden state of an earlier one (the parent, where steps build a
    tree)."""

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
        start: tuple[Tensor, Tensor] | None = None,
        always: Tensor | None = None,
        back_to: Tensor | None = None,
    ) -> Tensor:
        """`inputs` [directions, longest, batch, input_dim]; `start` the first hidden state and cell, each [directions,
        batch, dim]; `always` what is added to the gates in every step, [directions, batch, 4 · dim]; `back_to` the
        earlier step that each one looks back to, from 1, or 0 for the start: [longest, batch] → the hidden states
        [directions, longest, batch, dim]."""
        if start is None:
            nothing = inputs.new_zeros(inputs.shape[0], inputs.shape[2], self.dim)
            start = nothing, nothing
        states: Tensor = _Recurrence.apply(  # type: ignore[no-untyped-call]
            inputs, self.inputs, self.recurrent, self.bias, *start, always, self.back, back_to
        )
        return states

    def step(
        self, inputs: Tensor, state: tuple[Tensor, Tensor], always: Tensor, looked: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """One step of the first direction: `inputs` [rows, input_dim], the hidden state and cell so far, each [rows,
        dim], what is added to the gates, [rows, 4 · dim], and the hidden state looked back to → both after it."""
        hidden, cell = state
        gates = torch.addmm(always + self.bias[0], inputs, self.inputs[0]).addmm(hidden, self.recurrent[0])
        if self.back is not None and looked is not None:
            gates = gates.addmm(looked, self.back[0])
        out, keep_in, forget, new = gates.chunk(4, 1)
        cell = forget.sigmoid() * cell + keep_in.sigmoid() * new.tanh()
        return out.sigmoid() * cell.tanh(), cell


class BiLSTM(nn.Module):
    """A bidirectional LSTM with `dim / 2` units a direction. Each sequence is reversed by its own length, so that
    padding is behind it in both directions, where the layer has not been yet."""

    def __init__(self, *, input_dim: int, dim: int) -> None:
        super().__init__()
        self.lstm = LSTM(input_dim=input_dim, dim=dim // 2, num_directions=2)

    def forward(self, inputs: Tensor, lengths: Tensor) -> States:
        """`inputs` [batch, longest, input_dim], `lengths` [batch] of at least 1."""
        order = reversal(lengths, inputs.shape[1])
        both = torch.stack([inputs, take(inputs, order)]).transpose(1, 2)
        ahead, back = self.lstm(both).transpose(1, 2)
        last = (lengths - 1)[:, None]
        final = torch.cat([take(ahead, last), take(back, last)], -1).squeeze(1)
        return States(torch.cat([ahead, take(back, order)], -1), final)


def reversal(lengths: Tensor, longest: int) -> Tensor:
    """For each position the one that takes its place when every sequence is reversed: [batch, longest]."""
    positions = torch.arange(longest, device=lengths.device)[None, :]
    mirrored = lengths[:, None] - 1 - positions
    return torch.where(mirrored >= 0, mirrored, positions)


def take(values: Tensor, places: Tensor) -> Tensor:
    """`values` [batch, longest, dim] at `places` [batch, any], row by row: [batch, any, dim]."""
    return values.gather(1, places[..., None].expand(-1, -1, values.shape[-1]))


class _Recurrence(torch.autograd.Function):
    """The LSTM and its gradient. D directions, T steps, B sequences, I inputs, H units; G = 4 H gates."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,  # [D, T, B, I]
        weight: Tensor,  # [D, I, G]
        recurrent: Tensor,  # [D, H, G]
        bias: Tensor,  # [D, G]
        hidden: Tensor,  # [D, B, H]
        cell: Tensor,  # [D, B, H]
        always: Tensor | None,  # [D, B, G]
        back: Tensor | None,  # [D, H, G]
        back_to: Tensor | None,  # [T, B]
    ) -> Tensor:
        size, longest, batch, _ = inputs.shape
        units = hidden.shape[-1]
        inputs = inputs.contiguous()
        gates = torch.baddbmm(bias[:, None], inputs.flatten(1, 2), weight).view(size, longest, batch, -1)
        if always is not None:
            gates += always[:, None]
        hiddens, cells = (inputs.new_empty(size, longest + 1, batch, units) for _ in range(2))
        hiddens[:, 0], cells[:, 0] = hidden, cell
        squashed = inputs.new_empty(size, longest, batch, units)
        views = zip(
            *(part.unbind(1) for part in (gates, gates[..., : 3 * units], *gates.chunk(4, -1), squashed)),
            strict=True,
        )
        h, c = hiddens.unbind(1), cells.unbind(1)
        everyone = torch.arange(batch)
        for step, (all_gates, three, out, keep_in, forget, new, thin) in enumerate(views):
            all_gates.baddbmm_(h[step], recurrent)
            if back is not None and back_to is not None:
                all_gates.baddbmm_(hiddens[:, back_to[step], everyone], back)
            three.sigmoid_()
            new.tanh_()
            torch.mul(forget, c[step], out=c[step + 1])
            c[step + 1].addcmul_(keep_in, new)
            torch.tanh(c[step + 1], out=thin)
            torch.mul(out, thin, out=h[step + 1])
        ctx.save_for_backward(inputs, weight, recurrent, gates, hiddens, cells, squashed, back, back_to)
        ctx.has_always = always is not None
        return hiddens[:, 1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight, recurrent, gates, hiddens, cells, squashed, back, back_to = ctx.saved_tensors
        size, longest, batch, units = squashed.shape
        out, keep_in, forget, new = gates.chunk(4, -1)
        # What a gate's gradient is multiplied with does not depend on the gradient: all steps at once.
        to_cell = out * (1 - squashed * squashed)
        slopes = torch.empty_like(gates).view(size, longest, batch, 4, units)
        for at, value in enumerate(
            (
                squashed * out * (1 - out),
                new * keep_in * (1 - keep_in),
                cells[:, :-1] * forget * (1 - forget),
                keep_in * (1 - new * new),
            )
        ):
            slopes[..., at, :] = value
        flat = slopes.view(size, longest, batch, 4 * units)
        above = gradients[0].unbind(1)
        steps = [part.unbind(1) for part in (flat, slopes[..., 0, :], slopes[..., 1:, :], to_cell, forget)]
        transposed = recurrent.transpose(1, 2)
        of_cell = torch.zeros_like(cells[:, 0])
        of_hidden = above[-1]
        # What later steps that looked back say about a hidden state.
        said = torch.zeros_like(hiddens) if back is not None else None
        everyone = torch.arange(batch)
        for step in range(longest - 1, -1, -1):
            all_gates, of_out, of_rest, through, kept = (part[step] for part in steps)
            of_cell.addcmul_(of_hidden, through)
            of_out.mul_(of_hidden)
            of_rest.mul_(of_cell[:, :, None])
            of_cell.mul_(kept)
            if said is not None:
                places = (slice(None), back_to[step], everyone)
                said[places] += torch.bmm(all_gates, back.transpose(1, 2))
            if step:
                of_hidden = torch.baddbmm(above[step - 1], all_gates, transposed)
                if said is not None:
                    of_hidden += said[:, step]
        rows = flat.flatten(1, 2)
        of_start = torch.bmm(flat[:, 0], transposed)
        of_back = None
        if said is not None:
            of_start += said[:, 0]
            looked = hiddens[:, back_to, everyone]
            of_back = torch.bmm(looked.flatten(1, 2).transpose(1, 2), rows)
        return (
            torch.bmm(rows, weight.transpose(1, 2)).view(inputs.shape),
            torch.bmm(inputs.flatten(1, 2).transpose(1, 2), rows),
            torch.bmm(hiddens[:, :-1].flatten(1, 2).transpose(1, 2), rows),
            rows.sum(1),
            of_start,
            of_cell,
            flat.sum(1) if ctx.has_always else None,
            of_back,
            None,
        )
