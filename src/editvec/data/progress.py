"""Progress: how long work tells whoever asked how far it is. Nothing is printed here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Advance = Callable[[int, int, int], None]
"""Told how much is done, how much there is in all, and how much was found."""
Stages = Callable[[str, str], AbstractContextManager[Advance]]
"""Given a stage's title and the unit that it counts, opens a progress."""


def ignore(done: int, total: int, found: int) -> None:
    """Show nothing."""


def silent(title: str, unit: str) -> AbstractContextManager[Advance]:
    """Open a progress that shows nothing."""
    return nullcontext(ignore)
