"""Places where patterns that `learn` found are due, in one text or in all files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, compose, splice
from editvec.core.text import FileText
from editvec.data.project import Project
from editvec.patterns.find import find_suggestions
from editvec.patterns.folder import PATTERNS, load
from editvec.patterns.pattern import Pattern
from editvec.rewrite.journal import NAME
from editvec.suggest.complete import LIKELY
from editvec.ui.lsp.tree import stamp_of
from editvec.vcs.worktree import File

_MAX_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class DuePlace:
    """A place where a learned pattern has not been applied yet."""

    pattern: Pattern
    suggestion: Suggestion

    @property
    def is_likely(self) -> bool:
        """Return whether the place is likely to be edited."""
        return self.suggestion.confidence >= LIKELY


@dataclass(frozen=True, slots=True)
class DueFile:
    """A text that was searched, with the places where patterns are due."""

    data: bytes
    places: Sequence[DuePlace]


class LearnedPatterns:
    """The patterns of a work tree, read again when they are learned again."""

    def __init__(self, top: Path, folder: str = "") -> None:
        self.folder = top / folder if folder else top / NAME
        self._top, self._is_given = top, bool(folder)
        self.num_reads = 0
        """Number of times that the patterns were read."""
        self._stamp: tuple[int, ...] | None = None
        self._patterns: list[Pattern] = []

    def follow(self, project: Project) -> None:
        """Use the folder that the settings of the project name, unless the editor's settings name one."""
        folder = self.folder if self._is_given else project.patterns_folder or self._top / NAME
        if folder != self.folder:
            self.folder, self._stamp = folder, None

    def patterns(self) -> list[Pattern]:
        """Return the patterns and variants that have a verified rule and evidence.

        Raises:
            UserError: The folder is damaged.
        """
        stamp = stamp_of(self.folder / PATTERNS)
        if stamp != self._stamp:
            learned = load(self.folder) if stamp else []
            self._patterns = [rule for each in learned for rule in each.rules if rule.evidence]
            self._stamp = stamp
            self.num_reads += 1
        return self._patterns


def due_places(patterns: Sequence[Pattern], files: Iterable[File], project: Project) -> dict[str, list[DuePlace]]:
    """Return the places where patterns are due, by path, in the order of the text; `project` has the settings."""
    found: dict[str, list[DuePlace]] = {}
    files = list(files)
    wanted = {file.language for file in files}
    asked = [each for each in patterns if each.language in wanted]
    if not asked:
        return found
    searched = find_suggestions(asked, files, None, lambda *_: None, project, whole=False)
    for pattern in searched.patterns.values():
        for suggestion in pattern.suggestions:
            found.setdefault(suggestion.path, []).append(DuePlace(pattern, suggestion))
    for each in found.values():
        each.sort(key=lambda due: due.suggestion.start)
    return found


def all_fixed(
    patterns: Sequence[Pattern], file: File, is_wanted: Callable[[DuePlace, bytes], bool], project: Project
) -> list[TextEdit]:
    """Return the edits that apply the patterns to a file wherever that is likely, until nothing is left to do.

    `is_wanted` says whether a place of a text may be edited. Patterns that the settings only report are left out.
    """
    patterns = [each for each in patterns if not project.pattern(each.names).report_only]
    edits: list[TextEdit] = []
    data = file.data
    for _ in range(_MAX_ROUNDS):
        due = due_places(patterns, [file._replace(data=data)], project).get(file.path, [])
        source = FileText(data)
        made = [
            source.edit(each.suggestion.start, each.suggestion.end, each.suggestion.after)
            for each in due
            if each.is_likely and is_wanted(each, data)
        ]
        if not made:
            break
        edits = compose(file.data, edits, made)
        data = splice(file.data, edits)
    return edits
