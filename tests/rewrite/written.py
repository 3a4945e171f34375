"""Writes with a journal, as tests of undo make them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from editvec.core.splice import TextEdit, splice
from editvec.rewrite.journal import Journal
from editvec.rewrite.writer import write_file

LINES = [b"line %d says %d.\n" % (number, number * number * 7919) for number in range(40)]
"""Lines that differ."""


def replace(top: Path, files: dict[str, tuple[bytes, Sequence[TextEdit]]], verb: str = "finish") -> None:
    """Write the edits of files in one run."""
    with Journal(verb) as journal:
        for name, (before, edits) in files.items():
            write_file(top / name, before, splice(before, edits), journal, edits)


def at(text: bytes, old: bytes, new: bytes) -> TextEdit:
    """The edit of a part that occurs once."""
    assert text.count(old) == 1
    return TextEdit(text.index(old), text.index(old) + len(old), new)
