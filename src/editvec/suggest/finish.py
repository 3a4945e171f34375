"""Finish an edit that somebody has begun: find the other places in the work tree, and write them on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from editvec.core.edit import Demonstration
from editvec.core.errors import StoppedError, UserError
from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, shrink
from editvec.core.text import FileText
from editvec.data.progress import Stages, silent
from editvec.rewrite.journal import Journal
from editvec.rewrite.plan import FilePlan, checked
from editvec.rewrite.writer import write_file
from editvec.suggest.complete import LIKELY, POSSIBLE, Line, languages_like
from editvec.suggest.document import (
    SCHEMA,
    DemonstrationEntry,
    EditEntry,
    FinishDocument,
    FinishEntry,
    ImportEditEntry,
    VerificationEntry,
)
from editvec.suggest.imports import NO_IMPORTS, ImportChanges, with_imports
from editvec.suggest.session import EditSummary, FinishSession
from editvec.suggest.verify import JudgedPlace, Judgement, suggested_edit
from editvec.suggest.verify import verify as run_verification
from editvec.syntax.token import decode
from editvec.vcs.changes import Changes, read_changes
from editvec.vcs.git import Repository, open_repository, top_of
from editvec.vcs.worktree import File, worktree_files

Decide = Callable[["FinishReview"], None]
"""A function that asks a person about suggestions one after the other."""


@dataclass(slots=True)
class Finished:
    """Where the edits that were shown belong, too."""

    top: Path
    """The top folder of the work tree."""
    edits: list[EditSummary] = field(default_factory=list)
    suggestions: list[Suggestion] = field(default_factory=list)
    """The suggestions, the most certain first."""
    imports: dict[str, ImportChanges] = field(default_factory=dict)
    """The imports that come along with the edits, by the id of the edit."""
    num_changed: int = 0
    """Number of files in which something was changed."""
    num_files: int = 0
    """Number of files that were searched."""
    skipped: Counter[str] = field(default_factory=Counter)
    """The number of files that were not read, by reason."""
    num_written: int = 0
    written: list[str] = field(default_factory=list)
    """The files that were written."""
    problems: list[str] = field(default_factory=list)
    """Reasons why files were not written, one line each."""
    verification: Judgement | None = None
    """What the command said of the likely suggestions, if one judged them."""

    @property
    def likely(self) -> list[Suggestion]:
        """Return the suggestions that are likely."""
        return [each for each in self.suggestions if each.confidence >= LIKELY]

    def plans(self, suggestions: Iterable[Suggestion]) -> list[FilePlan]:
        """Return what suggestions make of the files, sorted by path."""
        by_path: dict[str, list[Suggestion]] = {}
        for each in suggestions:
            by_path.setdefault(each.path, []).append(each)
        return [plan_of(self.top, path, each, self.imports) for path, each in sorted(by_path.items())]

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values; offsets are those of the files' bytes."""
        return dict(to_builtins(self._document()))

    def _document(self) -> FinishDocument:
        return FinishDocument(
            schema=SCHEMA,
            edits=[
                EditEntry(
                    id=edit.id,
                    summary=edit.summary,
                    demonstrations=[DemonstrationEntry(each.path, each.line) for each in edit.demonstrations],
                )
                for edit in self.edits
            ],
            suggestions=[self._entry(each) for each in self.suggestions],
            files=self.num_files,
            skipped=dict(sorted(self.skipped.items())),
            verification=VerificationEntry(**self.verification.as_json()) if self.verification else None,
        )

    def _entry(self, suggestion: Suggestion) -> FinishEntry:
        edit = suggested_edit(FileText((self.top / suggestion.path).read_bytes()), suggestion)
        return FinishEntry(
            edit=suggestion.edit,
            path=suggestion.path,
            line=suggestion.line,
            start=edit.start,
            end=edit.end,
            before=suggestion.before,
            after=decode(edit.text) if edit.text else "",
            confidence=suggestion.confidence,
            likely=suggestion.confidence >= LIKELY,
            reasons=suggestion.why.split(", ") if suggestion.why else [],
            imports=self._imports_of(suggestion),
        )

    def _imports_of(self, suggestion: Suggestion) -> list[ImportEditEntry]:
        """Return the edits of imports that a suggestion needs if it is carried out alone."""
        if not self.imports.get(suggestion.edit):
            return []
        (plan,) = self.plans([suggestion])
        return [
            ImportEditEntry(each.start, each.end, decode(plan.before[each.start : each.end]), decode(each.text))
            for each in plan.imports
        ]


