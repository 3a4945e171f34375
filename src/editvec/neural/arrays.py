"""The functions on arrays that the networks need beyond the operators and methods that NumPy and torch share.

The networks are written once. Inference runs them on NumPy arrays, training on torch tensors with gradients: a function
here dispatches on the type of its first argument, has a NumPy body, and gets a torch body in `training.torch_backend`.
Indices and masks are NumPy arrays in both cases; a mask is True where something is.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.neural.layers.packing import Gather, Packing, Wiring

Array = Any
"""A NumPy array, or a torch tensor in training."""
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@singledispatch
def zeros(like: Array, *shape: int) -> Array:
    """Return zeros of the kind of another array."""
    return np.zeros(shape, like.dtype)


@singledispatch
def of_kind(like: Array, values: NDArray[Any]) -> Array:
    """Return a NumPy array as an array of the kind of another one."""
    return values


@singledispatch
def concat(first: Array, *others: Array, axis: int = -1) -> Array:
    """Return arrays joined along an axis."""
    return np.concatenate([first, *others], axis)


@singledispatch
def where(values: Array, mask: Mask, other: Array | float = 0.0) -> Array:
    """Return the values where the mask is True, and the other ones elsewhere."""
    return np.where(mask, values, other)


@singledispatch
def take(table: Array, rows: Ints) -> Array:
    """Return rows of a table: [rows of the table, ...] at `rows` [any] → [any, ...]."""
    return table.take(rows, 0)


@singledispatch
def place(values: Array, rows: Ints, size: int) -> Array:
    """Return a table of `size` rows with values [n, ...] in the given rows [n], all different, and zeros elsewhere."""
    table = np.zeros((size, *values.shape[1:]), values.dtype)
    table[rows] = values
    return table


@singledispatch
def replace(table: Array, rows: Ints, values: Array) -> Array:
    """Return a copy of a table with other values [n, ...] in the given rows [n], all different."""
    changed = table.copy()
    changed[rows] = values
    return changed


@singledispatch
def scatter_add(values: Array, rows: Ints, size: int) -> Array:
    """Return sums of values [n, ...] by the row [n] to which each belongs: [size, ...]."""
    if values.ndim == 1:
        return np.bincount(rows, values, size).astype(values.dtype)
    return gather_sums(Gather.of(np.arange(len(rows)), rows, size), values)


def gather_sums(gather: Gather, table: Floats) -> Floats:
    """Return the sums of rows of a table: [any, dim] → [lines, dim]."""
    sums = np.zeros((len(gather.starts), table.shape[1]), table.dtype)
    lines, levels = gather.by_size
    if 4 * len(levels) >= len(gather.rows):
        # A few lines of many rows. An empty line would count as one of its own.
        lines = np.sort(lines)
        if len(lines):
            sums[lines] = np.add.reduceat(table.take(gather.rows, 0), gather.starts[lines], axis=0)
        return sums
    # Twenty times as fast as np.add.reduceat where lines have few rows.
    first, *others = levels
    some = table.take(first, 0)
    for rows in others:
        some[: len(rows)] += table.take(rows, 0)
    sums[lines] = some
    return sums


@singledispatch
def affine(values: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return values · weightᵀ + bias: [..., inputs] with `weight` [outputs, inputs] → [..., outputs]."""
    flat = values.reshape(-1, values.shape[-1]) @ weight.T
    if bias is not None:
        flat += bias
    return flat.reshape(*values.shape[:-1], len(weight))


@singledispatch
def tanh(values: Array) -> Array:
    """Return the hyperbolic tangent."""
    return np.tanh(values)


@singledispatch
def sigmoid(values: Array) -> Array:
    """Return the logistic function."""
    return _sigmoid_inside(values * np.float32(0.5))


def _sigmoid_inside(halves: Floats) -> Floats:
    """Return the logistic function of twice the values, written over them. NumPy's tanh is faster than its exp."""
    np.tanh(halves, out=halves)
    halves *= 0.5
    halves += 0.5
    return halves


@singledispatch
def log(values: Array) -> Array:
    """Return the natural logarithm."""
    return np.log(values)


@singledispatch
def softmax(scores: Array, mask: Mask | None = None) -> Array:
    """Return probabilities along the last axis. Where a row of the mask is nowhere True they are all alike."""
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exponents = scores - scores.max(-1, keepdims=True)
    np.exp(exponents, out=exponents)
    exponents *= 1 / exponents.sum(-1, keepdims=True)
    return exponents


@singledispatch
def chosen_softmax(states: Array, weight: Array, bias: Array, choices: Ints) -> Array:
    """Return softmax(states · weightᵀ + bias)[choice]: `states` [n, dim], `weight` [choices, dim] → [n]."""
    if not len(states):
        return np.zeros(0, states.dtype)
    scores = affine(states, weight, bias)
    chosen = scores[np.arange(len(choices)), choices]
    highest = scores.max(1)
    scores -= highest[:, None]
    return np.exp(chosen - highest) / np.exp(scores, out=scores).sum(1)


@singledispatch
def dropout(values: Array, share: float) -> Array:
    """Return the values, of which training sets a share to zero."""
    return values


@singledispatch
def is_learning(values: Array) -> bool:
    """Return whether training asks for an update, rather than for a score."""
    return False


@singledispatch
def as_numpy(values: Array) -> NDArray[Any]:
    """Return the values as a NumPy array over the same memory, without a gradient."""
    array: NDArray[Any] = values
    return array


