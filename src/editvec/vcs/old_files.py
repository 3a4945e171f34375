"""Old versions of files, and the positions of mined edits in them."""

from __future__ import annotations

from dataclasses import dataclass

from editvec.core.edit import Edit
from editvec.syntax.token import encode
from editvec.vcs.git import MAX_TEXT_BYTES, Repository
from editvec.vcs.objects import Blobs

Moment = tuple[str, str]
"""A commit and a path; they identify the version of the file before that commit."""


@dataclass(frozen=True, slots=True)
class FoundEdit:
    """An edit located in its old file: the text before the edit is at the bytes [start, end)."""

    moment: Moment
    start: int
    end: int


class OldFiles:
    """A reader of old versions of files through one git process."""

    def __init__(self, repository: Repository) -> None:
        self._blobs = Blobs(repository, MAX_TEXT_BYTES)
        self._read: dict[Moment, bytes | None] = {}

    def __enter__(self) -> OldFiles:
        return self

    def __exit__(self, *error: object) -> None:
        self._blobs.close()

    def file(self, moment: Moment) -> bytes | None:
        """Return the content of a file before a commit, or None if git has no such file."""
        if moment not in self._read:
            commit, path = moment
            self._read[moment] = self._content(f"{commit}^:{path}")
        return self._read[moment]

    def file_after(self, moment: Moment) -> bytes | None:
        """Return the content of a file after a commit, or None if git has no such file."""
        commit, path = moment
        return self._content(f"{commit}:{path}")

    def _content(self, name: str) -> bytes | None:
        return None if "\n" in name else self._blobs.read(encode(name))

    def find(self, edit: Edit) -> FoundEdit | None:
        """Return the position of an edit in its old file, or None if its text is not at the lines of its source."""
        source = edit.source
        if source is None or not source.commit or source.lines_before is None:
            return None
        moment = source.commit, source.path
        data = self.file(moment)
        if data is None:
            return None
        first, last = source.lines_before
        starts = _line_starts(data, first, last + 1)
        text = encode(edit.before.text)
        start = data.find(text, starts[0], starts[1] + 1) if starts and text else -1
        return FoundEdit(moment, start, start + len(text)) if start >= 0 else None


def _line_starts(data: bytes, first: int, behind: int) -> tuple[int, int] | None:
    """Return the offsets of the lines `first` and `behind`, counted from 1; None if `first` is not in the file.

    If the file ends before the line `behind`, the second offset is that of the end of the file.
    """
    at = 0
    low = 0
    for line in range(1, behind):
        if line == first:
            low = at
        end = data.find(b"\n", at)
        if end < 0:
            return (low, len(data)) if line >= first else None
        at = end + 1
    return low, at
