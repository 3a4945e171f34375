"""Finishing an edit step by step: what is accepted or refused says where the rest belongs.

A session holds the files in memory and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256

from editvec.core.edit import Demonstration
from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, splice
from editvec.suggest.complete import (
    LIKELY,
    POSSIBLE,
    Gathered,
    Line,
    Scorer,
    as_suggestion,
    gather,
    scored,
    without_overlaps,
)
from editvec.suggest.imports import ImportChanges, accompanies, bring_imports, changes_of_edits
from editvec.suggest.intents import DemoEdit, Intent, changed_lines
from editvec.suggest.reasons import reasons_of
from editvec.suggest.scorer import packaged_scorer
from editvec.suggest.searched import SearchedFile
from editvec.syntax.lexer import LexedText
from editvec.vcs.worktree import File

_SUMMARY = 60
"""Maximum length of each side of a summary, in characters."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line where an edit was shown; counted from 1, in the file as it is now."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class EditSummary:
    """An edit that a person made once or several times."""

    id: str
    summary: str
    demonstrations: tuple[ShownLine, ...]


class FinishSession:
    """Suggestions for the edits that were shown, which change with every answer."""

    def __init__(
        self,
        shown: Iterable[Demonstration],
        files: Iterable[File | SearchedFile],
        *,
        refused: Iterable[Line] = (),
        only: Iterable[Line] = (),
        scorer: Scorer | None = None,
    ) -> None:
        """Start from what was shown and the files as they are now; a file that was searched before is not cut again.

        `refused` are lines where a person does not want an edit. With `only`, an edit counts as shown only if it is on
        one of these lines. Lines are counted from 1.
        """
        self._shown = {each.path: each for each in shown}
        self._files = {file.path: SearchedFile(*file) if isinstance(file, File) else file for file in files}
        self._refused = list(refused)
        self._only = frozenset(only)
        self._muted: set[str] = set()
        self._scorer = scorer or packaged_scorer()
        self._gathered: list[Gathered] | None = None
        self._imports: dict[str, ImportChanges] = {}
        self._earlier: list[tuple[dict[str, Demonstration], dict[str, SearchedFile], list[Line], frozenset[Line]]] = []

    @property
    def num_files(self) -> int:
        """Return the number of files in which places are looked for."""
        return len(self._files)

    def text(self, path: str) -> bytes:
        """Return a file as it is now, with everything that was accepted."""
        return self._files[path].data

    def edits(self) -> list[EditSummary]:
        """Return what was shown, in the order of the suggestions' edit ids."""
        return [
            EditSummary(
                edit_id(each.intent),
                summary_of(each.intent.edits[0]),
                tuple(ShownLine(edit.path, edit.first_line_now + 1) for edit in each.intent.edits),
            )
            for each in self._current()
        ]

    def suggestions(self, minimum: float = POSSIBLE) -> list[Suggestion]:
        """Return the suggestions with a confidence of at least `minimum`, the most certain first."""
        found = []
        for each in self._current():
            name = edit_id(each.intent)
            if name in self._muted:
                continue
            for match, confidence in scored(each, self._scorer, minimum):
                if not self._imports[name].covers(match.file.path, match.file.data, match.start, match.end):
                    made = as_suggestion(match, round(confidence, 4), name, reasons_of(each, match))
                    found.append(self._with_doubt(made))
        return without_overlaps(found)

    def imports(self) -> dict[str, ImportChanges]:
        """Return the imports that come along with what was shown, by edit id."""
        self._current()
        return self._imports

    def _with_doubt(self, suggestion: Suggestion) -> Suggestion:
        """Return a suggestion that is not likely if a name that it introduces means something else in its file."""
        changes = self._imports[suggestion.edit]
        if suggestion.confidence < LIKELY or not changes.gained:
            return suggestion
        data = self.text(suggestion.path)
        clashes = bring_imports(changes, suggestion.path, data, _applied(data, suggestion)).clashes
        if not clashes:
            return suggestion
        reason = f"{clashes[0]} cannot be imported here as it was there"
        why = f"{suggestion.why}, {reason}" if suggestion.why else reason
        return replace(suggestion, confidence=round(LIKELY - 0.01, 4), why=why)

    def accept(self, suggestion: Suggestion, after: bytes | None = None) -> None:
        """Make a suggested edit; it counts as shown from now on.

        `after` is the whole text of the file if another edit was made in place of the suggested one.
        """
        self._keep()
        file = self._files[suggestion.path]
        if after is None:
            after = _applied(file.data, suggestion)
        before = self._shown[suggestion.path].before if suggestion.path in self._shown else file.data
        self._shown[suggestion.path] = Demonstration(suggestion.path, before, after)
        changed = changed_lines(LexedText(file.data), LexedText(after))

        def now(place: Line) -> Line:
            path, line = place
            shifts = [end - start - high + low for low, high, start, end in changed if high < line]
            return (path, line + sum(shifts)) if path == suggestion.path else place

        self._refused = [now(place) for place in self._refused]
        if self._only:
            self._only = frozenset(map(now, self._only)) | {now((suggestion.path, suggestion.line))}
        self._files[suggestion.path] = SearchedFile(file.path, file.language, after)
        self._gathered = None

    def refuse(self, suggestion: Suggestion) -> None:
        """Count a suggestion as a place where the edit does not belong."""
        self._keep()
        self._refused.append((suggestion.path, suggestion.line))
        self._gathered = None

    def back(self) -> None:
        """Forget the last suggestion that was accepted or refused."""
        if self._earlier:
            self._shown, self._files, self._refused, self._only = self._earlier.pop()
            self._gathered = None

    def _keep(self) -> None:
        self._earlier.append((dict(self._shown), dict(self._files), list(self._refused), self._only))

    def mute(self, edit: str) -> None:
        """Make no more suggestions for an edit."""
        self._muted.add(edit)

    def _current(self) -> list[Gathered]:
        if self._gathered is None:
            gathered = gather(self._shown.values(), list(self._files.values()), refused=self._refused, only=self._only)
            self._imports = {edit_id(each.intent): changes_of_edits(each.intent.edits) for each in gathered}
            changes = list(self._imports.values())
            self._gathered = [
                each for each in gathered if not all(accompanies(edit, changes) for edit in each.intent.edits)
            ]
        return self._gathered


