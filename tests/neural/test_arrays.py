"""The functions on arrays against what they stand for, in NumPy; `tests/training/test_laws.py` compares torch's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.neural import arrays
from editvec.neural.layers.packing import Gather


@given(seed=st.integers(0, 10**6), rows=st.integers(0, 5), columns=st.integers(1, 60), k=st.integers(1, 30))
def test_the_highest_come_first(seed: int, rows: int, columns: int, k: int) -> None:
    values = np.random.default_rng(seed).random((rows, columns), np.float32)
    top, at = arrays.top_k(values, k)
    np.testing.assert_array_equal(top, -np.sort(-values, 1)[:, :k])
    np.testing.assert_array_equal(np.take_along_axis(values, at, 1), top)
    assert all(len(set(row)) == len(row) for row in at.tolist())


@given(seed=st.integers(0, 10**6), values=st.integers(0, 40), size=st.integers(1, 50), lines=st.integers(1, 50))
def test_sums_are_those_of_a_loop(seed: int, values: int, size: int, lines: int) -> None:
    chance = np.random.default_rng(seed)
    table, rows = chance.random((size, 3), np.float32), chance.integers(0, size, values)
    # Few lines have many rows each, many lines have few.
    where = chance.integers(0, lines, values)
    expected = np.zeros((lines, 3), np.float32)
    np.add.at(expected, where, table[rows])
    np.testing.assert_allclose(arrays.gather_sums(Gather.of(rows, where, lines), table), expected, rtol=1e-5)
    np.testing.assert_allclose(arrays.scatter_add(table[rows], where, lines), expected, rtol=1e-5)
    np.testing.assert_allclose(arrays.scatter_add(table[rows, 0], where, lines), expected[:, 0], rtol=1e-5)


def test_squashed_values_stay_finite() -> None:
    values = np.array([[-1e30, -90.0, 0.0, 90.0, 1e30]], np.float32)
    np.testing.assert_allclose(arrays.sigmoid(values), [[0.0, 0.0, 0.5, 1.0, 1.0]], atol=1e-6)
    assert values[0, 2] == 0.0 and values[0, 3] == 90.0
    np.testing.assert_allclose(arrays.softmax(values), [[0.0, 0.0, 0.0, 0.0, 1.0]])
    nowhere = np.zeros((1, 5), np.bool_)
    np.testing.assert_allclose(arrays.softmax(values, nowhere), np.full((1, 5), 0.2), rtol=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_a_chosen_probability_is_that_of_the_softmax(rows: int) -> None:
    chance = np.random.default_rng(0)
    states, weight, bias = (chance.random(size, np.float32) for size in ((rows, 4), (9, 4), (9,)))
    choices = chance.integers(0, 9, rows)
    found = arrays.chosen_softmax(states, weight, bias, choices)
    expected = arrays.softmax(arrays.affine(states, weight, bias))[np.arange(rows), choices]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found.dtype == np.float32


def test_rows_are_put_where_they_belong() -> None:
    table, rows = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([2, 0])
    np.testing.assert_array_equal(arrays.take(table, np.array([[1, 1], [0, 2]]))[1], table[[0, 2]])
    np.testing.assert_array_equal(arrays.place(table[:2], rows, 4), [[2, 3], [0, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(arrays.replace(table, rows, table[:2] + 9), [[11, 12], [2, 3], [9, 10]])
    np.testing.assert_array_equal(arrays.where(table, table > 2), [[0, 0], [0, 3], [4, 5]])
    assert table[2, 0] == 4
