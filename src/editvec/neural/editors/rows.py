"""Steps of several sources as ragged rows.

The rows of a source use its memory together, as one row of a padded table, so that the memory is not copied for each
row. In a search, the memories of sources that have no rows left are dropped.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

from editvec.neural.arrays import Array, Ints, place, take
from editvec.neural.search import rank_within

_ENOUGH = 0.75
"""If fewer than this share of the remembered sources still have rows, the memories of the others are dropped."""


class Sliced(Protocol):
    """Data with one entry per source."""

    def at(self, rows: Ints) -> Sliced:
        """Return the entries of some sources."""


_Kept = TypeVar("_Kept", bound=Sliced)


def let_go(owners: Ints, sources: Ints, kept: _Kept) -> tuple[Ints, _Kept]:
    """Return the remembered sources and their data, after only `owners` have rows left.

    The data of the other sources is dropped only if this is worth the copy.
    """
    active = owners[np.flatnonzero(np.diff(owners, prepend=-1))]
    if len(active) >= _ENOUGH * len(sources):
        return sources, kept
    return active, kept.at(np.searchsorted(sources, active))  # type: ignore[return-value]


class SideBySide:
    """A mapping between rows and a padded table with one line per source.

    Operations on the memory of a source use the table. All other operations use the rows, because the table has more
    cells than there are rows.
    """

    def __init__(self, lines: Ints, num_lines: int) -> None:
        """Create the mapping; `lines` [rows] is the line of each row, in ascending order."""
        places = rank_within(lines, num_lines)
        self.lines = lines
        self._size = num_lines, (int(places.max()) + 1 if len(places) else 1)
        self._cells = lines * self._size[1] + places

    @classmethod
    def of(cls, owners: Ints, sources: Ints) -> SideBySide:
        """Return the mapping for the rows of `owners`.

        Shapes: `owners` [rows], `sources` [lines]. Both are in ascending order, and all owners are among the sources.
        """
        return cls(np.searchsorted(sources, owners), len(sources))

    def table(self, values: Array) -> Array:
        """Return the values as a padded table with zeros: [rows, ...] becomes [lines, most rows, ...]."""
        lines, most = self._size
        return place(values, self._cells, lines * most).reshape(lines, most, *values.shape[1:])

    def rows(self, table: Array) -> Array:
        """Return the cells of a padded table that hold rows: [lines, most rows, ...] becomes [rows, ...]."""
        lines, most = self._size
        return take(table.reshape(lines * most, *table.shape[2:]), self._cells)
