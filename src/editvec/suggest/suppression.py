"""Places where people want no suggestion: comments in the files, and patterns that the project's settings mute.

A comment `editvec: ignore[NAME, ...]` on a line of its own is for the next line, behind code it is for its own line.
`editvec: ignore-file[NAME, ...]` is for the whole file. Without names, it is for every pattern. A name is the id or the
name of a pattern, or the id of an edit of `finish`. Only real comments count, never text that looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from editvec.core.text import line_of, line_starts
from editvec.data.project import Project
from editvec.syntax.comments import Comment, comments_of
from editvec.vcs.worktree import File

_MARK = b"editvec:"
_SUPPRESSION = re.compile(rb"(?:^\W*|[#;/%]\s*)editvec:\s*ignore(-file)?(?:\[([^\]\n]*)\]|(?![-\w]))")


class SuppressionComment(NamedTuple):
    """A comment that suppresses patterns."""

    line: int
    """The line of the comment, counted from 1."""
    target: int | None
    """The line that it is for, counted from 1; None for the whole file."""
    names: frozenset[str]
    """The names and ids of the patterns; empty for all."""

    def covers(self, names: Collection[str], first: int, last: int) -> bool:
        """Return whether it is for a pattern with these names in the lines [first, last]."""
        if self.target is not None and not first <= self.target <= last:
            return False
        return not self.names or not self.names.isdisjoint(names)


@dataclass(frozen=True, slots=True)
class Silence:
    """The reason why nothing is suggested at a place."""

    comment: SuppressionComment | None = None
    """The comment in the file; None if the project's settings are the reason."""
    reason: str = ""

    @property
    def text(self) -> str:
        """Return the reason in words."""
        if self.comment is not None:
            return f"a comment in line {self.comment.line}"
        return f"muted in the settings{f': {self.reason}' if self.reason else ''}"


@lru_cache(64)
def suppressions_in(language: str, data: bytes) -> tuple[SuppressionComment, ...]:
    """Return the comments of a UTF-8 text that suppress patterns, in order."""
    if _MARK not in data:
        return ()
    comments = comments_of(language, data)
    found = []
    for comment in comments:
        for match in _SUPPRESSION.finditer(data[comment.start : comment.end]):
            whole, listed = match[1] is not None, match[2]
            names = frozenset(name.strip() for name in (listed or b"").decode(errors="replace").split(","))
            if listed is not None and not names - {""}:
                continue
            target = None if whole else _target(comment, comments, data) + 1
            found.append(SuppressionComment(comment.first + 1, target, names - {""}))
    return tuple(found)


def _target(comment: Comment, comments: Iterable[Comment], data: bytes) -> int:
    """Return the line that a comment is for: its own or, if it stands alone, the next line of code."""
    if not comment.alone:
        return comment.first
    taken = {line for each in comments if each.alone for line in range(each.first, each.last + 1)}
    starts = line_starts(data)
    for line in range(comment.last + 1, len(starts) - 1):
        if line not in taken and data[starts[line] : starts[line + 1]].strip():
            return line
    return comment.last


def silence_of(project: Project, names: Collection[str], file: File, start: int, end: int) -> Silence | None:
    """Return why nothing is to be suggested at the bytes [start, end) of a file; None if nothing speaks against it.

    `names` are the names and ids of the pattern or of the edit. `file` has its path relative to the top of the work
    tree.
    """
    if comments := suppressions_in(file.language, file.data):
        starts = line_starts(file.data)
        first, last = line_of(starts, start) + 1, line_of(starts, max(start, end - 1)) + 1
        for each in comments:
            if each.covers(names, first, last):
                return Silence(each)
    entry = project.muted(names, file.path)
    return None if entry is None else Silence(reason=entry.reason)


@dataclass(frozen=True, slots=True)
class UnusedSuppression:
    """A name in a suppression comment that suppresses nothing."""

    path: str
    line: int
    name: str
    """The name or the id in the comment; empty for a comment that is for all patterns."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"path": self.path, "line": self.line, "name": self.name}


def unused_in(
    file: File, ran: Iterable[Collection[str]], used: Iterable[tuple[SuppressionComment, Collection[str]]]
) -> list[UnusedSuppression]:
    """Return the suppressions of a file that suppressed nothing.

    `ran` has the names of each pattern that was searched for in the file, `used` the comments that suppressed
    something, with the names of the pattern. Names of patterns that were not searched for are not judged.
    """
    known = frozenset(name for names in ran for name in names)
    needed: dict[SuppressionComment, set[str]] = {}
    for comment, names in used:
        needed.setdefault(comment, set()).update(names)
    found = []
    for comment in suppressions_in(file.language, file.data):
        if not comment.names and comment not in needed:
            found.append(UnusedSuppression(file.path, comment.line, ""))
        unused = (comment.names & known) - needed.get(comment, set())
        found += [UnusedSuppression(file.path, comment.line, name) for name in sorted(unused)]
    return found
