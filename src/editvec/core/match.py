"""A match and a suggestion: what proposes, matches, scores, reviews and shows speaks of. Knows no rule and no file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Match(NamedTuple):
    """A place where a rule fires: the bytes [start, end) that it would replace, and by what."""

    rule: str
    start: int
    end: int
    text: str
    """What stands there now."""
    replacement: str | None
    """None for a rule without a fix."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A place in a file where a pattern is still due: the bytes [start, end) of it, and what would stand there."""

    path: str
    line: int
    column: int
    start: int
    end: int
    before: str
    after: str
    confidence: float
    why: str

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {name: getattr(self, name) for name in self.__slots__}
