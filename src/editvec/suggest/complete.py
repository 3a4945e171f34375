"""Propose, match, score: where else the shown edits belong, and what should stand there.

This module starts no process and reads no file: it is given what was shown and the files to look at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Demonstration
from editvec.core.match import Suggestion
from editvec.suggest.features import features
from editvec.suggest.hypothesis import EditHypothesis
from editvec.suggest.intents import DemoEdit, Intent, intents_of, shown_edits
from editvec.suggest.locate import MatchFinder, locate, token_finder
from editvec.suggest.propose import propose
from editvec.suggest.searched import EditMatch, SearchedFile
from editvec.suggest.soundness import Soundness
from editvec.suggest.trees import TreeMatcher, propose_trees
from editvec.syntax.languages import language_of
from editvec.syntax.token import encode
from editvec.vcs.worktree import File, ending_of

LIKELY = 0.8
"""Minimum confidence of a suggestion that is called likely."""
POSSIBLE = 0.3
"""Minimum confidence of a suggestion that is called possible; less certain ones are not shown."""

_MAX_INTENTS = 12
_MAX_MATCHES = 2_500
"""Maximum number of matches of a hypothesis, and of matches of an intent that are scored; the nearest come first."""
_CHECKED = 0.1
_SCRIPTS = frozenset({"javascript", "tsx", "typescript"})
"""Languages whose files are searched together."""

Line = tuple[str, int]
"""A path and a line, counted from 1."""
Scorer = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""A function from features to confidences."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """An intent with its matches and what is known of them, before anything is scored."""

    intent: Intent
    hypotheses: list[EditHypothesis]
    matches: list[EditMatch]
    features: NDArray[np.float32]

    @cached_property
    def num_lines(self) -> int:
        """Return the number of lines with matches; hypotheses can propose several edits of a line."""
        return len({(each.file.path, each.line) for each in self.matches})


def gather(
    shown: Iterable[Demonstration],
    files: Sequence[SearchedFile],
    *,
    refused: Iterable[Line] = (),
    only: Collection[Line] = (),
) -> list[Gathered]:
    """Return the intents of what was shown, each with the matches where it has not been carried out yet.

    With `only`, an edit counts as shown only if it is on one of these lines of the version after.
    """
    shown = list(shown)
    edits = [edit for each in shown for edit in shown_edits(each)]
    chosen = [edit for edit in edits if not only or _lines_now(edit) & set(only)]
    intents = sorted(intents_of(chosen), key=lambda intent: -len(intent.edits))[:_MAX_INTENTS]
    num_intents = min(len(intents_of(edits)), _MAX_INTENTS)
    now = {file.path: file.data for file in files}
    as_shown = {each.path for each in shown if now.get(each.path) == each.after}
    done = {(edit.path, line - 1) for edit in edits if edit.path in as_shown for _, line in _lines_now(edit)}
    no = {(path, line - 1) for path, line in refused}
    per_file = Counter(edit.path for edit in edits)
    return [_gathered(intent, files, done, no, per_file, num_intents) for intent in intents]


def typed_example(before: str, after: str, path: str) -> Demonstration:
    """Return an edit that a person typed, without a file around it; `path` says by its ending what it is for."""
    name = "example" + path[path.rindex(".") :] if "." in path else path.rpartition("/")[2]
    return Demonstration(name, encode(before.rstrip("\n") + "\n"), encode(after.rstrip("\n") + "\n"))


def _lines_now(edit: DemoEdit) -> set[Line]:
    """Return the lines that an edit made, counted from 1."""
    return {(edit.path, line + 1) for line in range(edit.first_line_now, edit.last_line_now)}


def _gathered(
    intent: Intent,
    files: Sequence[SearchedFile],
    done: set[Line],
    no: set[Line],
    per_file: Counter[str],
    num_intents: int,
) -> Gathered:
    hypotheses = [*propose(intent), *propose_trees(intent)]
    near = nearest_first(intent.edits, files)
    found, counts = locate(hypotheses, near, _MAX_MATCHES, finder_of)
    open_matches = [each for each in found if not _lines(each) & done]
    refused = [each for each in open_matches if _lines(each) & no]
    matches = [each for each in open_matches if not _lines(each) & no][:_MAX_MATCHES]
    own = Counter(edit.path for edit in intent.edits)
    numbers = features(
        intent,
        hypotheses,
        counts,
        matches,
        near,
        refused=refused,
        touched=frozenset(path for path, count in per_file.items() if count > own[path]),
        num_intents=num_intents,
    )
    return Gathered(intent, hypotheses, matches, numbers)


def finder_of(hypothesis: EditHypothesis) -> MatchFinder:
    """Return what finds the matches of a hypothesis."""
    template = hypothesis.template
    return token_finder(hypothesis) if template is None else TreeMatcher(hypothesis, template).matches


def nearest_first(edits: Sequence[DemoEdit], files: Sequence[SearchedFile]) -> list[SearchedFile]:
    """Return the files in which an intent is looked for: those of the same kind, the nearest to the edits first."""
    paths = {edit.path for edit in edits}
    kinds = {kind_of_file(path) for path in paths}
    folders = {tuple(path.split("/")[:-1]) for path in paths}

    def distance(file: SearchedFile) -> tuple[int, int, str]:
        parts = tuple(file.path.split("/")[:-1])
        common = max(_num_common(parts, each) for each in folders)
        return (0 if file.path in paths else 1 if parts in folders else 2, -common, file.path)

    return sorted((file for file in files if kind_of_file(file.path) in kinds), key=distance)


def kind_of_file(path: str) -> str:
    """Return what the files have in common in which an edit is looked for: their language, or their ending."""
    language = language_of(path)
    if language is None:
        return ending_of(path)
    return "script" if language.name in _SCRIPTS else language.name


def languages_like(paths: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the languages, and the endings of files in no known language, in which edits of files are looked for."""
    known = {path: language_of(path) for path in paths}
    languages = {language.name for language in known.values() if language is not None}
    if languages & _SCRIPTS:
        languages |= _SCRIPTS
    return frozenset(languages), frozenset(ending_of(path) for path, language in known.items() if language is None)


