"""Take back what the last run wrote into users' files, as far as it is still there. Nothing else is written."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from editvec.core.errors import UserError
from editvec.core.splice import TextEdit, splice
from editvec.rewrite.journal import (
    MIN_CONTEXT,
    NAME,
    UNDO,
    JournalRun,
    RestoreRecord,
    RunLog,
    UndoneRecord,
    WriteRecord,
    WrittenEdit,
    check_folder,
    digest,
    read_run,
    run_files,
    top_of_files,
)
from editvec.rewrite.occurrences import Occurrences
from editvec.rewrite.writer import write_file
from editvec.vcs.git import open_repository


class Refusal(NamedTuple):
    """Places of a file that were not taken back, and why."""

    path: str
    num_edits: int
    reason: str


@dataclass(slots=True)
class Undone:
    """The result of taking back a run. Without a run to take back, `verb` is empty."""

    verb: str = ""
    time: datetime | None = None
    journal: Path | None = None
    """The file that describes the run."""
    files: list[str] = field(default_factory=list)
    """The files that were written, relative to the top of the work tree."""
    unchanged: list[str] = field(default_factory=list)
    """The files that were already as before the run."""
    refused: list[Refusal] = field(default_factory=list)
    num_edits: int = 0
    """Number of places that were taken back."""

    @property
    def is_over(self) -> bool:
        """Return whether the next undo takes back the run before; a run of which all was refused is tried again."""
        return bool(self.files or self.unchanged)

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "verb": self.verb or None,
            "time": self.time and self.time.isoformat(),
            "num_edits": self.num_edits,
            "files": self.files,
            "unchanged": self.unchanged,
            "refused": [refusal._asdict() for refusal in self.refused],
        }


class RunSummary(NamedTuple):
    """A run that the journal describes."""

    time: datetime
    verb: str
    num_files: int
    num_edits: int
    is_undone: bool

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
        return {**self._asdict(), "time": self.time.isoformat()}


def undo(repo: str | Path = ".") -> Undone:
    """Take back what the last run that has not been undone wrote into the files of `repo`.

    `repo` is any folder of a work tree. Outside a work tree, it is the folder that the run was given. A file that is as
    the run left it gets its old bytes back. In a file that was edited since, each place is taken back whose text and
    whose surroundings are still there, once; the others are refused. A deleted file is refused. A file keeps its mode,
    and a link stays a link. git's index is not changed.

    Raises:
        UserError: `repo` is not a folder, or the journal came with the repository.
        BadInputError: The journal is damaged.
        GitError: git cannot read the repository.

    Example:
        >>> import editvec
        >>> editvec.apply("5", update=True).num_matches
        5
        >>> editvec.undo().num_edits
        5
    """
    top, files = _journal(repo)
    for file in reversed(files):
        run = read_run(file)
        _check_cut_off(top, run)
        if run.pending:
            return _undo_run(top, run)
    return Undone()


def list_runs(repo: str | Path = ".") -> list[RunSummary]:
    """Return the runs that the journal of `repo` describes, the last one first; the parameter is that of `undo`.

    Raises:
        UserError: As in `undo`.
        BadInputError: The journal is damaged.
        GitError: git cannot read the repository.
    """
    _, files = _journal(repo)
    return [_summary(read_run(file)) for file in reversed(files)]


def _summary(run: JournalRun) -> RunSummary:
    paths = {record.path for record in run.writes}
    places = sum(len(record.edits) for record in run.writes)
    return RunSummary(run.time, run.verb, len(paths), places, not run.pending)


def _journal(repo: str | Path) -> tuple[Path, list[Path]]:
    """Return the top of the files that a journal is about, and the files of its runs, the oldest first."""
    place = Path(repo).expanduser()
    if not place.is_dir():
        raise UserError(f"{repo} is not a folder. Give a folder of the work tree with -C.")
    top = top_of_files(place.resolve())
    here = top or place.resolve()
    folder = here / NAME / UNDO
    check_folder(folder)
    files = run_files(folder)
    if files and top is not None and open_repository(top).run("ls-files", "-z", "--", f"{NAME}/{UNDO}"):
        raise UserError(
            f"git tracks files in {folder}, so they may come from somebody else. Remove them with git rm --cached -r."
        )
    return here, files


def _check_cut_off(top: Path, run: JournalRun) -> None:
    """Check that the file of an incomplete last line was not written: the line of a written file is complete.

    Raises:
        BadInputError: The file has changed, so the line was cut off later.
    """
    if run.cut_off is None:
        return
    path, before = run.cut_off
    target, _ = _target(top, path)
    if target is not None and digest(target.read_bytes()) != before:
        raise run.damaged(f"the entry of {path} is cut off")


def _undo_run(top: Path, run: JournalRun) -> Undone:
    by_path: dict[str, list[WriteRecord]] = {}
    for record in run.pending:
        by_path.setdefault(record.path, []).append(record)
    undone = Undone(run.verb, run.time, run.file)
    log = RunLog(run.file, run.size)
    try:
        for path, records in by_path.items():
            _undo_file(top, path, records, run, log, undone)
        if undone.is_over:
            log.add(UndoneRecord())
    finally:
        log.close()
    return undone


def _undo_file(
    top: Path, path: str, records: Sequence[WriteRecord], run: JournalRun, log: RunLog, undone: Undone
) -> None:
    """Take back the writes of one file, and add the outcome to `undone`."""
    num_edits = sum(len(record.edits) for record in records)
    target, reason = _target(top, path)
    if target is None:
        undone.refused.append(Refusal(path, num_edits, reason))
        return
    try:
        data = target.read_bytes()
        if records[-1] is run.pending[-1] and digest(data) == records[-1].before:
            _remove_partial(target)
        if run.restored.get(path) == digest(data):
            undone.unchanged.append(path)
            return
        before, taken, reasons = _earlier(data, records)
        if before != data:
            log.add(RestoreRecord(path, digest(before)))
            write_file(target, data, before)
    except (OSError, UserError) as error:
        undone.refused.append(Refusal(path, num_edits, str(error)))
        return
    if before != data:
        undone.files.append(path)
        undone.num_edits += taken
    elif not reasons:
        undone.unchanged.append(path)
    undone.refused += [Refusal(path, reasons.count(each), each) for each in dict.fromkeys(reasons)]


def _remove_partial(file: Path) -> None:
    """Remove the incomplete copy beside a file that a killed process was about to replace."""
    name = re.compile(rf"\.{re.escape(file.name)}\.[a-z0-9_]{{8}}\.partial\Z")
    for other in file.parent.iterdir():
        if name.match(other.name) and other.is_file() and not other.is_symlink():
            other.unlink(missing_ok=True)


def _target(top: Path, path: str) -> tuple[Path | None, str]:
    """Return the file that a path of the journal stands for, or None and the reason why it is refused.

    The path may have been made up: it must lead, without links, to a file that git could track.
    """
    parts = PurePosixPath(path).parts
    if not parts or Path(path).anchor or PurePosixPath(path).anchor or ".." in parts:
        return None, "the path leads out of the work tree"
    if any(part.casefold().rstrip(". ") in (".git", "git~1", NAME) for part in parts):
        return None, f"undo does not write into .git or {NAME}"
    place = top
    try:
        for part in parts:
            place = place / part
            if place.is_symlink():
                return None, f"{place.relative_to(top).as_posix()} is a symbolic link now"
            if not os.path.lexists(place):
                return None, "the file does not exist any more"
    except ValueError:
        return None, "the path is not the name of a file"
    if not place.is_file():
        return None, "this is not a regular file any more"
    if top_of_files(place.parent) != top_of_files(top):
        return None, "the file belongs to another work tree"
    return place, ""


def _earlier(data: bytes, records: Sequence[WriteRecord]) -> tuple[bytes, int, list[str]]:
    """Return a file's bytes with writes taken back, the number of places, and a reason for each refused place."""
    taken, reasons = 0, []
    for record in reversed(records):
        now = digest(data)
        if now == record.after:
            exact = _exactly(data, record)
            if exact is None:
                reasons += ["the journal does not agree with itself about this file"] * len(record.edits)
            else:
                data, taken = exact, taken + len(record.edits)
        # A file that was not written, because the process was killed, or that somebody restored already.
        elif now != record.before:
            edits, refused = _still_there(data, record.edits)
            data, taken = splice(data, edits), taken + len(edits)
            reasons += refused
    return data, taken, reasons


