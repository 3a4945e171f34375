"""A plan for a file: its edits, and whether they may be written.

This module knows no rule and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from editvec.core.errors import LimitError
from editvec.core.splice import TextEdit, splice
from editvec.core.text import FileText, line_and_column
from editvec.syntax.cst import num_errors
from editvec.syntax.languages import Language


@dataclass(frozen=True, eq=False)
class FilePlan:
    """The edits of a file."""

    path: Path | None
    """The path of the file; None for a text that is not a file."""
    before: bytes
    edits: tuple[TextEdit, ...]
    problem: str = ""
    """Why the file must not be written; empty if it may be written."""

    @cached_property
    def after(self) -> bytes:
        """Return the bytes of the file after the edits."""
        return splice(self.before, self.edits)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "path": None if self.path is None else str(self.path),
            "matches": [self._match(edit) for edit in self.edits],
        }

    def _match(self, edit: TextEdit) -> dict[str, Any]:
        line, column = line_and_column(self.before, edit.start)
        return {
            "start": edit.start,
            "end": edit.end,
            "line": line,
            "column": column,
            "before": self.before[edit.start : edit.end].decode(errors="replace"),
            "after": edit.text.decode(errors="replace"),
        }


def why_not(language: Language, before: bytes, after: bytes) -> str:
    """Return why a file must not become `after`: it would parse worse, or takes too long to parse; empty if it may."""
    try:
        return "it would parse worse than before" if breaks(language, before, after) else ""
    except LimitError as error:
        return str(error).rstrip(".")


def breaks(language: Language, before: bytes, after: bytes) -> bool:
    """Return whether a text parses worse after a change than before it."""
    return num_errors(language, FileText(after).utf8) > num_errors(language, FileText(before).utf8)
