"""Recurrent layers over sequences of different lengths that compute no padding.

Sequences are packed: they are sorted by length, so that at each step the sequences that are still running come first.
Without packing, three quarters of the steps over the changed tokens of a batch of edits would be padding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from editvec.neural.arrays import Array, Floats, Ints, lstm, lstm_step, take, zeros
from editvec.neural.layers.layer import Layer, Weight, uniform
from editvec.neural.layers.packing import Packing


class States(NamedTuple):
    """The states that a recurrent layer computes for padded sequences."""

    all: Array  # [batch, longest, dim], the directions concatenated; zeros on padding
    final: Array  # [batch, dim], the last states of the directions, concatenated


class LSTM(Layer):
    """One LSTM per direction; the second direction reads each sequence backwards.

    The gates are in the order output, input, forget, new. With `looks_back`, a step also reads the hidden state of an
    earlier step (of the parent, when the steps build a tree).
    """

    def __init__(self, *, input_dim: int, dim: int, num_directions: int = 1, looks_back: bool = False) -> None:
        self.dim = dim

        def weight(*size: int) -> Weight:
            return Weight((num_directions, *size), uniform(dim**-0.5))

        self.inputs, self.recurrent, self.bias = weight(input_dim, 4 * dim), weight(dim, 4 * dim), weight(4 * dim)
        self.back = weight(dim, 4 * dim) if looks_back else None

    def __call__(
        self,
        inputs: Array,
        lengths: Ints,
        start: tuple[Array, Array] | None = None,
        always: Array | None = None,
        back_to: Ints | None = None,
    ) -> States:
        """Return the states of all steps.

        - `inputs` [batch, longest, input_dim]
        - `lengths` [batch]: the number of valid steps of each sequence, at least 1.
        - `start`: the hidden state and the cell before the first step, each [directions, batch, dim].
        - `always` [directions, batch, 4 · dim]: added to the gates at every step.
        - `back_to` [batch, longest]: the earlier step that each step looks back to, numbered from 1; 0 for the start.
        """
        packing = Packing.of(lengths, inputs.shape[1])
        if start is None:
            nothing = zeros(inputs, len(self.bias.value), len(inputs), self.dim)
            start = nothing, nothing
        return States(
            *lstm(
                inputs,
                self.inputs.value,
                self.recurrent.value,
                self.bias.value,
                *start,
                always,
                None if self.back is None else self.back.value,
                None if back_to is None else packing.look_back(back_to),
                packing,
            )
        )

    def step(
        self, inputs: Floats, state: tuple[Floats, Floats], always: Floats, looked: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the hidden state and the cell after one step of the first direction, each [rows, dim].

        Shapes: `inputs` [rows, input_dim]; `state`, the hidden state and the cell before the step, each [rows, dim];
        `always` [rows, 4 · dim], added to the gates; `looked` [rows, dim], the hidden state that is looked back to.
        """
        hidden, cell = state
        gates = inputs @ self.inputs.value[0]
        gates += hidden @ self.recurrent.value[0]
        if self.back is not None and looked is not None:
            gates += looked @ self.back.value[0]
        gates += always
        gates += self.bias.value[0]
        return lstm_step(gates, cell)


class BiLSTM(Layer):
    """A bidirectional LSTM with `dim / 2` units per direction."""

    def __init__(self, *, input_dim: int, dim: int) -> None:
        self.lstm = LSTM(input_dim=input_dim, dim=dim // 2, num_directions=2)

    def __call__(self, inputs: Array, lengths: Ints) -> States:
        """Return the states of all steps.

        Shapes: `inputs` [batch, longest, input_dim]; `lengths` [batch], each at least 1.
        """
        return self.lstm(inputs, lengths)


def take_from_each(values: Array, places: Ints) -> Array:
    """Return the values at the given positions of each row: [batch, any, dim].

    Shapes: `values` [batch, longest, dim], `places` [batch, any].
    """
    batch, longest, dim = values.shape
    rows = places + longest * np.arange(batch)[:, None]
    return take(values.reshape(batch * longest, dim), rows)
