"""Finish an edit that somebody has begun: find the other places in the work tree, and write them on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from msgspec import to_builtins

from editvec.core.edit import Demonstration
from editvec.core.errors import UserError
from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, shrink
from editvec.core.text import FileText
from editvec.data.progress import Stages, silent
from editvec.data.project import project_of
from editvec.rewrite.journal import Journal
from editvec.rewrite.plan import FilePlan, breaks
from editvec.rewrite.writer import write_file
from editvec.suggest.complete import LIKELY, POSSIBLE, Line, languages_like
from editvec.suggest.document import SCHEMA, DemonstrationEntry, EditEntry, FinishDocument, FinishEntry
from editvec.suggest.session import EditSummary, FinishSession
from editvec.syntax.languages import Language, language_of
from editvec.syntax.token import decode
from editvec.vcs.changes import Changes, read_changes
from editvec.vcs.git import Repository, open_repository, work_tree
from editvec.vcs.worktree import File, below_top, worktree_files


class WriteTally(Protocol):
    """What is known of the files that were written."""

    top: Path
    num_written: int
    written: list[str]
    problems: list[str]


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

    @property
    def likely(self) -> list[Suggestion]:
        """Return the suggestions that are likely."""
        return [each for each in self.suggestions if each.confidence >= LIKELY]

    def plans(self, suggestions: Iterable[Suggestion]) -> list[FilePlan]:
        """Return what suggestions make of the files, sorted by path."""
        return plans_of(self.top, suggestions)

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
        )

    def _entry(self, suggestion: Suggestion) -> FinishEntry:
        edit = text_edit(FileText((self.top / suggestion.path).read_bytes()), suggestion)
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
        )


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
    min_confidence: float | None = None,
    force_exclude: bool = False,
    config: Path | None = None,
    isolated: bool = False,
    most: int | None = None,
    update: bool = False,
    possible: bool = False,
    decide: Decide | None = None,
    progress: Stages = silent,
) -> Finished:
    """Find where the edits of a work tree belong, too; write only with `update` or `decide`.

    The edits are what differs between HEAD and the files as they are. With `staged`, they are those of the index, with
    `changed_since` those since a branch point, and with `commit` those of a commit, which may be in the repository
    `origin`. `paths` are the files and folders to search; the default is the whole work tree. `edits` are lines,
    FILE:LINE, of the edits to finish; by default all are. `refused` are lines where an edit does not belong.

    Suggestions with a confidence below `min_confidence` (by default, 0.3 or what the settings say) are left out, and at
    most `most` are returned. `config`, `isolated` and `force_exclude` are as in `find`. With `update`, the likely ones
    are written, and with `possible` all of them. `decide` is called with a review that a person goes through.

    Raises:
        UserError: A path, a line or a combination of options is invalid.
        GitError: git cannot read the repository or a revision.

    Example:
        >>> import editvec
        >>> editvec.finish().suggestions
        []
    """
    repository, project = open_repository(repo), project_of(repo, config, isolated)
    top, limits = _top(repository, repo), below_top(repository, paths)
    covers = project.chosen(limits, force_exclude=force_exclude)
    changes = _changes(repository, origin, changed_since, staged, commit)
    result = Finished(top, num_changed=len(changes.files), skipped=changes.skipped)
    if not changes.files:
        return result
    least = project.min_confidence((), min_confidence, POSSIBLE)
    session = FinishSession(
        _demonstrations(changes),
        _files(repository, changes, limits, covers, result.skipped, progress),
        project=project,
        refused=[_line(each, Path(repo), top) for each in refused],
        only=[_line(each, Path(repo), top) for each in edits],
    )
    _decide(session, result, least, decide)
    result.suggestions = session.suggestions(least)[:most]
    if update:
        write_suggestions(result, result.suggestions if possible else result.likely, "finish")
    return result


def _decide(session: FinishSession, result: Finished, least: float, decide: Decide | None) -> None:
    if decide is not None:
        with Journal("finish", [result.top]) as journal:
            decide(FinishReview(session, result, journal, least))
    result.num_files, result.edits = session.num_files, session.edits()


def _changes(
    repository: Repository, origin: str | Path | None, since: str | None, staged: bool, commit: str | None
) -> Changes:
    if origin is not None and commit is None:
        raise UserError("--from names the repository of a commit. Give the commit with --commit.")
    source = open_repository(origin) if origin is not None else repository
    return read_changes(source, since=since, staged=staged, commit=commit)


def write_suggestions(result: WriteTally, suggestions: Iterable[Suggestion], verb: str) -> None:
    """Write suggestions to their files, and record in the result what was written; `verb` is named in the journal."""
    with Journal(verb, [result.top]) as journal:
        for plan in plans_of(result.top, suggestions):
            _write(plan, result, journal)


def _top(repository: Repository, given: str | Path) -> Path:
    top = work_tree(repository)
    if top is None:
        raise UserError(f"{given} is a bare repository without files to change. Give a clone with -C.")
    return top


def _demonstrations(changes: Changes) -> list[Demonstration]:
    return [
        Demonstration(file.path, FileText(file.before).utf8, FileText(file.after).utf8)
        for file in changes.files
        if file.before is not None and file.after is not None
    ]


def _files(
    repository: Repository,
    changes: Changes,
    paths: Sequence[str],
    covers: Callable[[str], bool],
    skipped: Counter[str],
    progress: Stages,
) -> list[File]:
    """Return the files to search: those of the same kinds as the changed files, below `paths` if any are given."""
    languages, endings = languages_like(file.path for file in changes.files)
    found = []
    with progress("Reading", "files") as advance:
        for file in worktree_files(repository, languages, endings=endings, paths=paths, covers=covers, tally=skipped):
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


def text_edit(source: FileText, suggestion: Suggestion) -> TextEdit:
    """Return a suggestion as an edit of a file's bytes."""
    return source.edit(suggestion.start, suggestion.end, suggestion.after)


