"""The filters that need to know what came before: copies of edits, and edits seen too often.

Candidates go through in the order of history, so what is kept of several equal ones is always the first. What is
compared are digests of eight bytes, made where the edit was cut, so that the deduplication never sees the edits
themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from hashlib import blake2b
from typing import NamedTuple

from editvec.core.edit import Edit
from editvec.mining.recipes import Recipe


class Digests(NamedTuple):
    """What tells whether an edit is a copy of another one."""

    picked: int
    """The same author, moment, file name and text: a cherry-pick, if the commit is another."""
    near: int
    """The same canonical edit in the same canonical surroundings in a file of the same name."""
    form: int
    """The same canonical edit."""


def digest(edit: Edit) -> Digests:
    """An edit's digests."""
    source = edit.source
    assert source is not None
    name = source.path.rpartition("/")[2]
    moment = source.author_date.timestamp() if source.author_date else 0
    form = (edit.language, edit.model_before, edit.model_after)
    return Digests(
        _digest(source.author, moment, name, edit.before.text, edit.after.text),
        _digest(name, *form, *edit.model_context),
        _digest(*form),
    )


def _digest(*parts: Hashable) -> int:
    return int.from_bytes(blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).digest())


class Deduplicator:
    """Drops what is a copy of an earlier edit."""

    def __init__(self, recipe: Recipe, tally: Counter[str]) -> None:
        self.recipe = recipe
        self.tally = tally
        self._picked: dict[int, str] = {}
        self._near: set[int] = set()
        self._repeats: Counter[int] = Counter()

    def keeps(self, commit: str, digests: Digests) -> bool:
        """Whether an edit is new; if not, the reason is tallied."""
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
        self._repeats[digests.form] += 1
        if self.recipe.drops("frequent") and self._repeats[digests.form] > self.recipe.max_repeats:
            return "frequent"
        return None
