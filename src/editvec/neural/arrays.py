"""Array functions that the networks need beyond the operators and methods that NumPy and torch share.

The networks are written once. Inference runs them on NumPy arrays; training runs them on torch tensors with gradients.
A function in this module dispatches on the type of its first argument. It has a NumPy body here and gets a torch body
in `training.torch_backend`. Indices and masks are NumPy arrays in both cases. A mask is True at valid positions.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.neural.layers.packing import Gather, Packing, Wiring

Array = Any
"""A NumPy array; in training, a torch tensor."""
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@singledispatch
def zeros(like: Array, *shape: int) -> Array:
    """Return zeros of a shape, as an array of the same kind as `like`."""
    return np.zeros(shape, like.dtype)


@singledispatch
def of_kind(like: Array, values: NDArray[Any]) -> Array:
    """Return a NumPy array as an array of the same kind as `like`."""
    return values


@singledispatch
def concat(first: Array, *others: Array, axis: int = -1) -> Array:
    """Return the arrays joined along an axis."""
    return np.concatenate([first, *others], axis)


@singledispatch
def where(values: Array, mask: Mask, other: Array | float = 0.0) -> Array:
    """Return `values` where the mask is True, and `other` elsewhere."""
    return np.where(mask, values, other)


@singledispatch
def take(table: Array, rows: Ints) -> Array:
    """Return the rows of a table at the given indices.

    Shapes: `table` [n, ...], `rows` [any]; the result has [any, ...].
    """
    return table.take(rows, 0)


@singledispatch
def place(values: Array, rows: Ints, size: int) -> Array:
    """Return a table of `size` rows with the values in the given rows and zeros elsewhere.

    `rows` must not contain duplicates. Shapes: `values` [n, ...], `rows` [n]; the result has [size, ...].
    """
    table = np.zeros((size, *values.shape[1:]), values.dtype)
    table[rows] = values
    return table


@singledispatch
def replace(table: Array, rows: Ints, values: Array) -> Array:
    """Return a copy of a table with new values in the given rows.

    `rows` must not contain duplicates. Shapes: `table` [size, ...], `rows` [n], `values` [n, ...]; the result has
    [size, ...].
    """
    changed = table.copy()
    changed[rows] = values
    return changed


@singledispatch
def scatter_add(values: Array, rows: Ints, size: int) -> Array:
    """Return the sums of the values that belong to the same row.

    Shapes: `values` [n, ...], `rows` [n]; the result has [size, ...].
    """
    if values.ndim == 1:
        return np.bincount(rows, values, size).astype(values.dtype)
    return gather_sums(Gather.of(np.arange(len(rows)), rows, size), values)


def gather_sums(gather: Gather, table: Floats) -> Floats:
    """Return, for each line of a gather, the sum of its rows of a table.

    Shapes: `table` [any, dim]; the result has [lines, dim].
    """
    sums = np.zeros((len(gather.starts), table.shape[1]), table.dtype)
    lines, levels = gather.by_size
    if 4 * len(levels) >= len(gather.rows):
        # Few lines with many rows each. np.add.reduceat does not return zero for an empty line, so skip those.
        lines = np.sort(lines)
        if len(lines):
            sums[lines] = np.add.reduceat(table.take(gather.rows, 0), gather.starts[lines], axis=0)
        return sums
    # For lines with few rows, this is 20 times as fast as np.add.reduceat.
    first, *others = levels
    some = table.take(first, 0)
    for rows in others:
        some[: len(rows)] += table.take(rows, 0)
    sums[lines] = some
    return sums


@singledispatch
def affine(values: Array, weight: Array, bias: Array | None = None) -> Array:
    """Return values · weightᵀ + bias.

    Shapes: `values` [..., inputs], `weight` [outputs, inputs], `bias` [outputs]; the result has [..., outputs].
    """
    flat = values.reshape(-1, values.shape[-1]) @ weight.T
    if bias is not None:
        flat += bias
    return flat.reshape(*values.shape[:-1], len(weight))


@singledispatch
def tanh(values: Array) -> Array:
    """Return the hyperbolic tangent of each value."""
    return np.tanh(values)


@singledispatch
def sigmoid(values: Array) -> Array:
    """Return the logistic function of each value."""
    return _sigmoid_inside(values * np.float32(0.5))


def _sigmoid_inside(halves: Floats) -> Floats:
    """Return the logistic function of twice the values, computed in place.

    NumPy computes tanh faster than exp, so this uses tanh.
    """
    np.tanh(halves, out=halves)
    halves *= 0.5
    halves += 0.5
    return halves


@singledispatch
def log(values: Array) -> Array:
    """Return the natural logarithm of each value."""
    return np.log(values)


@singledispatch
def softmax(scores: Array, mask: Mask | None = None) -> Array:
    """Return the softmax over the last axis, restricted to where the mask is True.

    In a row whose mask is False everywhere, all probabilities are equal.
    """
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    exponents = scores - scores.max(-1, keepdims=True)
    np.exp(exponents, out=exponents)
    exponents *= 1 / exponents.sum(-1, keepdims=True)
    return exponents


@singledispatch
def chosen_softmax(states: Array, weight: Array, bias: Array, choices: Ints) -> Array:
    """Return the softmax probability of one choice per state.

    The probability is softmax(states · weightᵀ + bias)[choice]. Shapes: `states` [n, dim], `weight` [choices, dim],
    `bias` [choices], `choices` [n]; the result has [n].
    """
    if not len(states):
        return np.zeros(0, states.dtype)
    scores = affine(states, weight, bias)
    chosen = scores[np.arange(len(choices)), choices]
    highest = scores.max(1)
    scores -= highest[:, None]
    return np.exp(chosen - highest) / np.exp(scores, out=scores).sum(1)


@singledispatch
def dropout(values: Array, share: float) -> Array:
    """Return the values; in training, a random share of them is set to zero."""
    return values


@singledispatch
def is_learning(values: Array) -> bool:
    """Return whether the current forward pass is for a training update and not only for a score."""
    return False


@singledispatch
def as_numpy(values: Array) -> NDArray[Any]:
    """Return the values as a NumPy array that shares their memory, without a gradient."""
    array: NDArray[Any] = values
    return array


def top_k(values: Floats, k: int) -> tuple[Floats, Ints]:
    """Return the k highest values of each row in descending order, and their columns.

    Shapes: `values` [rows, columns]; both results have [rows, min(k, columns)].
    """
    rows, columns = values.shape
    k = min(k, columns)
    if k > 12 or columns <= 16:
        at = np.argsort(-values, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(values, at, 1), at
    # Taking the maximum k times needs a third of the time of np.argpartition.
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
    """Return the states of an LSTM at all steps of padded sequences, and the final states.

    Sizes: D directions, B sequences, at most T steps, N steps in total, I inputs, H units, and G = 4 H gates in the
    order output, input, forget, new.

    The states have [B, T, D · H] with zeros on padding; the final states have [B, D · H]. Arguments:

    - `inputs` [B, T, I], `weight` [D, I, G], `recurrent` [D, H, G], `bias` [D, G];
    - `hidden` and `cell` [D, B, H]: the states before the first step;
    - `always` [D, B, G]: added to the gates at every step;
    - `back` [D, H, G]: the weights for the hidden states of earlier steps, which each step looks back to;
    - `looked` [N]: the index of the state that each step looks back to. The B initial states come first in this
      numbering, then the packed steps.
    """
    size, _, width = weight.shape
    units = width // 4
    batch, longest, dim = inputs.shape
    places = packing.places[:size]
    gates = np.matmul(inputs.reshape(batch * longest, dim)[places], weight)
    gates += bias[:, None]
    if always is not None:
        gates += always.take(packing.order[packing.ranks], 1)
    # The initial states, then the packed steps.
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
    """Compute one LSTM step in place.

    `gates` [..., 4 · H] holds the gates before their activation functions and is overwritten. `cell` [..., H] is
    updated. `spare` [..., H] is working memory. The new hidden state is written to `out` [..., H].
    """
    units = cell.shape[-1]
    soft, new = gates[..., : 3 * units], gates[..., 3 * units :]
    soft *= 0.5
    _sigmoid_inside(soft)
    np.tanh(new, out=new)
    cell *= gates[..., 2 * units : 3 * units]
    cell += np.multiply(gates[..., units : 2 * units], new, out=spare)
    np.multiply(gates[..., :units], np.tanh(cell, out=spare), out=out)


def lstm_step(gates: Floats, cell: Floats) -> tuple[Floats, Floats]:
    """Return the hidden state and the cell after one LSTM step, both [rows, H].

    `gates` [rows, 4 · H] holds the gates before their activation functions and is overwritten. `cell` [rows, H] is the
    cell before the step.
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
    """Return the node states after `num_rounds` rounds of a gated graph network: [N, D].

    N is the number of nodes and T the number of edge types. Shapes: `states` [N, D], `message` [T, D, D],
    `message_bias` [T, D]. The GRU has the weights `inputs` and `recurrent` [3 D, D] and their biases [3 D]; its gates
    are in torch's order: reset, update, new.
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
