r"""The changes of commits: changed files and their hunks, from git's own line diff. Nothing is checked out.

One process `git diff-tree --stdin` per batch of commits prints raw entries (exact paths and blob ids) and patches
without context lines; its output is parsed as a stream. Content lines of a file always start with `+`, `-` or a
backslash, so a line that starts with `\x01`, `:`, `diff --git` or `@@` comes from git, not from the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, NamedTuple, cast

from editvec.vcs import git

_FORMAT = "%x01%H %at %an%n%w(0,1,1)%B%w(0,0,0) %x01"
"""Format of a commit header; the message is indented by one space, so it cannot be mistaken for git's own lines."""
_READ = 1 << 20
_CUT = re.compile(rb"^(?:\x01|diff --git )", re.M)
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@[^\n]*\n", re.M)
_RAW = re.compile(rb"^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*\t([^\t\n]+)(?:\t([^\n]+))?$", re.M)
_INDEX = re.compile(rb"^index ([0-9a-f]+)\.\.([0-9a-f]+)", re.M)
_NO_NEWLINE = b"\n\\ No newline at end of file\n"
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class Commit(NamedTuple):
    """The metadata of a commit."""

    identity: str
    author: str
    date: datetime
    message: str


class Hunk(NamedTuple):
    """A changed region: 0-based first line and number of lines on both sides, and the changed lines."""

    before: int
    num_before: int
    after: int
    num_after: int
    text: bytes
    """The lines of the patch: removed lines start with `-`, added lines with `+`."""

    def sides(self) -> tuple[list[bytes], list[bytes]]:
        """Return the removed lines and the added lines, without their marks."""
        lines = self.text.split(b"\n")
        return [line[1:] for line in lines if line[:1] == b"-"], [line[1:] for line in lines if line[:1] == b"+"]

    def added(self) -> bytes:
        """Return the added lines as they are in the file."""
        # Removed lines come first. Every line has a mark, except git's note about a missing final newline.
        _, _, added = (b"\n" + self.text).partition(b"\n+")
        return added.removesuffix(_NO_NEWLINE).replace(b"\n+", b"\n")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that a commit modified; it has no hunks if git considers it binary or too large."""

    path: str
    blob_before: bytes
    blob_after: bytes
    hunks: tuple[Hunk, ...]


@dataclass(slots=True)
class CommitChange:
    """A commit and the files that it modified."""

    commit: Commit
    files: list[FileChange] = field(default_factory=list)


class Unreadable(NamedTuple):
    """A commit whose files git could not read because an object is missing."""

    identity: str


def walk(
    repository: git.Repository, commits: Sequence[str], pathspecs: Sequence[str], *, renames: bool
) -> Iterator[CommitChange | Unreadable]:
    """Yield the changes of the commits in order; for a commit with missing objects, yield `Unreadable`."""
    try:
        yield from _walk(repository, commits, pathspecs, renames)
    except _GitFailedError as failure:
        done = failure.seen
        rest = list(commits[commits.index(done) :] if done else commits)
        if len(rest) == 1:
            yield Unreadable(rest[0])
            return
        middle = max(1, len(rest) // 2) if not done else 1
        yield from walk(repository, rest[:middle], pathspecs, renames=renames)
        yield from walk(repository, rest[middle:], pathspecs, renames=renames)


class _GitFailedError(Exception):
    """The error for a git process that stopped early; `seen` is the commit that it was printing."""

    def __init__(self, seen: str | None) -> None:
        super().__init__(seen)
        self.seen = seen


def _walk(
    repository: git.Repository, commits: Sequence[str], pathspecs: Sequence[str], renames: bool
) -> Iterator[CommitChange]:
    process = repository.start(
        "diff-tree",
        "--stdin",
        "-r",
        "--raw",
        "-p",
        "-U0",
        "--inter-hunk-context=0",
        "--full-index",
        "--no-color",
        "--diff-algorithm=myers",
        "--indent-heuristic",
        *(("-M", "-l200", "--diff-filter=MR") if renames else ("--no-renames", "--diff-filter=M")),
        f"--format={_FORMAT}",
        "--",
        *pathspecs,
    )
    try:
        git.feed(process, commits)
        current: CommitChange | None = None
        raw: list[tuple[bytes, bytes, str]] = []
        for piece in _pieces(cast(IO[bytes], process.stdout)):
            if piece.startswith(b"\x01"):
                if current is not None:
                    yield current
                    current = None
                commit, entries = _read_header(piece)
                current, raw = CommitChange(commit), entries
            elif current is not None and (change := _read_file(piece, raw)):
                current.files.append(change)
        if not git.ended_well(process):
            raise _GitFailedError(current.commit.identity if current else None)
        if current is not None:
            yield current
    finally:
        git.stop(process)


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the stream in pieces, split before each commit and each file."""
    buffer = b""
    while chunk := stream.read1(_READ):  # type: ignore[attr-defined]
        buffer += chunk
        # The pattern matches only when the mark is complete and the newline before it is in the buffer.
        cuts = [match.start() for match in _CUT.finditer(buffer) if match.start()]
        start = 0
        for cut in cuts:
            yield buffer[start:cut]
            start = cut
        buffer = buffer[start:]
    if buffer:
        yield buffer