def _num_common(ones: Sequence[str], others: Sequence[str]) -> int:
    count = 0
    for one, other in zip(ones, others, strict=False):
        if one != other:
            break
        count += 1
    return count


def _lines(match: EditMatch) -> set[Line]:
    last = match.file.lexed.line_of(max(match.start, match.end - 1))
    return {(match.file.path, line) for line in range(match.line, last + 1)}


def complete(
    shown: Sequence[Demonstration],
    files: Sequence[File],
    *,
    refused: Sequence[Line] = (),
    minimum: float = POSSIBLE,
    scorer: Scorer | None = None,
) -> list[Suggestion]:
    """Return suggestions of where the shown edits belong, too, the most certain first.

    `files` are the files as they are now, with the shown edits made. `refused` are places where a person does not
    want the edit. Suggestions with a confidence below `minimum` are left out.
    """
    from editvec.suggest.scorer import packaged_scorer

    score = scorer or packaged_scorer()
    searched = [SearchedFile(*file) for file in files]
    found: list[Suggestion] = []
    for number, each in enumerate(gather(shown, searched, refused=refused), 1):
        found += [as_suggestion(match, confidence, f"e{number}") for match, confidence in scored(each, score, minimum)]
    return without_overlaps(found)


def scored(gathered: Gathered, scorer: Scorer, minimum: float) -> list[tuple[EditMatch, float]]:
    """Return the matches with a confidence of at least `minimum` after which their file still parses."""
    confidences = scorer(gathered.features)
    certain = [at for at, confidence in enumerate(confidences) if confidence >= minimum]
    # What nobody is shown is not worth a parse.
    doubtful = [gathered.matches[at] for at in certain if confidences[at] >= _CHECKED]
    unsound = set(doubtful) - set(Soundness().sound(doubtful))
    return [(gathered.matches[at], float(confidences[at])) for at in certain if gathered.matches[at] not in unsound]


def as_suggestion(match: EditMatch, confidence: float, edit: str, reasons: Sequence[str] = ()) -> Suggestion:
    """Return a match with its confidence; `edit` is the id of what was shown."""
    start = match.file.lexed.line_starts[match.line]
    return Suggestion(
        path=match.file.path,
        line=match.line + 1,
        column=len(match.file.data[start : match.start].decode(errors="replace")) + 1,
        start=match.start,
        end=match.end,
        before=match.file.data[match.start : match.end].decode(errors="replace"),
        after=match.after.decode(errors="replace"),
        confidence=confidence,
        why=", ".join(reasons),
        edit=edit,
    )


def without_overlaps(suggestions: Iterable[Suggestion]) -> list[Suggestion]:
    """Return the suggestions, the most certain first; of suggestions for the same bytes, only the most certain."""
    kept: dict[str, list[Suggestion]] = {}
    ordered = sorted(suggestions, key=lambda each: (-each.confidence, each.path, each.start, each.end, each.after))
    chosen = []
    for each in ordered:
        others = kept.setdefault(each.path, [])
        if not any(_overlap(each, other) for other in others):
            others.append(each)
            chosen.append(each)
    return chosen


def _overlap(one: Suggestion, other: Suggestion) -> bool:
    """Return whether two suggestions for a file concern the same bytes, or insert at the same position."""
    return one.start < max(other.end, other.start + 1) and other.start < max(one.end, one.start + 1)
