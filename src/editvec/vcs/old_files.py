"""Files as they were when people edited them, and where in them an edit was made."""

from __future__ import annotations

from dataclasses import dataclass

from editvec.core.edit import Edit
from editvec.syntax.token import encode
from editvec.vcs.git import MAX_TEXT_BYTES, Repository
from editvec.vcs.objects import Blobs

Moment = tuple[str, str]
"""A commit and a path: the file as it was before that commit."""


@dataclass(frozen=True, slots=True)
class FoundEdit:
    """An edit that was found again in its file: its `before` stands at the bytes [start, end)."""

    moment: Moment
    start: int
    end: int


class OldFiles:
    """Old versions of files, read through one git process."""

    def __init__(self, repository: Repository) -> None:
        self._blobs = Blobs(repository, MAX_TEXT_BYTES)
        self._read: dict[Moment, bytes | None] = {}

    def __enter__(self) -> OldFiles:
        return self

    def __exit__(self, *error: object) -> None:
        self._blobs.close()

    def file(self, moment: Moment) -> bytes | None:
        """Return a file as it was before a commit; None where git has none of that name."""
        if moment not in self._read:
            commit, path = moment
            name = f"{commit}^:{path}"
            self._read[moment] = None if "\n" in name else self._blobs.read(encode(name))
        return self._read[moment]

    def find(self, edit: Edit) -> FoundEdit | None:
        """Return where an edit was made; None where its text is not where its source says."""
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
    """Return where a line starts, and where a later one does or the file ends."""
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
