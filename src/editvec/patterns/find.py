"""Places where patterns are still due: their rules over files as they are, kept where history is sure enough and where
the file still parses afterwards.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from editvec.core.match import Match, Suggestion
from editvec.core.splice import apply_matches
from editvec.patterns.pattern import Pattern
from editvec.rewrite.precedence import fitting
from editvec.rules.matching import match_rules
from editvec.rules.rule import load_rules
from editvec.syntax.cst import num_errors
from editvec.syntax.languages import Language, get
from editvec.syntax.treesitter import Parsed
from editvec.vcs.worktree import File


def find_places(
    patterns: Sequence[Pattern], files: Iterable[File], min_confidence: float, progress: Callable[[int, int, int], None]
) -> dict[str, Pattern]:
    """The patterns, which all have a rule and evidence, by name: each with the places where it is due, and how many
    there are in its evidence. A place is the surest pattern's alone; a pattern that promises something has none."""
    by_language: dict[str, list[File]] = defaultdict(list)
    for file in files:
        by_language[file.language].append(file)
    total, done = sum(map(len, by_language.values())), 0
    found = {pattern.name: pattern for pattern in patterns}
    places: dict[str, list[Suggestion]] = defaultdict(list)
    for language, group in sorted(by_language.items()):
        rules = [
            rule
            for pattern in patterns
            if pattern.language == language and pattern.rule
            for rule in load_rules(pattern.rule)
        ]
        matches = match_rules(rules, [file.data for file in group], language)
        left = Counter(match.rule for each in matches for match in each)
        for name, count in left.items():
            evidence = found[name].evidence
            if evidence is not None:
                found[name] = replace(found[name], evidence=replace(evidence, left=count))
        due = {name for name, each in found.items() if each.is_due(min_confidence)}
        for file, each in zip(group, matches, strict=True):
            sure = [match for match in each if match.rule in due]
            for match in sound(file, _surest(sure, found)):
                places[match.rule].append(_place(file, match, found[match.rule]))
        done += len(group)
        progress(done, total, sum(map(len, places.values())))
    return {name: pattern.with_places(tuple(places[name])) for name, pattern in found.items()}


def _surest(matches: Sequence[Match], patterns: dict[str, Pattern]) -> list[Match]:
    """Matches that do not overlap, the surest pattern's first, in the order of the file."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda each: (-patterns[each.rule].confidence, each.start, each.end, each.rule)):
        if all(match.end <= other.start or other.end <= match.start for other in kept):
            kept.append(match)
    return sorted(kept, key=lambda match: match.start)


def sound(file: File, matches: list[Match]) -> list[Match]:
    """Those that are due by themselves, mean the same where they stand (see `fitting`), and leave the file parsing as
    well as before. An import is not due by itself: it is when its uses are."""
    language = get(file.language)
    if not matches or not isinstance(language, Language):
        return matches
    parsed = Parsed(language, file.data)
    kinds = [{unit.kind for unit in parsed.units(match.start, match.end)} for match in matches]
    matches = [match for match, touched in zip(matches, kinds, strict=True) if not touched & language.imports]
    matches = fitting(language, file.data, matches)
    allowed = num_errors(language, file.data)
    if num_errors(language, apply_matches(file.data, matches)) <= allowed:
        return matches
    return [match for match in matches if num_errors(language, apply_matches(file.data, [match])) <= allowed]


def _place(file: File, match: Match, pattern: Pattern) -> Suggestion:
    evidence = pattern.evidence
    assert evidence is not None
    why = f"people edited {evidence.edited} of {evidence.matched} such places; {evidence.left} are left"
    return place_of(file, match, pattern.confidence, why)


def place_of(file: File, match: Match, confidence: float, why: str) -> Suggestion:
    """A match as a place, with how sure it is and why."""
    start = file.data.rfind(b"\n", 0, match.start) + 1
    return Suggestion(
        path=file.path,
        line=file.data.count(b"\n", 0, match.start) + 1,
        column=len(file.data[start : match.start].decode(errors="replace")) + 1,
        start=match.start,
        end=match.end,
        before=match.text,
        after=match.replacement or "",
        confidence=confidence,
        why=why,
    )
