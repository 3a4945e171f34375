"""Where texts occur in a file, for many texts: in time that grows with the file, not with the file times the texts."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_GRAM = 32
"""Number of bytes of the pieces that are indexed."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_FEW = 200
"""Number of searches without an index; for few texts, building one takes longer than searching."""


class Occurrences:
    """A search for texts in a file. The result is exact: hashes only say where to compare."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._num_searches = 0

    def find(self, text: bytes, limit: int = 2) -> list[int]:
        """Return the first offsets at which a text occurs, in order, at most `limit` of them."""
        self._num_searches += 1
        if self._num_searches > _FEW and len(text) >= _GRAM:
            return self._find_indexed(text, limit)
        found: list[int] = []
        at = self._data.find(text)
        while at >= 0 and len(found) < limit:
            found.append(at)
            at = self._data.find(text, at + 1)
        return found

    def _find_indexed(self, text: bytes, limit: int) -> list[int]:
        hashes, order = self._index
        wanted = _hashes(text)
        lows, highs = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, "right")
        rarest = int(np.argmin(highs - lows))
        found: list[int] = []
        for offset in order[lows[rarest] : highs[rarest]]:
            at = int(offset) - rarest
            if at >= 0 and self._data.startswith(text, at):
                found.append(at)
                if len(found) == limit:
                    break
        return found

    @cached_property
    def _index(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the hashes of all pieces in order, and their offsets; equal pieces are in the order of the file."""
        hashes = _hashes(self._data)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order


def _hashes(data: bytes) -> NDArray[np.uint64]:
    """Return the hash of the `_GRAM` bytes at each offset, modulo 2**64."""
    if len(data) < _GRAM:
        return np.zeros(0, np.uint64)
    found = np.frombuffer(data, np.uint8).astype(np.uint64) + np.uint64(1)
    factor, size = _FACTOR, 1
    with np.errstate(over="ignore"):
        while size < _GRAM:
            found = found[:-size] * factor + found[size:]
            factor, size = factor * factor, 2 * size
    return found
