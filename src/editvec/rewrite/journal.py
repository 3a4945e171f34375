"""The journal of what was written into users' files: on disk before a file is replaced, so that it can be undone.

It is in `.editvec/undo` at the top of the work tree that holds the written file. Outside a work tree, it is in the
folder that the user named and that contains the file, otherwise in the folder of the file. Each run is a file of JSON
lines: what the run is, then one line per write. A line is appended and synced before the user's file is replaced, so
after a kill at any moment a file is either untouched or has its line. Lines are appended because writing the whole
run again for each file would take quadratic time. The folder has a `.gitignore` of its own, so git never adds it.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from errno import EACCES
from hashlib import sha256
from pathlib import Path
from stat import S_IMODE
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from editvec.core.errors import BadInputError, UserError
from editvec.core.files import from_json, to_json, write_atomically
from editvec.core.splice import TextEdit, shrink, splice
from editvec.vcs.git import Repository

if TYPE_CHECKING:
    from editvec.rewrite.occurrences import Occurrences

NAME, UNDO = ".editvec", "undo"
IGNORE, IGNORE_ALL = ".gitignore", b"*\n"
SCHEMA = 1
MAX_RUNS = 20
"""Number of runs that are kept."""
MAX_JOURNAL_BYTES = 64 * 2**20
"""Maximum size of all kept runs; only the last run may be larger."""
MIN_CONTEXT, _MAX_CONTEXT = 32, 1024
"""Number of bytes around a written text, both sides together, that tell it from others."""

_RUN = re.compile(r"(\d{8})-[0-9a-f]{8}\.jsonl\Z")
_CUT_OFF = re.compile(rb'\{"step": ?"write", ?"path": ?("(?:[^"\\]|\\.)*"), ?"before": ?"([0-9a-f]{64})"')
_ADVICE = "Nothing was changed. Move this file away to go on without it."


class RunRecord(msgspec.Struct, frozen=True, tag_field="step", tag="run"):
    """The first line of a run."""

    schema: int
    verb: str
    time: datetime


class WrittenEdit(msgspec.Struct, frozen=True):
    """An edit as it can be found again: what was written at an offset of the new bytes, and what stood there.

    `left` and `right` are the bytes around it. They are empty if no such bytes tell the place from others.
    """

    offset: int
    written: bytes
    stood: bytes
    left: bytes
    right: bytes


class WriteRecord(msgspec.Struct, frozen=True, tag_field="step", tag="write"):
    """The line of a file that is about to be written; `before` and `after` are SHA-256 digests of its bytes."""

    path: str
    before: str
    after: str
    mode: int
    edits: tuple[WrittenEdit, ...]


class RestoreRecord(msgspec.Struct, frozen=True, tag_field="step", tag="restore"):
    """The line of a file that undo is about to write, with the SHA-256 digest of what it writes."""

    path: str
    after: str


class UndoneRecord(msgspec.Struct, frozen=True, tag_field="step", tag="undone"):
    """The line that says that all lines before it have been taken back."""


_Record = RunRecord | WriteRecord | RestoreRecord | UndoneRecord


@dataclass(slots=True)
class JournalRun:
    """A run as the journal describes it."""

    file: Path
    verb: str
    time: datetime
    writes: list[WriteRecord] = field(default_factory=list)
    pending: list[WriteRecord] = field(default_factory=list)
    """The writes that have not been taken back, in order."""
    restored: dict[str, str] = field(default_factory=dict)
    """The digests of the files that an interrupted undo wrote, by path."""
    size: int = 0
    """Number of bytes of the complete lines."""
    cut_off: tuple[str, str] | None = None
    """Path and digest of the file in an incomplete last line, whose file should still have this digest."""

    def damaged(self, reason: str) -> BadInputError:
        """Return the error that says that the last line of the run is damaged."""
        return BadInputError(self.file, len(self.writes) + 2, reason, _ADVICE)


class Journal:
    """The journal of one run of a verb, to be given to `write_file`; used as a context manager.

    `folders` are the files and folders that the user named, which matter only outside a work tree. A run that writes
    nothing leaves no trace.

    Example:
        >>> with Journal("apply", [Path("src")]) as journal:
        ...     write_file(plan.path, plan.before, plan.after, journal, plan.edits)
    """

    def __init__(self, verb: str, folders: Sequence[Path] = ()) -> None:
        self._verb = verb
        self._folders = [folder.resolve() for folder in folders]
        self._logs: dict[Path, RunLog] = {}
        self._tops: dict[Path, Path] = {}

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for top, log in self._logs.items():
            log.close()
            _make_room(top / NAME / UNDO)

    def record(self, file: Path, before: bytes, after: bytes, edits: Sequence[TextEdit] | None = None) -> None:
        """Write down that the bytes of a file are about to be replaced; `file` has no links in it.

        `edits` turn `before` into `after`; the default is one edit of all that differs.

        Raises:
            UserError: The journal cannot be written, so the file must not be written either.
            ValueError: The edits do not turn `before` into `after`.
        """
        if edits is None:
            edits = [TextEdit(0, len(before), after)]
        if splice(before, edits) != after:
            raise ValueError("the edits do not turn the old bytes into the new bytes")
        top = self._top(file.parent)
        record = WriteRecord(
            file.relative_to(top).as_posix(),
            digest(before),
            digest(after),
            S_IMODE(file.stat().st_mode),
            tuple(_written(before, after, edits)),
        )
        try:
            if top in self._logs:
                self._logs[top].add(record)
            else:
                self._logs[top] = RunLog.create(_make_folder(top), self._verb, record)
        except OSError as error:
            raise UserError(f"cannot write the journal of undo in {top / NAME / UNDO} ({error.strerror}).") from None

    def _top(self, folder: Path) -> Path:
        if folder not in self._tops:
            named = [each for each in self._folders if each.is_dir() and folder.is_relative_to(each)]
            self._tops[folder] = top_of_files(folder) or (named[0] if named else folder)
        return self._tops[folder]


class RunLog:
    """The open file of a run, to which lines are appended."""

    def __init__(self, file: Path, size: int) -> None:
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        self._handle = os.open(file, flags)
        self._size = size
        # An incomplete line of a killed process must not become part of the next line.
        os.ftruncate(self._handle, size)

    @classmethod
    def create(cls, folder: Path, verb: str, first: WriteRecord) -> RunLog:
        """Return the log of a new run, with its first write."""
        number = max((int(file.name[:8]) for file in run_files(folder)), default=0) + 1
        file = folder / f"{number:08d}-{secrets.token_hex(4)}.jsonl"
        head = RunRecord(SCHEMA, verb, datetime.now(UTC).replace(microsecond=0))
        data = _line(head) + _line(first)
        write_atomically(file, data)
        _make_room(folder)
        return cls(file, len(data))

    def add(self, record: _Record) -> None:
        """Append a line, and return when it is on the disk; if that fails, nothing is appended."""
        data = _line(record)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._handle, rest) :]
            os.fsync(self._handle)
        except BaseException:
            os.ftruncate(self._handle, self._size)
            raise
        self._size += len(data)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


def digest(data: bytes) -> str:
    """Return the SHA-256 digest of some bytes."""
    return sha256(data).hexdigest()


def top_of_files(folder: Path) -> Path | None:
    """Return the top of the work tree that a folder is in; None outside a work tree and inside `.git`."""
    return Repository(folder, folder.name).top()


def run_files(folder: Path) -> list[Path]:
    """Return the files of the runs in a journal's folder, the oldest first."""
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if _RUN.match(file.name) and not file.is_symlink())


