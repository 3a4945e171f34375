"""Review: a person accepts or rejects edits one by one, in a terminal (`review`) or on a page (`Decisions`).

`review` writes each accepted edit at once, so nothing is lost if it is interrupted. `Decisions` are stored beside the
patch that they make, and are restored the next time.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import orjson

from editvec.core.errors import UserError
from editvec.core.files import from_json, to_json, write_atomically
from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, splice
from editvec.core.text import FileText
from editvec.rewrite.journal import Journal
from editvec.rewrite.patch import unified_diff
from editvec.rewrite.plan import FilePlan, breaks
from editvec.rewrite.writer import write_file
from editvec.syntax.languages import Language, language_of

_VERDICTS = ("accept", "reject", "")


class Then(Enum):
    """The step that a review takes after a choice."""

    ASK = "ask"
    TAKE_ALL = "take all"
    STOP = "stop"


class ReviewChoice(NamedTuple):
    """A person's answer about an edit, and how the review goes on.

    `edit` is the edit to write, which may differ from the proposed one; None if nothing is to be written.
    """

    edit: TextEdit | None
    then: Then = Then.ASK


Choose = Callable[[FilePlan, bytes, TextEdit], ReviewChoice]
"""A function that asks about an edit, given its file's plan and the file's current bytes."""


@dataclass(slots=True)
class Reviewed:
    """The result of a review."""

    num_matches: int = 0
    num_files: int = 0
    problems: list[str] = field(default_factory=list)


Bring = Callable[[FilePlan, bytes], Sequence[TextEdit]]
"""A function that returns the edits of imports that a file needs, given its plan and its bytes after what was accepted.
"""


def review(
    plans: Iterable[FilePlan],
    choose: Choose,
    reviewed: Reviewed,
    journal: Journal | None = None,
    bring: Bring | None = None,
) -> None:
    """Ask about every edit of some plans, and write each accepted edit at once; `journal` makes them undoable.

    The edits and files that were written are counted in `reviewed`, and problems are added to it. The edits that
    `bring` returns are written behind the last accepted edit of a file, and are not counted.
    """
    then = Then.ASK
    for plan in plans:
        if plan.problem:
            reviewed.problems.append(f"{plan.path}: not written: {plan.problem}.")
            continue
        then = _review_file(plan, choose, reviewed, then, journal, bring)
        if then is Then.STOP:
            return


def _review_file(
    plan: FilePlan, choose: Choose, reviewed: Reviewed, then: Then, journal: Journal | None, bring: Bring | None
) -> Then:
    assert plan.path is not None
    data, shift, passed, before = plan.before, 0, 0, reviewed.num_matches
    for edit in plan.edits:
        # The person has already rewritten this text by hand.
        if edit.start < passed:
            continue
        here = TextEdit(edit.start + shift, edit.end + shift, edit.text)
        wanted: TextEdit | None = here
        if then is not Then.TAKE_ALL:
            wanted, then = choose(plan, data, here)
        if wanted is not None:
            after = splice(data, [wanted])
            try:
                write_file(plan.path, data, after, journal, [wanted])
            except (OSError, UserError) as error:
                reviewed.problems.append(f"{plan.path}: not written: {error}")
                break
            data, passed = after, max(wanted.end, here.end) - shift
            shift += len(wanted.text) - (wanted.end - wanted.start)
            reviewed.num_matches += 1
        if then is Then.STOP:
            break
    reviewed.num_files += reviewed.num_matches > before
    if bring is not None and reviewed.num_matches > before:
        _write_imports(plan.path, data, bring(plan, data), reviewed, journal)
    return then


def _write_imports(
    path: Path, data: bytes, edits: Sequence[TextEdit], reviewed: Reviewed, journal: Journal | None
) -> None:
    if edits:
        try:
            write_file(path, data, splice(data, edits), journal, edits)
        except (OSError, UserError) as error:
            reviewed.problems.append(f"{path}: its imports were not written: {error}")


def is_sound(plan: FilePlan, data: bytes, edit: TextEdit) -> bool:
    """Return whether a file parses at least as well with an edit as without it."""
    language = language_of(plan.path.name) if plan.path is not None else None
    return not isinstance(language, Language) or not breaks(language, data, splice(data, [edit]))


class EditedLines:
    """The lines that an edit would make, for a person to change, and the way back to the file's bytes."""

    def __init__(self, data: bytes, edit: TextEdit) -> None:
        source = FileText(data)
        self._codec = source.codec
        text = data.decode(self._codec)
        start, end = (len(data[:offset].decode(self._codec)) for offset in (edit.start, edit.end))
        low = text.rfind("\n", 0, start) + 1
        behind = text.find("\n", end)
        high = len(text) if behind < 0 else behind + 1
        lines = text[low:start] + edit.text.decode(self._codec) + text[end:high]
        self.text = lines.replace("\r\n", "\n")
        self._low, self._high = (len(text[:at].encode(self._codec)) for at in (low, high))
        self._ends = lines.endswith("\n")
        self._has_crlf = "\r\n" in lines or (source.has_crlf and "\n" not in lines)

    def edit(self, written: str) -> TextEdit:
        """Return the edit that writes the changed lines into the file.

        Raises:
            UserError: The file's encoding cannot represent a character.
        """
        if not self._ends:
            written = written.removesuffix("\n")
        if self._has_crlf:
            written = written.replace("\n", "\r\n")
        try:
            return TextEdit(self._low, self._high, written.encode(self._codec))
        except UnicodeEncodeError as error:
            raise UserError(
                f"the encoding {self._codec} cannot represent {error.object[error.start : error.end]!r}."
            ) from None


