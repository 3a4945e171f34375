"""The filters that need to know what came before: copies of edits, and edits seen too often.

Candidates go through in the order of history, so what is kept of several equal ones is always the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from hashlib import blake2b

from editvec.edit import Edit
from editvec.mining.recipes import Recipe


class Sieve:
    """Drops what is a copy of an earlier edit. Remembers eight bytes an edit and filter."""

    def __init__(self, recipe: Recipe, tally: Counter[str]) -> None:
        self.recipe = recipe
        self.tally = tally
        self._picked: dict[int, int] = {}
        self._near: set[int] = set()
        self._repeats: Counter[int] = Counter()

    def keep(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Those of the edits that are new."""
        for edit in edits:
            reason = self._refuse(edit)
            if reason is None:
                yield edit
            else:
                self.tally[reason] += 1

    def _refuse(self, edit: Edit) -> str | None:
        source = edit.source
        assert source is not None
        commit = _digest(source.commit)
        same = (edit.before.text, edit.after.text)
        name = source.path.rpartition("/")[2]
        copied = self._picked.setdefault(_digest(source.author, source.author_date, name, *same), commit)
        if self.recipe.drops("cherry-pick") and copied != commit:
            return "cherry-pick"
        form = (edit.language, edit.model_before, edit.model_after)
        near = _digest(name, *form, *edit.model_context)
        if self.recipe.drops("near-duplicate") and near in self._near:
            return "near-duplicate"
        self._near.add(near)
        key = _digest(*form)
        self._repeats[key] += 1
        if self.recipe.drops("frequent") and self._repeats[key] > self.recipe.max_repeats:
            return "frequent"
        return None


def _digest(*parts: Hashable) -> int:
    return int.from_bytes(blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).digest())
