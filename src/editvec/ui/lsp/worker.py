"""Work beside the event loop: one thread, and tickets by which a search learns that nobody waits for it any more."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress


class SearchCancelledError(Exception):
    """A search that was given up because the texts have changed."""


class SearchTicket:
    """Whether the result of a search is still wanted."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        """Give the search up."""
        self.is_cancelled = True

    def check(self) -> None:
        """Raise SearchCancelledError if the search was given up."""
        if self.is_cancelled:
            raise SearchCancelledError


def warm_up() -> None:
    """Load what the first answers need, before somebody waits for them."""
    import editvec.ui.lsp.commands  # noqa: F401
    from editvec.suggest.scorer import packaged_scorer

    packaged_scorer()


def give_memory_back() -> None:
    """Return the memory of a search to the system, which glibc does not do by itself."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def make_worker() -> ThreadPoolExecutor:
    """Return the one thread in which all searches run, one after the other."""
    return ThreadPoolExecutor(1, "editvec-search")
