"""A plan for a file: its edits, and whether they may be written.

This module knows no rule and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from editvec.core.errors import LimitError
from editvec.core.splice import TextEdit, splice
from editvec.core.text import FileText, line_and_column
from editvec.syntax.cst import num_errors
from editvec.syntax.languages import Language, language_of


@dataclass(frozen=True, eq=False)
class FilePlan:
    """The edits of a file."""

    path: Path | None
    """The path of the file; None for a text that is not a file."""
    before: bytes
    edits: tuple[TextEdit, ...]
    problem: str = ""
    """Why the file must not be written; empty if it may be written."""
    imports: tuple[TextEdit, ...] = ()
    """Edits of imports that come along with the edits; they touch none of them."""

    @property
    def all_edits(self) -> tuple[TextEdit, ...]:
        """Return the edits together with those of imports, in order."""
        return tuple(sorted(self.edits + self.imports))

    @cached_property
    def after(self) -> bytes:
        """Return the bytes of the file after all edits."""
        return splice(self.before, self.all_edits)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "path": None if self.path is None else str(self.path),
            "matches": [self._match(edit) for edit in self.edits],
            **({"imports": [self._match(edit) for edit in self.imports]} if self.imports else {}),
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


def checked(plan: FilePlan) -> FilePlan:
    """Return a plan; if its file must not become what is planned, it says why."""
    language = language_of(plan.path.name) if plan.path is not None else None
    if isinstance(language, Language) and not plan.problem:
        return replace(plan, problem=why_not(language, plan.before, plan.after))
    return plan


def breaks(language: Language, before: bytes, after: bytes) -> bool:
    """Return whether a text parses worse after a change than before it."""
    return num_errors(language, FileText(after).utf8) > num_errors(language, FileText(before).utf8)
