"""Judge suggested places by the project's own checker, and find the places that it refuses.

All places are carried out in a scratch copy of the work tree. If the command fails, the places that its messages name
are left out first, and bisection finds the others. Sets of places that fail only together are found, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, splice
from editvec.core.text import FileText
from editvec.suggest.checker import TIMEOUT, Checker, CheckerRun, places_in
from editvec.suggest.imports import ImportChanges, import_edits
from editvec.suggest.tracing import traced

BUDGET = 3600.0
"""Maximum duration of a verification in seconds."""


class JudgedPlace(NamedTuple):
    """A place that would be written: an edit of a file's bytes with the imports that come along."""

    path: str
    """Relative to the top of the work tree."""
    edit: TextEdit
    imports: ImportChanges


def suggested_edit(source: FileText, suggestion: Suggestion) -> TextEdit:
    """Return a suggestion as an edit of a file's bytes."""
    return source.edit(suggestion.start, suggestion.end, suggestion.after)


@dataclass(slots=True)
class Judgement:
    """What a command says of places, which are numbered as they were given."""

    command: str
    refused: dict[int, str] = field(default_factory=dict)
    """The places that make the command fail, each with its first message."""
    undecided: set[int] = field(default_factory=set)
    """The places for which there was no time."""
    exercised: set[int] = field(default_factory=set)
    """The places whose lines were seen to run."""
    failed_before: bool = False
    """Whether the command fails without any of the places; then its messages are compared."""
    num_places: int = 0
    num_runs: int = 0
    seconds: float = 0.0

    @property
    def kept(self) -> list[int]:
        """Return the numbers of the places that the command passes, in order."""
        return [at for at in range(self.num_places) if at not in self.refused and at not in self.undecided]

    @property
    def num_built(self) -> int:
        """Return the number of places that were built and not seen to run."""
        return len(self.kept) - len(self.exercised)

    def as_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "command": self.command,
            "failed_before": self.failed_before,
            "kept": len(self.kept),
            "exercised": len(self.exercised),
            "refused": len(self.refused),
            "undecided": len(self.undecided),
            "runs": self.num_runs,
            "seconds": round(self.seconds, 2),
        }


def verify(
    top: Path,
    places: Sequence[JudgedPlace],
    command: str,
    *,
    timeout: float = TIMEOUT,
    budget: float = BUDGET,
    workers: int = 0,
    advance: Callable[[int, int, int], None] = lambda done, total, found: None,
) -> Judgement:
    """Return which places a command passes, in scratch copies of the work tree at `top`.

    A run that takes longer than `timeout` seconds has failed. After `budget` seconds, the remaining places stay
    undecided. `advance` receives the number of places that are decided, their number, and the number refused.

    Raises:
        UserError: There is no command.
        GitError: git cannot list the files of the work tree.
    """
    start = time.monotonic()
    result = Judgement(command, num_places=len(places))
    with Checker(top, command, timeout=timeout, workers=workers) as checker:
        if places:
            judge = _Judge(checker, places, result, start + budget, advance)
            judge.decide()
        result.num_runs = checker.num_runs
    result.seconds = time.monotonic() - start
    return result


