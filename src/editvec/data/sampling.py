"""Selection of edits from a file: by id, by number, by text, or at random."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, TypeVar

from editvec.core.edit import Edit
from editvec.core.errors import UserError

Numbered = tuple[int, Edit]
Item = TypeVar("Item")


def select(
    edits: Iterable[Edit],
    *,
    identity: str | None = None,
    number: int = 10,
    seed: int | None = None,
    pattern: str | None = None,
) -> list[Numbered]:
    """Return the selected edits with their numbers in the file, counted from 1.

    `identity` selects a single edit by its id, by an unambiguous prefix of it, or by its number (`#3`). Otherwise the
    result is the first `number` edits whose text contains `pattern` or, with a seed, a random sample of them.

    Raises:
        UserError: No edit, or more than one, matches `identity`.
    """
    numbered = enumerate(edits, 1)
    if identity is not None:
        return [_find(numbered, identity)]
    wanted = ((at, edit) for at, edit in numbered if pattern is None or _contains(edit, pattern))
    if seed is None:
        return list(islice(wanted, number))
    chance = random.Random(seed)
    sample: list[Numbered] = []
    for seen, item in enumerate(wanted):
        if len(sample) < number:
            sample.append(item)
        elif (place := chance.randrange(seen + 1)) < number:
            sample[place] = item
    return sorted(sample, key=lambda item: item[0])


def _contains(edit: Edit, pattern: str) -> bool:
    return pattern in edit.before.text or pattern in edit.after.text


def _find(numbered: Iterable[Numbered], identity: str) -> Numbered:
    if identity.startswith("#"):
        if not identity[1:].isdigit():
            raise UserError(f"{identity}: give a number after the #, such as #3.")
        found = next((item for item in numbered if item[0] == int(identity[1:])), None)
        if found is None:
            raise UserError(f"the file has no edit {identity}. Edits are numbered from 1.")
        return found
    near: list[Numbered] = []
    for at, edit in numbered:
        if edit.id == identity:
            return at, edit
        if edit.id.startswith(identity):
            near.append((at, edit))
    if len(near) == 1:
        return near[0]
    if near:
        raise UserError(
            f"the ids of {len(near)} edits start with {identity!r}. Give a longer id, or a number: #{near[0][0]}."
        )
    raise UserError(f"no edit has the id {identity!r}. To list the ids, run editvec show FILE --json.")


def as_json(edit: Edit) -> dict[str, Any]:
    """Return an edit as JSON values, without empty fields."""
    return {name: value for name, value in asdict(edit).items() if value not in (None, "", ())}


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most `most` items, evenly spaced from the first to the last."""
    if len(items) <= most:
        return list(items)
    return [items[int(number * len(items) / most)] for number in range(most)]