def check_folder(folder: Path) -> None:
    """Check that a journal's folder, which may not exist, is in its place.

    Raises:
        UserError: The folder or its parent is a link, which may have come with the repository, or a file.
    """
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise UserError(f"{place} is a symbolic link, and the journal of undo does not follow links. Remove it.")
        if place.exists() and not place.is_dir():
            raise UserError(f"{place} is a file, where the journal of undo needs a folder. Move it away.")


def read_run(file: Path) -> JournalRun:
    """Return a run of the journal.

    Raises:
        BadInputError: The file is damaged or was written by another version.
    """
    data = file.read_bytes()
    size = data.rfind(b"\n") + 1
    lines = data[:size].split(b"\n")[:-1]
    run: JournalRun | None = None
    for number, line in enumerate(lines, 1):
        try:
            content = from_json(line)
            _check_schema(file, content)
            record: Any = msgspec.convert(content, _Record)
            if (run is None) != isinstance(record, RunRecord):
                raise ValueError("the lines are not in order")
        except (orjson.JSONDecodeError, msgspec.ValidationError, ValueError) as error:
            raise BadInputError(file, number, f"the journal of undo is damaged ({error})", _ADVICE) from None
        if run is None:
            run = JournalRun(file, record.verb, record.time, size=size)
        else:
            _replay(run, record)
    if run is None or not run.writes:
        raise BadInputError(file, None, "the journal of undo is damaged (a line is missing)", _ADVICE)
    if cut := _CUT_OFF.match(data, size):
        with suppress(orjson.JSONDecodeError):
            run.cut_off = from_json(cut[1]), cut[2].decode()
    return run


