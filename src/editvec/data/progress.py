"""Progress: how long work tells whoever asked how far it is. Nothing is printed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

T = TypeVar("T")
Advance = Callable[[int, int, int], None]
"""Told how much is done, how much there is in all, and how much was found."""
Stages = Callable[[str, str], AbstractContextManager[Advance]]
"""Given a stage's title and the unit that it counts, opens a progress."""


def ignore(done: int, total: int, found: int) -> None:
    """Show nothing."""


def silent(title: str, unit: str) -> AbstractContextManager[Advance]:
    """Open a progress that shows nothing."""
    return nullcontext(ignore)


def counted(
    items: Iterable[T], progress: Stages, title: str, unit: str = "edits", total: int | None = None
) -> Iterator[T]:
    """Yield items as they are, counted by a progress while it takes."""
    with progress(title, unit) as advance:
        for done, item in enumerate(items, 1):
            yield item
            advance(done, max(done, total or 0), 0)