class _Judge:
    """The search for the places that fail."""

    def __init__(
        self,
        checker: Checker,
        places: Sequence[JudgedPlace],
        result: Judgement,
        end: float,
        advance: Callable[[int, int, int], None],
    ) -> None:
        self._checker, self._places, self._result, self._end, self._advance = checker, places, result, end, advance
        self._known: dict[frozenset[int], CheckerRun] = {}
        self._files: dict[str, bytes] = {}
        self._baseline = CheckerRun(0, ())

    def decide(self) -> None:
        """Decide all places."""
        everything = frozenset(range(len(self._places)))
        self._runs([frozenset(), everything])
        self._baseline = self._known[frozenset()]
        self._result.failed_before = not self._baseline.passed
        rest, named = everything, dict[int, str]()
        # A compiler that stops early names more places once the first ones are left out.
        while not self._passes(rest) and (found := self._named(rest)):
            named |= found
            rest = rest - frozenset(found)
            self._advance(len(named), len(self._places), len(named))
        kept = self._settled(sorted(rest), frozenset())
        self._blame(named, kept)
        self._result.exercised = set(self._exercised())

    def _named(self, tried: frozenset[int]) -> dict[int, str]:
        """Return the places on lines that the messages of a failed run name, each with the first message."""
        found: dict[int, str] = {}
        if tried not in self._known:
            return found
        messages = places_in(self._known[tried].beyond(self._baseline))
        for at in sorted(tried):
            path, first, last = self._lines(at, tried)
            message = next((text for name, line, text in messages if _same(name, path) and first <= line <= last), "")
            if message:
                found[at] = message
        return found

    def _blame(self, named: Mapping[int, str], kept: frozenset[int]) -> None:
        """Refuse the places that messages named, except, if they are few, those that pass without the others."""
        # A message may name a line that another place broke.
        again = self._settled(sorted(named), kept) if len(named) < len(self._places) // 2 else frozenset()
        for at, message in named.items():
            if at not in again and at not in self._result.undecided:
                self._result.refused[at] = message
        self._told()

    def _settled(self, candidates: Sequence[int], base: frozenset[int]) -> frozenset[int]:
        """Return the candidates that pass together with `base`, which passes; the others are refused."""
        if not candidates:
            return frozenset()
        whole = base | frozenset(candidates)
        if self._passes(whole):
            return frozenset(candidates)
        if whole not in self._known:
            self._result.undecided.update(candidates)
            return frozenset()
        if len(candidates) == 1:
            self._result.refused[candidates[0]] = self._reason(whole)
            self._told()
            return frozenset()
        middle = len(candidates) // 2
        left, right = candidates[:middle], candidates[middle:]
        self._runs([base | frozenset(part) for part in (left, right)[: self._checker.workers]])
        kept = self._settled(left, base)
        return kept | self._settled(right, base | kept)

    def _passes(self, tried: frozenset[int]) -> bool:
        """Return whether a set of places passes; False if there is no time to try it."""
        self._runs([tried])
        run = self._known.get(tried)
        if run is None:
            return False
        if self._baseline.passed or run.passed:
            return run.passed
        return not run.beyond(self._baseline) and run.code >= 0

    def _runs(self, sets: Sequence[frozenset[int]]) -> None:
        """Run the command on sets of places that are not known yet, at once."""
        new = [each for each in dict.fromkeys(sets) if each not in self._known]
        if new and (not self._known or time.monotonic() < self._end):
            found = self._checker.run([self._contents(each) for each in new])
            self._known.update(zip(new, found, strict=True))

    def _contents(self, tried: frozenset[int]) -> dict[str, bytes]:
        return {path: self._file(path, tried)[1] for path in {self._places[at].path for at in tried}}

    def _file(self, path: str, tried: frozenset[int]) -> tuple[bytes, bytes, int]:
        """Return a file before and after a set of places, and the number of lines that imports put before them."""
        if path not in self._files:
            self._files[path] = (self._checker.top / path).read_bytes()
        before = self._files[path]
        mine = [self._places[at] for at in sorted(tried) if self._places[at].path == path]
        after = splice(before, sorted({place.edit for place in mine}))
        changes = ImportChanges()
        for place in mine:
            changes |= place.imports
        imports = import_edits(changes, path, before, after)
        whole = splice(after, imports)
        return before, whole, whole.count(b"\n") - after.count(b"\n")

    def _lines(self, at: int, tried: frozenset[int]) -> tuple[str, int, int]:
        """Return the path of a place and its first and last line, from 1, in the version after a set of places."""
        path, edit, _ = self._places[at]
        before, _, shift = self._file(path, tried)
        others = {self._places[one].edit for one in tried if self._places[one].path == path}
        for other in others:
            if other.end <= edit.start and other != edit:
                shift += other.text.count(b"\n") - before.count(b"\n", other.start, other.end)
        first = before.count(b"\n", 0, edit.start) + 1 + shift
        return path, first, first + edit.text.count(b"\n")

    def _reason(self, tried: frozenset[int]) -> str:
        run = self._known[tried]
        new = run.beyond(self._baseline)
        return new[0].strip() if new else f"the command ends with code {run.code}"

    def _told(self) -> None:
        decided = len(self._result.refused) + len(self._result.undecided)
        self._advance(decided, len(self._places), len(self._result.refused))

    def _exercised(self) -> list[int]:
        """Return the kept places whose lines run when the command runs once more, as far as that can be seen."""
        kept = frozenset(self._result.kept)
        if not any(self._places[at].path.endswith(".py") for at in kept) or time.monotonic() >= self._end:
            return []
        spans = {at: self._lines(at, kept) for at in kept}
        seen = traced(self._checker, self._contents(kept), {path for path, _, _ in spans.values()})
        return [
            at
            for at, (path, first, last) in spans.items()
            if any((path, line) in seen for line in range(first, last + 1))
        ]


def _same(name: str, path: str) -> bool:
    """Return whether a message that names a file means a path of the work tree."""
    return name == path or path.endswith(f"/{name}") or name.endswith(f"/{path}")
