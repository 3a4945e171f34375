"""Steps of several sources as rows.

Those of a source look at its memory side by side, so that it need not be copied for each. In a search, the memories of
sources that have no rows any more are let go.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

from editvec.neural.arrays import Array, Ints, place, take
from editvec.neural.search import rank_within

_ENOUGH = 0.75
"""Memories are copied together when fewer than this share of their sources still have rows."""


class Sliced(Protocol):
    """Something kept for each source."""

    def at(self, rows: Ints) -> Sliced:
        """Return the same for some of them."""


_Kept = TypeVar("_Kept", bound=Sliced)


def let_go(owners: Ints, sources: Ints, kept: _Kept) -> tuple[Ints, _Kept]:
    """Return the sources that are remembered, and what is kept of them, after only `owners` have rows."""
    active = owners[np.flatnonzero(np.diff(owners, prepend=-1))]
    if len(active) >= _ENOUGH * len(sources):
        return sources, kept
    return active, kept.at(np.searchsorted(sources, active))  # type: ignore[return-value]


class SideBySide:
    """Rows as a table with a line for each source.

    What is asked of a source's memory is asked in the table, all else of the rows, of which there are fewer than cells.
    """

    def __init__(self, lines: Ints, num_lines: int) -> None:
        """`lines` [rows], in order."""
        places = rank_within(lines, num_lines)
        self.lines = lines
        self._size = num_lines, (int(places.max()) + 1 if len(places) else 1)
        self._cells = lines * self._size[1] + places

    @classmethod
    def of(cls, owners: Ints, sources: Ints) -> SideBySide:
        """Return the rows of `owners` [rows], of which all are among the `sources`, both in order."""
        return cls(np.searchsorted(sources, owners), len(sources))

    def table(self, values: Array) -> Array:
        """Return `values` [rows, ...] in their places, zeros elsewhere: [lines, most rows, ...]."""
        lines, most = self._size
        return place(values, self._cells, lines * most).reshape(lines, most, *values.shape[1:])

    def rows(self, table: Array) -> Array:
        """Return what a `table` [lines, most rows, ...] has in their places: [rows, ...]."""
        lines, most = self._size
        return take(table.reshape(lines * most, *table.shape[2:]), self._cells)
