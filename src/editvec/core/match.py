"""Matches and suggestions: the types used to propose, match, score, review and display changes.

This module knows neither rules nor files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Match(NamedTuple):
    """A match of a rule: the bytes [start, end) that the rule would replace, and their replacement."""

    rule: str
    start: int
    end: int
    text: str
    """The current text of the match."""
    replacement: str | None
    """The text to write instead; None for a rule without a fix."""


class ImportEdit(NamedTuple):
    """An edit of an import that comes along with a suggestion: the bytes [start, end) become `after`."""

    start: int
    end: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A span of a file where a pattern has not been applied yet.

    The span is the bytes [start, end). `before` is its current text and `after` the suggested text.
    """

    path: str
    line: int
    column: int
    start: int
    end: int
    before: str
    after: str
    confidence: float
    why: str
    edit: str = ""
    """The id of the shown edit that is suggested; empty for a pattern."""
    imports: tuple[ImportEdit, ...] = ()
    """Edits of imports in the same file that come along."""

    def as_json(self) -> dict[str, Any]:
        """Return the suggestion as a dictionary of its fields, for JSON output; `edit` only if there is one."""
        found = {name: getattr(self, name) for name in self.__slots__ if name != "edit" or self.edit}
        return found | {"imports": [each._asdict() for each in self.imports]}