def _check_schema(file: Path, content: Any) -> None:
    schema = content.get("schema", SCHEMA) if isinstance(content, dict) else SCHEMA
    if schema != SCHEMA:
        reason = f"schema version {schema}, but this version of editvec reads {SCHEMA}"
        raise BadInputError(file, None, reason, _ADVICE)


def _replay(run: JournalRun, record: _Record) -> None:
    if isinstance(record, WriteRecord):
        run.writes.append(record)
        run.pending.append(record)
    elif isinstance(record, RestoreRecord):
        run.restored[record.path] = record.after
    else:
        run.pending.clear()
        run.restored.clear()


def _line(record: _Record) -> bytes:
    return to_json(msgspec.to_builtins(record)) + b"\n"


def _make_folder(top: Path) -> Path:
    folder = top / NAME / UNDO
    check_folder(folder)
    folder.parent.mkdir(exist_ok=True)
    # The journal holds parts of files that other users may not be allowed to read.
    folder.mkdir(mode=0o700, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    if not (folder / IGNORE).is_file():
        write_atomically(folder / IGNORE, IGNORE_ALL)
    return folder


def _make_room(folder: Path) -> None:
    """Remove the oldest runs until the rest is within the limits; the last run is kept."""
    files = run_files(folder)
    sizes = [file.stat().st_size for file in files]
    while len(files) > 1 and (len(files) > MAX_RUNS or sum(sizes) > MAX_JOURNAL_BYTES):
        files.pop(0).unlink(missing_ok=True)
        sizes.pop(0)


def _written(before: bytes, after: bytes, edits: Sequence[TextEdit]) -> Iterator[WrittenEdit]:
    """Yield the edits as they can be found in `after`."""
    # NumPy is loaded only when something is written, so that the language server starts without it.
    from editvec.rewrite.occurrences import Occurrences

    old, new = Occurrences(before), Occurrences(after)
    shift = 0
    for edit in edits:
        small = shrink(before, edit)
        if small is not None:
            start = small.start + shift
            end = start + len(small.text)
            left, right = _context(old, new, after, start, end)
            yield WrittenEdit(start, small.text, before[small.start : small.end], left, right)
        shift += len(edit.text) - (edit.end - edit.start)


def _context(old: Occurrences, new: Occurrences, after: bytes, start: int, end: int) -> tuple[bytes, bytes]:
    """Return the bytes around [start, end) of `after` that make this place unique; none if there are no such bytes.

    The place with these bytes occurs once in the new text and not in the old one, so it cannot be confused with a
    place of a file that was not written.
    """
    size = MIN_CONTEXT
    while size <= _MAX_CONTEXT:
        low = max(0, start - size // 2)
        high = min(len(after), end + size - (start - low))
        low = max(0, start - (size - (high - end)))
        around = start - low + high - end
        place = after[low:high]
        if around < MIN_CONTEXT:
            break
        if new.find(place) == [low] and not old.find(place, 1):
            return after[low:start], after[end:high]
        if around < size:
            break
        size *= 2
    return b"", b""
