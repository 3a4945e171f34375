"""Choose edits of a file to show, optionally with the actions that build their trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.data.sampling import as_json, select
from editvec.neural.grammar import SourceTree, UnseenError, derive, edit_trees
from editvec.ui.explain import grammar_of, tell

_GRAMMAR_EDITS = 1000
"""Number of edits of a file from which the grammar of a derivation is learned."""


@dataclass(frozen=True, slots=True)
class ShownEdit:
    """An edit with its number in its file."""

    number: int
    edit: Edit
    actions: list[str] | None = None
    """The actions that build the tree after, in words, or None if they were not requested."""

    def as_json(self) -> dict[str, Any]:
        """Return the edit as JSON values."""
        found = {"number": self.number, **as_json(self.edit)}
        return found if self.actions is None else {**found, "actions": self.actions}


def show(
    file: str | Path,
    edit: str | None = None,
    *,
    number: int = 10,
    random: bool = False,
    seed: int = 0,
    like: str | None = None,
    actions: bool = False,
    damage: edit_files.Damage | None = None,
) -> list[ShownEdit]:
    """Return edits of a file: one by its id or number (#3), or the first ones, or a random sample.

    With `like`, only edits whose text contains it are returned. With `actions`, each edit has the actions that build
    its tree. If `damage` is given, damaged lines are skipped and recorded in it.

    Raises:
        UserError: There is no such edit.
        BadInputError: The file is damaged, and `damage` is not given.

    Examples:
        >>> import editvec
        >>> for each in editvec.show("edits.jsonl.gz", number=1, like="Assert"):
        ...     print(each.number, each.edit.before.text)
        2 Assert.Equal(0, cart.Items.Count);
    """
    chosen = select(
        edit_files.read(file, damage=damage),
        identity=edit,
        number=number,
        seed=seed if random else None,
        pattern=like,
    )
    derivations = _derivations(file, [found for _, found in chosen]) if actions else [None] * len(chosen)
    return [ShownEdit(at, found, lines) for (at, found), lines in zip(chosen, derivations, strict=True)]


def _derivations(file: str | Path, edits: Sequence[Edit]) -> list[list[str] | None]:
    """Return the actions of each edit in words, or one line with the reason if it has none."""
    grammar = grammar_of([*edits, *islice(edit_files.read(file, damage=edit_files.Damage()), _GRAMMAR_EDITS)])
    told: list[list[str] | None] = []
    for edit in edits:
        try:
            before, after = edit_trees(edit)
            source = SourceTree.of(before)
            told.append(tell(grammar, source, derive(grammar, source, after)))
        except UnseenError as error:
            told.append([f"no derivation: {error}"])
    return told