def finish(
    paths: Sequence[str | Path] = (),
    *,
    repo: str | Path = ".",
    changed_since: str | None = None,
    staged: bool = False,
    commit: str | None = None,
    origin: str | Path | None = None,
    edits: Sequence[str] = (),
    refused: Sequence[str] = (),
    min_confidence: float = POSSIBLE,
    most: int | None = None,
    update: bool = False,
    verify: str | None = None,
    decide: Decide | None = None,
    progress: Stages = silent,
) -> Finished:
    """Find where the edits of a work tree belong, too; write only with `update` or `decide`.

    The edits are what differs between HEAD and the files as they are. With `staged`, they are those of the index, with
    `changed_since` those since a branch point, and with `commit` those of a commit, which may be in the repository
    `origin`. `paths` are the files and folders to search; the default is the whole work tree. `edits` are lines,
    FILE:LINE, of the edits to finish; by default all are. `refused` are lines where an edit does not belong.

    Suggestions with a confidence below `min_confidence` are left out, and at most `most` are returned. With `update`,
    the likely ones are written. With `verify`, a command judges them in a scratch copy of the work tree, and those that
    it refuses are not likely any more. `decide` is called with a review that a person goes through.

    Raises:
        UserError: A path, a line or a combination of options is invalid.
        GitError: git cannot read the repository or a revision.

    Example:
        >>> import editvec
        >>> editvec.finish().suggestions
        []
    """
    repository = open_repository(repo)
    top = top_of(repository)
    if origin is not None and commit is None:
        raise UserError("--from names the repository of a commit. Give the commit with --commit.")
    source = open_repository(origin) if origin is not None else repository
    changes = read_changes(source, since=changed_since, staged=staged, commit=commit)
    result = Finished(top, num_changed=len(changes.files), skipped=changes.skipped)
    if not changes.files:
        return result
    files = _files(repository, top, changes, paths, result.skipped, progress)
    no, only = ([_line(each, Path(repo), top) for each in some] for some in (refused, edits))
    session = FinishSession(_demonstrations(changes), files, refused=no, only=only)
    result.num_files = session.num_files
    if decide is not None:
        with Journal("finish", [top]) as journal:
            decide(FinishReview(session, result, journal, min_confidence))
    result.edits = session.edits()
    result.imports = session.imports()
    result.suggestions = session.suggestions(min_confidence)[:most]
    if verify is not None:
        _judge(result, verify, progress)
    return _written(result) if update else result


def _judge(result: Finished, command: str, progress: Stages) -> None:
    """Let a command judge the likely suggestions; those that it refuses or has no time for become possible ones."""
    likely = result.likely
    texts = {path: FileText((result.top / path).read_bytes()) for path in sorted({each.path for each in likely})}
    places = [
        JudgedPlace(each.path, suggested_edit(texts[each.path], each), result.imports.get(each.edit, NO_IMPORTS))
        for each in likely
    ]
    with progress("Verifying", "places") as advance:
        verification = run_verification(result.top, places, command, advance=advance)
    result.verification = verification
    doubted = dict.fromkeys(verification.undecided, "there was no time to verify it") | verification.refused
    for number, message in doubted.items():
        old = likely[number]
        why = f"{old.why}, refused by {command!r}: {message}" if number in verification.refused else message
        new = replace(old, confidence=round(LIKELY - 0.01, 4), why=why)
        result.suggestions[result.suggestions.index(old)] = new
    result.suggestions.sort(key=lambda each: -each.confidence)


def _written(result: Finished) -> Finished:
    """Write the likely suggestions, and return the result."""
    with Journal("finish", [result.top]) as journal:
        try:
            for plan in result.plans(result.likely):
                _write(plan, result, journal)
        except KeyboardInterrupt:
            said = f"written: {', '.join(result.written)}. editvec undo takes this back."
            raise StoppedError(f"stopped; {said if result.written else 'nothing was written.'}") from None
    return result


def _demonstrations(changes: Changes) -> list[Demonstration]:
    return [
        Demonstration(file.path, FileText(file.before).utf8, FileText(file.after).utf8)
        for file in changes.files
        if file.before is not None and file.after is not None
    ]


def _files(
    repository: Repository,
    top: Path,
    changes: Changes,
    paths: Sequence[str | Path],
    skipped: Counter[str],
    progress: Stages,
) -> list[File]:
    """Return the files to search: those of the same kinds as the changed files, below `paths` if any are given."""
    for path in paths:
        if not Path(path).exists():
            raise UserError(f"{path} does not exist. Give files or folders.")
    wanted = [Path(path).resolve() for path in paths]
    languages, endings = languages_like(file.path for file in changes.files)
    found = []
    with progress("Reading", "files") as advance:
        for file in worktree_files(repository, languages, endings=endings, tally=skipped):
            if not wanted or any((top / file.path).resolve().is_relative_to(each) for each in wanted):
                found.append(file)
                advance(len(found), len(found), 0)
    return found


