"""Labels of edits: the ways to determine the label of a labelled edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from editvec.core.edit import Edit
from editvec.core.errors import UserError


def _prefix(edit: Edit) -> str:
    return edit.id.rpartition("_")[0]


LABELS: Mapping[str, tuple[str, Callable[[Edit], str]]] = {
    "label": ("the label in the edit file", lambda edit: edit.label),
    "id": ("the part of the id before the last underscore, as in C#Fixers", _prefix),
    "project": ("the repository", lambda edit: edit.source.repository if edit.source else ""),
    "language": ("the language", lambda edit: edit.language),
}


def label_of(edit: Edit, how: str = "id") -> str:
    """Return the label of an edit; empty if it has none.

    Raises:
        UserError: `how` is not one of `LABELS`.
    """
    if how not in LABELS:
        raise UserError(f"unknown label {how!r}. Choose one of: {', '.join(LABELS)}.")
    return LABELS[how][1](edit)
