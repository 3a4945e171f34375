"""Find where patterns are still due: their rules over files as they are, kept where the confidence is high enough and
the file still parses afterwards.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from editvec.core.errors import UserError
from editvec.core.match import Match, Suggestion
from editvec.data.progress import Advance, Stages, silent
from editvec.mining.options import locate
from editvec.patterns.folder import default_folder, load, pick
from editvec.patterns.pattern import MIN_CONFIDENCE, Pattern
from editvec.rules.matching import match_rules
from editvec.suggest.match import as_suggestion, keep_sound
from editvec.vcs.worktree import File, worktree_files


@dataclass(frozen=True, slots=True)
class Found:
    """The places where learned patterns are still due."""

    patterns: tuple[Pattern, ...]
    """Those that were looked for, with their places."""
    numbers: Mapping[str, int]
    """The number of each learned pattern by its name."""
    filtered: int = 0
    """Files that were not looked at, because a filter of git rewrites them."""

    @property
    def num_places(self) -> int:
        """Return how many places there are in all."""
        return sum(len(pattern.places) for pattern in self.patterns)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the places as JSON values, each with its pattern."""
        return [
            {"pattern": pattern.name, "number": self.numbers[pattern.name], **place.as_json()}
            for pattern in self.patterns
            for place in pattern.places
        ]


def find(
    pattern: Sequence[str] = (),
    *,
    repo: str | Path = ".",
    patterns: Path | None = None,
    changed_since: str | None = None,
    min_confidence: float = MIN_CONFIDENCE,
    progress: Stages = silent,
) -> Found:
    """Find the places where learned patterns are still due, by their rules, in files as they are now.

    `pattern` holds numbers or names of patterns, all if it is empty; `patterns` is the folder that `learn` wrote, by
    default `.editvec` in `repo`; with `changed_since`, only files that differ from that revision are read.

    Raises:
        UserError: There is no such pattern, or no rule for it.

    Example:
        >>> import editvec
        >>> for pattern in editvec.find(changed_since="origin/main").patterns:
        ...     for place in pattern.places:
        ...         print(place.path, place.line, place.confidence)
    """
    repository = locate(str(repo))
    learned = load(patterns or default_folder(repository))
    picked = pick(learned, pattern)
    ruled = [each for each in picked if each.rule and each.evidence]
    if pattern and not ruled:
        raise UserError(
            "no rule could be verified for that. What the neural editor found is in the report of editvec learn."
        )
    tally: Counter[str] = Counter()
    files = worktree_files(repository, {each.language for each in ruled}, since=changed_since, tally=tally)
    with progress("Finding", "files") as advance:
        found = find_places(ruled, files, min_confidence, advance)
    numbers = {each.name: number for number, each in enumerate(learned, 1)}
    return Found(tuple(found.values()), numbers, tally["filtered"])


def find_places(
    patterns: Sequence[Pattern], files: Iterable[File], min_confidence: float, progress: Advance
) -> dict[str, Pattern]:
    """Return patterns by name, each with the places where it is due; all must have a rule and evidence.

    Their evidence gets the number of places that are left. Where patterns overlap, the surest one has the place.
    """
    by_language: dict[str, list[File]] = defaultdict(list)
    for file in files:
        by_language[file.language].append(file)
    total, done = sum(map(len, by_language.values())), 0
    found = {pattern.name: pattern for pattern in patterns}
    places: dict[str, list[Suggestion]] = defaultdict(list)
    for language, group in sorted(by_language.items()):
        rules = [pattern.rule for pattern in patterns if pattern.language == language and pattern.rule]
        matches = match_rules(rules, [file.data for file in group], language)
        left = Counter(match.rule for each in matches for match in each)
        for name, count in left.items():
            evidence = found[name].evidence
            if evidence is not None:
                found[name] = replace(found[name], evidence=replace(evidence, left=count))
        due = {name for name, each in found.items() if each.is_due(min_confidence)}
        for file, each in zip(group, matches, strict=True):
            sure = [match for match in each if match.rule in due]
            for match in keep_sound(file, _surest(sure, found)):
                places[match.rule].append(_place(file, match, found[match.rule]))
        done += len(group)
        progress(done, total, sum(map(len, places.values())))
    return {name: pattern.with_places(tuple(places[name])) for name, pattern in found.items()}


def _surest(matches: Sequence[Match], patterns: dict[str, Pattern]) -> list[Match]:
    """Return matches that do not overlap, preferring surer patterns, in the order of the file."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda each: (-patterns[each.rule].confidence, each.start, each.end, each.rule)):
        if all(match.end <= other.start or other.end <= match.start for other in kept):
            kept.append(match)
    return sorted(kept, key=lambda match: match.start)


def _place(file: File, match: Match, pattern: Pattern) -> Suggestion:
    evidence = pattern.evidence
    assert evidence is not None
    why = f"people edited {evidence.edited} of {evidence.matched} such places; {evidence.left} are left"
    return as_suggestion(file, match, pattern.confidence, why)
