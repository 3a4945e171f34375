"""Deduplication: the filters that drop copies of earlier edits, and edits that occur too often.

Candidates are processed in the order of history, so the first of several equal edits is kept. Deduplication compares
8-byte digests, which are computed when an edit is extracted; it never sees the edits themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from hashlib import blake2b
from typing import NamedTuple

from editvec.core.edit import Edit
from editvec.mining.recipes import Recipe


class Digests(NamedTuple):
    """The digests by which copies of an edit are recognised."""

    picked: int
    """Digest of author, date, file name and text; if it is equal in another commit, the edit is a cherry-pick."""
    near: int
    """Digest of the canonical edit, its canonical context and the file name."""
    content: int
    """Digest of the language and the canonical edit."""


def digest(edit: Edit) -> Digests:
    """Return the digests of an edit, which must have a source."""
    source = edit.source
    assert source is not None
    name = source.path.rpartition("/")[2]
    moment = source.author_date.timestamp() if source.author_date else 0
    content = (edit.language, edit.model_before, edit.model_after)
    return Digests(
        _digest(source.author, moment, name, edit.before.text, edit.after.text),
        _digest(name, *content, *edit.model_context),
        _digest(*content),
    )


def _digest(*parts: Hashable) -> int:
    return int.from_bytes(blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).digest())


class Deduplicator:
    """A filter that drops copies of earlier edits."""

    def __init__(self, recipe: Recipe, tally: Counter[str]) -> None:
        self.recipe = recipe
        self.tally = tally
        self._picked: dict[int, str] = {}
        self._near: set[int] = set()
        self._repeats: Counter[int] = Counter()

    def keeps(self, commit: str, digests: Digests) -> bool:
        """Return whether an edit is kept; if not, count the filter that dropped it."""
        reason = self._refuse(commit, digests)
        if reason is not None:
            self.tally[reason] += 1
        return reason is None

    def _refuse(self, commit: str, digests: Digests) -> str | None:
        first = self._picked.setdefault(digests.picked, commit)
        if self.recipe.drops("cherry-pick") and first != commit:
            return "cherry-pick"
        if self.recipe.drops("near-duplicate") and digests.near in self._near:
            return "near-duplicate"
        self._near.add(digests.near)
        self._repeats[digests.content] += 1
        if self.recipe.drops("frequent") and self._repeats[digests.content] > self.recipe.max_repeats:
            return "frequent"
        return None
