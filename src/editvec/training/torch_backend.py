"""The torch bodies of the functions in `neural.arrays`.

Importing this module lets the networks run on tensors, with gradients. The networks use NumPy arrays for indices and
masks; this module turns them into tensors that share their memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from editvec.neural import arrays
from editvec.neural.arrays import Ints, Mask
from editvec.neural.layers.packing import Gather, Packing, Wiring
from editvec.training.products import product

_is_learning = False


@contextmanager
def learning(on: bool = True) -> Iterator[None]:
    """Enable dropout, and skip computations that hardly affect the gradient, inside the context."""
    global _is_learning
    before, _is_learning = _is_learning, on
    try:
        yield
    finally:
        _is_learning = before


@arrays.is_learning.register(Tensor)
def _(values: Tensor) -> bool:
    return _is_learning


@arrays.as_numpy.register(Tensor)
def _(values: Tensor) -> NDArray[Any]:
    return values.detach().numpy()


@arrays.of_kind.register(Tensor)
def _(like: Tensor, values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(values)


@arrays.zeros.register(Tensor)
def _(like: Tensor, *shape: int) -> Tensor:
    return like.new_zeros(shape)


@arrays.concat.register(Tensor)
def _(first: Tensor, *others: Tensor, axis: int = -1) -> Tensor:
    return torch.cat([first, *others], axis)


@arrays.where.register(Tensor)
def _(values: Tensor, mask: Mask, other: Tensor | float = 0.0) -> Tensor:
    return torch.where(torch.from_numpy(mask), values, other)


@arrays.take.register(Tensor)
def _(table: Tensor, rows: Ints) -> Tensor:
    numbers = torch.from_numpy(rows)
    # The gradient of an embedding is computed faster than that of an index operation.
    return functional.embedding(numbers, table) if table.dim() == 2 else table.index_select(0, numbers)


@arrays.place.register(Tensor)
def _(values: Tensor, rows: Ints, size: int) -> Tensor:
    return values.new_zeros(size, *values.shape[1:]).index_copy(0, torch.from_numpy(rows), values)


@arrays.replace.register(Tensor)
def _(table: Tensor, rows: Ints, values: Tensor) -> Tensor:
    return table.index_copy(0, torch.from_numpy(rows), values)


@arrays.scatter_add.register(Tensor)
def _(values: Tensor, rows: Ints, size: int) -> Tensor:
    return values.new_zeros(size, *values.shape[1:]).index_add(0, torch.from_numpy(rows), values)


@arrays.softmax.register(Tensor)
def _(scores: Tensor, mask: Mask | None = None) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(torch.from_numpy(~mask), torch.finfo(scores.dtype).min)
    return scores.softmax(-1)


@arrays.dropout.register(Tensor)
def _(values: Tensor, share: float) -> Tensor:
    return functional.dropout(values, share, training=_is_learning)


arrays.affine.register(Tensor, functional.linear)
arrays.tanh.register(Tensor, torch.tanh)
arrays.sigmoid.register(Tensor, torch.sigmoid)
arrays.log.register(Tensor, torch.log)


@arrays.chosen_softmax.register(Tensor)
def _(states: Tensor, weight: Tensor, bias: Tensor, choices: Ints) -> Tensor:
    scores = product(states, weight.t(), bias)
    return functional.cross_entropy(scores, torch.from_numpy(choices), reduction="none").neg().exp()


@arrays.lstm.register(Tensor)
def _(
    inputs: Tensor,
    weight: Tensor,
    recurrent: Tensor,
    bias: Tensor,
    hidden: Tensor,
    cell: Tensor,
    always: Tensor | None,
    back: Tensor | None,
    looked: Ints | None,
    packing: Packing,
) -> tuple[Tensor, Tensor]:
    size, units = len(weight), recurrent.shape[1]
    batch, longest, dim = inputs.shape
    order, places = torch.from_numpy(packing.order), torch.from_numpy(packing.places[:size])
    gates = product(functional.embedding(places, inputs.reshape(batch * longest, dim)), weight, bias)
    if always is not None:
        gates = gates + always.index_select(1, order[torch.from_numpy(packing.ranks)])
    was, held = hidden[:, order], cell[:, order]
    hiddens = [was]
    back_at = None if looked is None else torch.from_numpy(looked).split_with_sizes(packing.sizes)
    for step, gate in enumerate(gates.split_with_sizes(packing.sizes, 1)):
        num = gate.shape[1]
        gate = torch.baddbmm(gate, was[:, :num], recurrent)
        if back is not None and back_at is not None:
            gate = torch.baddbmm(gate, torch.cat(hiddens, 1).index_select(1, back_at[step]), back)
        soft, new = gate.split_with_sizes([3 * units, units], -1)
        out, keep_in, forget = soft.sigmoid().chunk(3, -1)
        held = torch.addcmul(forget * held[:, :num], keep_in, new.tanh())
        was = out * held.tanh()
        hiddens.append(was)
    packed = torch.cat(hiddens[1:], 1)
    empty = packed.new_zeros(batch * longest, units)
    states = torch.cat([empty.index_copy(0, where_to, each) for where_to, each in zip(places, packed, strict=True)], -1)
    final = packed[:, torch.from_numpy(packing.last)].transpose(0, 1).reshape(batch, -1)
    return states.view(batch, longest, -1), final


@arrays.graph_rounds.register(Tensor)
def _(
    states: Tensor,
    message: Tensor,
    message_bias: Tensor,
    inputs: Tensor,
    recurrent: Tensor,
    input_bias: Tensor,
    recurrent_bias: Tensor,
    wiring: Wiring,
    num_rounds: int,
) -> Tensor:
    dim = states.shape[1]
    always = torch.from_numpy(wiring.counts).to(states.dtype) @ message_bias
    for _ in range(num_rounds):
        summed = _sums(wiring.reads, states).split_with_sizes(wiring.sizes)
        said = torch.cat([each @ weight.t() for each, weight in zip(summed, message, strict=True)])
        heard = _sums(wiring.told, said) + always
        asked = product(heard, inputs.t(), input_bias)
        kept = product(states, recurrent.t(), recurrent_bias)
        (asked_gate, asked_new), (gate, new) = (each.split_with_sizes([2 * dim, dim], -1) for each in (asked, kept))
        reset, update = (asked_gate + gate).sigmoid().chunk(2, -1)
        states = torch.lerp(torch.addcmul(asked_new, reset, new).tanh(), states, update)
    return states


def _sums(gather: Gather, table: Tensor) -> Tensor:
    """Return, for each line of a gather, the sum of its rows of a table: [lines, dim]."""
    return functional.embedding_bag(torch.from_numpy(gather.rows), table, torch.from_numpy(gather.starts), mode="sum")
