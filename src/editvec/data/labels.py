"""What kind of edit an edit is, where somebody said so: how the label of a labelled edit is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from editvec.core.edit import Edit
from editvec.core.errors import UserError


def _prefix(edit: Edit) -> str:
    return edit.id.rpartition("_")[0]


LABELS: Mapping[str, tuple[str, Callable[[Edit], str]]] = {
    "label": ("the label that the edit file gives", lambda edit: edit.label),
    "id": ("what stands before the last underscore of the id, as in C#Fixers", _prefix),
    "project": ("the repository", lambda edit: edit.source.repository if edit.source else ""),
    "language": ("the language", lambda edit: edit.language),
}


def label_of(edit: Edit, how: str = "id") -> str:
    """The label of an edit; empty where it has none."""
    if how not in LABELS:
        raise UserError(f"no way {how!r} to find a label. There are: {', '.join(LABELS)}.")
    return LABELS[how][1](edit)