def top_k(values: Floats, k: int) -> tuple[Floats, Ints]:
    """Return the k highest values of each row, the highest first, and their columns: [rows, columns] → [rows, k]."""
    rows, columns = values.shape
    k = min(k, columns)
    if k > 12 or columns <= 16:
        at = np.argsort(-values, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(values, at, 1), at
    # A few times the highest of what is left: a third of the time of np.argpartition.
    left, every = values.copy(), np.arange(rows)
    top, at = np.empty((rows, k), values.dtype), np.empty((rows, k), np.int64)
    for place in range(k):
        at[:, place] = column = left.argmax(1)
        top[:, place] = left[every, column]
        left[every, column] = -np.inf
    return top, at


@singledispatch
def lstm(
    inputs: Array,
    weight: Array,
    recurrent: Array,
    bias: Array,
    hidden: Array,
    cell: Array,
    always: Array | None,
    back: Array | None,
    looked: Ints | None,
    packing: Packing,
) -> tuple[Array, Array]:
    """Return the states of an LSTM over padded sequences, and the last ones.

    D directions, B sequences, T steps at most, N in all, I inputs, H units, G = 4 H gates in the order out, in, forget,
    new. `inputs` [B, T, I], `weight` [D, I, G], `recurrent` [D, H, G], `bias` [D, G], `hidden` and `cell` [D, B, H]
    before the first step, `always` [D, B, G] added to the gates in every step, `back` [D, H, G] for the states `looked`
    [N] back to, as numbers of rows among the beginnings and then the packed steps → states [B, T, D · H], zeros on
    padding, and the last ones [B, D · H].
    """
    size, _, width = weight.shape
    units = width // 4
    batch, longest, dim = inputs.shape
    places = packing.places[:size]
    gates = np.matmul(inputs.reshape(batch * longest, dim)[places], weight)
    gates += bias[:, None]
    if always is not None:
        gates += always.take(packing.order[packing.ranks], 1)
    # The beginnings, then the packed steps.
    hiddens = np.empty((size, batch + places.shape[1], units), inputs.dtype)
    hiddens[:, :batch] = hidden[:, packing.order]
    held = cell[:, packing.order]
    spare, squashed = np.empty((size, batch, width), inputs.dtype), np.empty_like(held)
    was, start = hiddens[:, :batch], 0
    for num in packing.sizes:
        gate, product = gates[:, start : start + num], spare[:, :num]
        gate += np.matmul(was[:, :num], recurrent, out=product)
        if back is not None and looked is not None:
            gate += np.matmul(hiddens.take(looked[start : start + num], 1), back, out=product)
        now, squeezed = hiddens[:, batch + start : batch + start + num], squashed[:, :num]
        held = held[:, :num]
        _lstm_cell(gate, held, squeezed, out=now)
        was, start = now, start + num
    states = np.zeros((batch * longest, size * units), inputs.dtype)
    for number, where_to in enumerate(places):
        states[where_to, number * units : (number + 1) * units] = hiddens[number, batch:]
    final = hiddens[:, batch + packing.last].swapaxes(0, 1).reshape(batch, size * units)
    return states.reshape(batch, longest, -1), final


def _lstm_cell(gates: Floats, cell: Floats, spare: Floats, out: Floats) -> None:
    """Take a step: `gates` [..., 4 · H] before they are squashed, `cell` [..., H] is updated, `out` the new state."""
    units = cell.shape[-1]
    soft, new = gates[..., : 3 * units], gates[..., 3 * units :]
    soft *= 0.5
    _sigmoid_inside(soft)
    np.tanh(new, out=new)
    cell *= gates[..., 2 * units : 3 * units]
    cell += np.multiply(gates[..., units : 2 * units], new, out=spare)
    np.multiply(gates[..., :units], np.tanh(cell, out=spare), out=out)


def lstm_step(gates: Floats, cell: Floats) -> tuple[Floats, Floats]:
    """Return the hidden state and the cell after one step.

    `gates` [rows, 4 · H] before they are squashed, which are written over, and the cell before, [rows, H].
    """
    cell, hidden = cell.copy(), np.empty_like(cell)
    _lstm_cell(gates, cell, np.empty_like(cell), out=hidden)
    return hidden, cell


@singledispatch
def graph_rounds(
    states: Array,
    message: Array,
    message_bias: Array,
    inputs: Array,
    recurrent: Array,
    input_bias: Array,
    recurrent_bias: Array,
    wiring: Wiring,
    num_rounds: int,
) -> Array:
    """Return the states of nodes after some rounds of a gated graph network: [N, D].

    N nodes, T types of edges: `message` [T, D, D], `message_bias` [T, D], of the GRU `inputs` and `recurrent` [3 D, D]
    and their biases [3 D], its gates in torch's order: reset, update, new.
    """
    dim = states.shape[1]
    both = 2 * dim
    said = np.empty((sum(wiring.sizes), dim), states.dtype)
    always = wiring.counts @ message_bias
    ends = np.cumsum(wiring.sizes).tolist()
    for _ in range(num_rounds):
        summed = gather_sums(wiring.reads, states)
        for weight, size, end in zip(message, wiring.sizes, ends, strict=True):
            if size:
                np.matmul(summed[end - size : end], weight.T, out=said[end - size : end])
        heard = gather_sums(wiring.told, said)
        heard += always
        asked, kept = affine(heard, inputs, input_bias), affine(states, recurrent, recurrent_bias)
        gate, new = asked[:, :both], asked[:, both:]
        gate += kept[:, :both]
        gate *= 0.5
        _sigmoid_inside(gate)
        new += gate[:, :dim] * kept[:, both:]
        np.tanh(new, out=new)
        states = new + gate[:, dim:] * (states - new)
    return states