class Decisions:
    """A person's verdicts on suggestions in the work tree at `top`; accepted ones are written to `patch`.

    `suggestions` pairs the id of each pattern with its suggestions. The page identifies a suggestion by two numbers:
    that of the pattern, from 1, and that of the suggestion in the pattern, from 0.
    """

    def __init__(self, suggestions: Sequence[tuple[str, Sequence[Suggestion]]], top: Path, patch: Path) -> None:
        self._top, self._patch, self._kept = top, patch, patch.with_suffix(".json")
        self._suggestions: dict[str, Suggestion] = {}
        self._names: dict[str, str] = {}
        for number, (pattern, proposed) in enumerate(suggestions, 1):
            for index, suggestion in enumerate(proposed):
                key = f"{number}-{index}"
                self._suggestions[key] = suggestion
                self._names[key] = f"{pattern} {suggestion.start} {suggestion.path} {suggestion.before}"
        self._said: dict[str, str] = {}
        self.num_lost = 0
        """Number of suggestions that were accepted earlier and are no longer there."""
        self._lock = Lock()
        self._remember()

    def state(self) -> dict[str, Any]:
        """Return all verdicts, the path of the patch, and the number of accepted suggestions."""
        return {"said": self._said, "patch": str(self._patch), "accepted": len(list(_accepted(self._said)))}

    def decide(self, request: Any) -> dict[str, Any]:
        """Record one verdict, {suggestion, verdict}, and write the patch again.

        Verdicts on suggestions whose text has changed since are dropped.

        Raises:
            ValueError: The request is malformed, or the text of the suggestion has changed since.
        """
        if not isinstance(request, dict) or request.get("suggestion") not in self._suggestions:
            raise ValueError("there is no such place. Reload the page.")
        if request.get("verdict") not in _VERDICTS:
            raise ValueError("the verdict must be accept, reject or empty.")
        key = request["suggestion"]
        with self._lock:
            said = {other: verdict for other, verdict in self._said.items() if self._is_there(self._suggestions[other])}
            said[key] = request["verdict"]
            if said[key] == "accept" and not self._is_there(self._suggestions[key]):
                raise ValueError(
                    f"{self._suggestions[key].path} has changed since. Stop editvec serve and start it again."
                )
            diff = self._diff(said)
            self._said = said
            write_atomically(self._patch, diff)
            kept = {self._names[other]: verdict for other, verdict in said.items() if verdict}
            write_atomically(self._kept, to_json(kept, indent=True))
        return self.state()

    def _remember(self) -> None:
        """Read the verdicts of an earlier review on suggestions that are still there."""
        try:
            kept = from_json(self._kept.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return
        if isinstance(kept, dict):
            self._said = {key: kept[name] for key, name in self._names.items() if kept.get(name) in _VERDICTS}
            before = sum(verdict == "accept" for verdict in kept.values())
            self.num_lost = before - len(list(_accepted(self._said)))

    def _diff(self, said: dict[str, str]) -> bytes:
        """Return the accepted suggestions as a diff that `git apply` accepts."""
        by_file: dict[str, list[Suggestion]] = defaultdict(list)
        for key in _accepted(said):
            by_file[self._suggestions[key].path].append(self._suggestions[key])
        parts = []
        for path, suggestions in sorted(by_file.items()):
            source = FileText((self._top / path).read_bytes())
            suggestions.sort(key=lambda each: each.start)
            edits = [source.edit(suggestion.start, suggestion.end, suggestion.after) for suggestion in suggestions]
            brought = {source.edit(one.start, one.end, one.after) for each in suggestions for one in each.imports}
            for edit in sorted(brought):
                if all(edit.end < other.start or other.end < edit.start for other in edits):
                    edits.append(edit)
            parts.append(unified_diff(os.fsencode(path), source.data, sorted(edits)))
        return b"".join(parts)

    def _is_there(self, suggestion: Suggestion) -> bool:
        """Return whether the text of a suggestion is still as it was found."""
        try:
            data = FileText((self._top / suggestion.path).read_bytes()).utf8
        except OSError:
            return False
        return data[suggestion.start : suggestion.end] == suggestion.before.encode(errors="surrogateescape")


def _accepted(said: dict[str, str]) -> Iterable[str]:
    return (key for key, verdict in said.items() if verdict == "accept")
