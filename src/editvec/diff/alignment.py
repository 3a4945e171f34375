"""Alignment of an edit's tokens with the tags of the paper (section 3.2): equal, replaced, added, removed.

The blocks are those of difflib, as in the original code. In a replaced block whose sides differ in size, the tokens
are paired from the left, and the remaining tokens are added or removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein


class Tag(Enum):
    """The kind of change of a token."""

    EQUAL = "="
    REPLACED = "↔"
    ADDED = "+"
    REMOVED = "-"


class Aligned(NamedTuple):
    """One position of the alignment: a tag and the index of the token on each side, or None."""

    tag: Tag
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """The token diff of before and after, in order."""

    positions: tuple[Aligned, ...]

    @property
    def changed(self) -> tuple[Aligned, ...]:
        """Return the positions whose tag is not EQUAL."""
        return tuple(position for position in self.positions if position.tag is not Tag.EQUAL)


def align(before: Sequence[str], after: Sequence[str]) -> Alignment:
    """Return the alignment of two token sequences."""
    positions: list[Aligned] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for operation, low, high, start, end in matcher.get_opcodes():
        common = min(high - low, end - start)
        tag = Tag.EQUAL if operation == "equal" else Tag.REPLACED
        positions += [Aligned(tag, low + k, start + k) for k in range(common)]
        positions += [Aligned(Tag.REMOVED, k, None) for k in range(low + common, high)]
        positions += [Aligned(Tag.ADDED, None, k) for k in range(start + common, end)]
    return Alignment(tuple(positions))


def replay(alignment: Alignment, before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Return `after`, rebuilt from `before` and the alignment.

    `after` is read only where tokens were added or replaced.
    """
    out = []
    for tag, at, new in alignment.positions:
        if tag is Tag.EQUAL and at is not None:
            out.append(before[at])
        elif new is not None:
            out.append(after[new])
    return tuple(out)


def edit_distance(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the Levenshtein distance of two token sequences."""
    return int(Levenshtein.distance(before, after))
