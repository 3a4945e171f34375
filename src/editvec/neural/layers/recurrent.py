"""Recurrent layers over sequences of different lengths: only what is there is computed.

Sequences are packed: sorted by length, so that those that still run at a step are the first ones. Of the changed tokens
of a batch of edits, three quarters would be padding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from editvec.neural.arrays import Array, Floats, Ints, lstm, lstm_step, take, zeros
from editvec.neural.layers.layer import Layer, Weight, uniform
from editvec.neural.layers.packing import Packing


class States(NamedTuple):
    """What a recurrent layer made of padded sequences."""

    all: Array  # [batch, longest, dim], the directions side by side; zeros on padding
    final: Array  # [batch, dim], the last state of each direction


class LSTM(Layer):
    """LSTMs side by side, `num_directions` of them; the second one reads each sequence backwards.

    The gates are, in this order: out, in, forget, new. With `looks_back`, a step also reads the hidden state of an
    earlier one (the parent, where steps build a tree).
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

        `inputs` [batch, longest, input_dim] of which `lengths` [batch] steps count, at least one each; `start` the
        first hidden state and cell, each [directions, batch, dim]; `always` what is added to the gates in every step,
        [directions, batch, 4 · dim]; `back_to` [batch, longest] the earlier step that each one looks back to, from 1,
        or 0 for the start.
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
        """Return the hidden state and cell after one step of the first direction.

        `inputs` [rows, input_dim], both so far, each [rows, dim], what is added to the gates, [rows, 4 · dim], and the
        hidden state looked back to.
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
    """A bidirectional LSTM with `dim / 2` units a direction."""

    def __init__(self, *, input_dim: int, dim: int) -> None:
        self.lstm = LSTM(input_dim=input_dim, dim=dim // 2, num_directions=2)

    def __call__(self, inputs: Array, lengths: Ints) -> States:
        """Return the states of `inputs` [batch, longest, input_dim], `lengths` [batch] of at least 1."""
        return self.lstm(inputs, lengths)


def take_from_each(values: Array, places: Ints) -> Array:
    """Return `values` [batch, longest, dim] at `places` [batch, any], row by row: [batch, any, dim]."""
    batch, longest, dim = values.shape
    rows = places + longest * np.arange(batch)[:, None]
    return take(values.reshape(batch * longest, dim), rows)
