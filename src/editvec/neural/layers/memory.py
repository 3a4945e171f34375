"""Memory: where large tables come from and go back to, and who looks for what nobody needs any more.

A step of training makes and drops tables of tens of megabytes. The C library of Linux hands the memory of such tables
back to the system at once, which then gives it again page by page, all zeroed: some hundredths of a step.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""The numbers of glibc's malloc.h."""
_LARGEST = 1 << 28
_LARGEST_OF_OLD = 1 << 25
"""Older versions refuse more."""
_HELD = 1 << 29


@cache
def keep_memory() -> None:
    """Asks the C library to keep what is freed for the next table, up to half a gigabyte; for the whole process. Where
    it has no such wish to be asked for (macOS, musl) nothing happens."""
    with suppress(AttributeError, OSError, TypeError):
        tune = ctypes.CDLL(None).mallopt
        if not tune(_MMAP_THRESHOLD, _LARGEST):
            tune(_MMAP_THRESHOLD, _LARGEST_OF_OLD)
        tune(_TRIM_THRESHOLD, _HELD)


@contextmanager
def uncollected() -> Iterator[None]:
    """Python does not look for cycles meanwhile: for work that makes many objects and no cycles while many
    others are there, which would all be looked at again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