def _applied(data: bytes, suggestion: Suggestion) -> bytes:
    """Return a file, as UTF-8, with a suggestion carried out."""
    written = suggestion.after.encode("utf-8", "surrogateescape")
    return splice(data, [TextEdit(suggestion.start, suggestion.end, written)])


def edit_id(intent: Intent) -> str:
    """Return the id of an intent, which depends on what was changed and not on where."""
    return sha256(repr(intent.edits[0].loose_signature).encode()).hexdigest()[:8]


def summary_of(edit: DemoEdit) -> str:
    """Return an edit in one line: its text before and after, shortened to what differs if it is long."""
    old, new = (" ".join(text.split()) for text in (edit.text_before, edit.text_after))
    if max(len(old), len(new)) > _SUMMARY:
        old, new = _without_common(old, new)
    return f"{old or '(nothing)'}  →  {new or '(nothing)'}"


def _without_common(old: str, new: str) -> tuple[str, str]:
    """Return two texts without most of what they have in common at both ends."""
    room = 12
    limit = min(len(old), len(new))
    left = next((at for at in range(limit) if old[at] != new[at]), limit)
    right = next((at for at in range(limit - left) if old[-1 - at] != new[-1 - at]), limit - left)
    low, high = max(0, left - room), max(0, right - room)

    def cut(text: str) -> str:
        return ("…" if low else "") + text[low : len(text) - high][: 2 * _SUMMARY] + ("…" if high else "")

    return cut(old), cut(new)