def plans_of(top: Path, suggestions: Iterable[Suggestion]) -> list[FilePlan]:
    """Return what suggestions make of the files of a work tree, sorted by path."""
    by_path: dict[str, list[Suggestion]] = {}
    for each in suggestions:
        by_path.setdefault(each.path, []).append(each)
    return [plan_of(top, path, each) for path, each in sorted(by_path.items())]


def plan_of(top: Path, path: str, suggestions: Iterable[Suggestion]) -> FilePlan:
    """Return what suggestions for a file make of it; what would break its syntax is refused."""
    data = (top / path).read_bytes()
    source = FileText(data)
    edits: list[TextEdit] = []
    try:
        for each in sorted(suggestions, key=lambda each: each.start):
            edit = shrink(data, text_edit(source, each))
            if edit is not None:
                edits.append(edit)
    except UnicodeEncodeError as error:
        problem = f"its encoding {source.codec} cannot represent {error.object[error.start : error.end]!r}"
        return FilePlan(top / path, data, (), problem)
    plan = FilePlan(top / path, data, tuple(edits))
    language = language_of(path)
    if isinstance(language, Language) and breaks(language, data, plan.after):
        return FilePlan(top / path, data, tuple(edits), "it would parse worse than before")
    return plan


def _write(plan: FilePlan, result: WriteTally, journal: Journal) -> bool:
    """Write a file, and record it in the result; return whether it was written."""
    assert plan.path is not None
    name = plan.path.relative_to(result.top).as_posix()
    if plan.problem:
        result.problems.append(f"{name}: not written: {plan.problem}.")
        return False
    try:
        write_file(plan.path, plan.before, plan.after, journal, plan.edits)
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
        return plan_of(self.top, suggestion.path, [suggestion])

    def accept(self, suggestion: Suggestion, edit: TextEdit | None = None) -> str:
        """Write a suggestion, or another edit in its place, and return the reason if that is not possible."""
        plan = self.plan(suggestion)
        if edit is not None:
            plan = FilePlan(plan.path, plan.before, (edit,), plan.problem)
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
