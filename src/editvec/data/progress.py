"""Progress callbacks: the interface through which long work reports how far it is. Nothing is printed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

T = TypeVar("T")
Advance = Callable[[int, int, int], None]
"""A callback that receives the number of items done, the total, and the number of results found."""
Stages = Callable[[str, str], AbstractContextManager[Advance]]
"""A function that opens a progress display, given the title of a stage and the unit that it counts."""


def ignore(done: int, total: int, found: int) -> None:
    """Do nothing: a progress callback that shows nothing."""


def silent(title: str, unit: str) -> AbstractContextManager[Advance]:
    """Open a progress display that shows nothing."""
    return nullcontext(ignore)


def counted(
    items: Iterable[T], progress: Stages, title: str, unit: str = "edits", total: int | None = None
) -> Iterator[T]:
    """Yield items unchanged, and report their number to a progress display."""
    with progress(title, unit) as advance:
        for done, item in enumerate(items, 1):
            yield item
            advance(done, max(done, total or 0), 0)