def _exactly(data: bytes, record: WriteRecord) -> bytes | None:
    """Return the bytes before a write, given the bytes that it wrote; None if the record is wrong."""
    edits = [TextEdit(edit.offset, edit.offset + len(edit.written), edit.stood) for edit in record.edits]
    try:
        before = splice(data, edits)
    except ValueError:
        return None
    return before if digest(before) == record.before else None


def _still_there(data: bytes, edits: Sequence[WrittenEdit]) -> tuple[list[TextEdit], list[str]]:
    """Return the edits that take back those that can be found in the data, and a reason for each of the others."""
    searched = Occurrences(data)
    found: list[TextEdit] = []
    reasons = []
    for edit in edits:
        if len(edit.left) + len(edit.right) < MIN_CONTEXT:
            reasons.append("the file was edited since, and the text around the place occurs elsewhere too")
            continue
        text = edit.left + edit.written + edit.right
        places = searched.find(text)
        if not places:
            reasons.append("the place or the text around it was edited since")
        elif len(places) > 1:
            reasons.append("the file was edited since, and the place is there more than once")
        else:
            start = places[0] + len(edit.left)
            found.append(TextEdit(start, start + len(edit.written), edit.stood))
    found.sort()
    kept: list[TextEdit] = []
    for each in found:
        if kept and each.start < kept[-1].end:
            reasons.append("the place overlaps another one")
        else:
            kept.append(each)
    return kept, reasons
