"""What the searches of all editors share: the rows of a source look at its memory side by side, so that it need not be
copied for each, and the memories of sources that have no rows any more are let go.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import torch
from torch import Tensor

from editvec.search import rank_within

_ENOUGH = 0.75
"""Memories are copied together when fewer than this share of their sources still have rows."""


class Sliced(Protocol):
    """Something kept for each source."""

    def at(self, rows: Tensor) -> Sliced:
        """The same for some of them."""


_Kept = TypeVar("_Kept", bound=Sliced)


def let_go(owners: Tensor, sources: Tensor, kept: _Kept) -> tuple[Tensor, _Kept]:
    """The sources that are remembered, and what is kept of them, after only `owners` have rows."""
    active = torch.unique_consecutive(owners)
    if len(active) >= _ENOUGH * len(sources):
        return sources, kept
    return active, kept.at(torch.searchsorted(sources, active))  # type: ignore[return-value]


class SideBySide:
    """Rows as a table: one line for each remembered source."""

    def __init__(self, owners: Tensor, sources: Tensor) -> None:
        self.lines = torch.searchsorted(sources, owners)
        self.places = rank_within(self.lines, len(sources))
        self._size = (len(sources), int(self.places.max()) + 1)

    def table(self, values: Tensor) -> Tensor:
        """`values` [rows, ...] in their places, zeros elsewhere: [sources, most rows, ...]."""
        table = values.new_zeros(*self._size, *values.shape[1:])
        table[self.lines, self.places] = values
        return table