def _line(text: str, base: Path, top: Path) -> Line:
    """Return the path, relative to the top of the work tree, and the line that FILE:LINE names."""
    name, colon, number = text.rpartition(":")
    if not colon or not number.isdigit() or not int(number):
        raise UserError(f"{text} is not FILE:LINE. Give a file and a line, such as src/app.py:12.")
    path = (base / name).resolve()
    if not path.is_relative_to(top):
        raise UserError(f"{name} is not in the work tree {top}. Give a file in it.")
    return path.relative_to(top).as_posix(), int(number)


def plan_of(top: Path, path: str, suggestions: Sequence[Suggestion], imports: Mapping[str, ImportChanges]) -> FilePlan:
    """Return what suggestions for a file make of it; what would break its syntax is refused.

    `imports` are the imports that come along, by the id of the shown edit.
    """
    data = (top / path).read_bytes()
    source = FileText(data)
    edits: list[TextEdit] = []
    try:
        for each in sorted(suggestions, key=lambda each: each.start):
            edit = shrink(data, suggested_edit(source, each))
            if edit is not None:
                edits.append(edit)
    except UnicodeEncodeError as error:
        problem = f"its encoding {source.codec} cannot represent {error.object[error.start : error.end]!r}"
        return FilePlan(top / path, data, (), problem)
    changes = NO_IMPORTS
    for name in sorted({each.edit for each in suggestions}):
        changes |= imports.get(name, NO_IMPORTS)
    return checked(with_imports(FilePlan(top / path, data, tuple(edits)), path, changes))


def _write(plan: FilePlan, result: Finished, journal: Journal) -> bool:
    """Write a file, and record it in the result; return whether it was written."""
    assert plan.path is not None
    name = plan.path.relative_to(result.top).as_posix()
    if plan.problem:
        result.problems.append(f"{name}: not written: {plan.problem}.")
        return False
    try:
        write_file(plan.path, plan.before, plan.after, journal, plan.all_edits)
    except (OSError, UserError) as error:
        result.problems.append(f"{name}: not written: {error}")
        return False
    result.num_written += len(plan.edits)
    if name not in result.written:
        result.written.append(name)
    return True


class FinishReview:
    """A review of suggestions by a person: every answer is written at once, and the rest is scored again."""

    def __init__(self, session: FinishSession, result: Finished, journal: Journal, minimum: float) -> None:
        self._session, self._result, self._journal, self._minimum = session, result, journal, minimum
        self._last: list[tuple[Suggestion, bytes]] = []

    @property
    def top(self) -> Path:
        """Return the top folder of the work tree."""
        return self._result.top

    def remaining(self) -> list[Suggestion]:
        """Return the suggestions that are still open, the most certain first."""
        return self._session.suggestions(self._minimum)

    def plan(self, suggestion: Suggestion) -> FilePlan:
        """Return what a suggestion makes of its file."""
        return plan_of(self.top, suggestion.path, [suggestion], self._session.imports())

    def accept(self, suggestion: Suggestion, edit: TextEdit | None = None) -> str:
        """Write a suggestion, or another edit in its place, and return the reason if that is not possible."""
        plan = self.plan(suggestion)
        if edit is not None:
            changes = self._session.imports().get(suggestion.edit, NO_IMPORTS)
            plan = with_imports(FilePlan(plan.path, plan.before, (edit,), plan.problem), suggestion.path, changes)
        if plan.problem or not _write(plan, self._result, self._journal):
            return plan.problem or self._result.problems[-1]
        self._session.accept(suggestion, FileText(plan.after).utf8)
        self._last.append((suggestion, plan.before))
        return ""

    def refuse(self, suggestion: Suggestion) -> None:
        """Count a suggestion as a place where the edit does not belong."""
        self._session.refuse(suggestion)
        self._last.append((suggestion, b""))

    def mute(self, suggestion: Suggestion) -> None:
        """Suggest nothing more for the edit of this suggestion."""
        self._session.mute(suggestion.edit)

    def back(self) -> bool:
        """Take back the last answer; return False if there is none."""
        if not self._last:
            return False
        suggestion, before = self._last.pop()
        path = self.top / suggestion.path
        if before:
            write_file(path, path.read_bytes(), before, self._journal)
            self._result.num_written -= 1
        self._session.back()
        return True