def _read_header(piece: bytes) -> tuple[Commit, list[tuple[bytes, bytes, str]]]:
    head, _, rest = piece[1:].partition(b"\n")
    identity, date, author = head.split(b" ", 2)
    message, _, rest = rest.rpartition(b" \x01")
    commit = Commit(
        identity.decode(),
        author.decode("utf-8", "replace"),
        datetime.fromtimestamp(_seconds(date), UTC),
        re.sub("^ ", "", message.decode("utf-8", "replace"), flags=re.M).strip(),
    )
    entries = []
    for match in _RAW.finditer(rest):
        mode_before, mode_after, before, after, _status, path, renamed = match.groups()
        if mode_before.startswith(b"100") and mode_after.startswith(b"100"):
            entries.append((before, after, unquote(renamed or path)))
    return commit, entries


def _seconds(date: bytes) -> int:
    """Return a date in seconds, clipped to the range of datetime, because some histories hold invalid dates."""
    try:
        return min(max(int(date), 0), 253402300799)
    except ValueError:
        return 0


def _read_file(piece: bytes, entries: list[tuple[bytes, bytes, str]]) -> FileChange | None:
    index = _INDEX.search(piece)
    if index is None:
        return None
    for at, (before, after, path) in enumerate(entries):
        if (before, after) == index.groups():
            del entries[: at + 1]
            return FileChange(path, before, after, _read_hunks(piece))
    return None


def _read_hunks(piece: bytes) -> tuple[Hunk, ...]:
    hunks = []
    heads = list(_HUNK.finditer(piece))
    ends = [head.start() for head in heads[1:]] + [len(piece)]
    for head, end in zip(heads, ends, strict=False):
        start, count, new_start, new_count = head.groups()
        num_before = int(count) if count is not None else 1
        num_after = int(new_count) if new_count is not None else 1
        # For a side without lines, git gives the line before the change, otherwise the first changed line.
        before = int(start) - 1 if num_before else int(start)
        after = int(new_start) - 1 if num_after else int(new_start)
        hunks.append(Hunk(before, num_before, after, num_after, piece[head.end() : end]))
    return tuple(hunks)


def unquote(path: bytes) -> str:
    """Return the path that git printed, either plain or in quotes with C escapes.

    Bytes that are not UTF-8 become surrogates.
    """
    if path.startswith(b'"') and path.endswith(b'"'):

        def plain(match: re.Match[bytes]) -> bytes:
            code = match[1]
            return bytes([int(code, 8) & 255]) if len(code) == 3 else _ESCAPED.get(code, code)

        path = _ESCAPE.sub(plain, path[1:-1])
    return path.decode("utf-8", "surrogateescape")
