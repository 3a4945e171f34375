"""Lines of a file: where they begin, and which one an offset lies in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

_NEWLINE = ord("\n")


@lru_cache(64)
def line_starts(data: bytes) -> Sequence[int]:
    """The offset of each line's first byte, and the length at the end. A version is asked about more than once."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE) + 1
    starts: list[int] = [0, *ends.tolist()]
    return starts if len(starts) > 1 and starts[-1] == len(data) else [*starts, len(data)]


def line_of(starts: Sequence[int], offset: int) -> int:
    """The 0-based line that an offset lies in."""
    return bisect_right(starts, offset) - 1
