"""Find the remaining matches of patterns by running their rules over the current files.

A match is kept if the confidence of its pattern is high enough and the file still parses after the edit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from editvec.core.errors import UserError
from editvec.core.match import ImportEdit, Match, Suggestion
from editvec.core.splice import TextEdit, compose, splice
from editvec.data.progress import Advance, Stages, silent
from editvec.mining.options import locate
from editvec.patterns.folder import default_folder, load, pick
from editvec.patterns.pattern import MIN_CONFIDENCE, Pattern
from editvec.patterns.verify import judge_patterns, remember, verdicts, with_verdicts
from editvec.rules.matching import match_rules
from editvec.suggest.imports import ImportChanges, bring_imports
from editvec.suggest.match import as_suggestion, keep_sound
from editvec.suggest.verify import Judgement
from editvec.syntax.token import decode, encode
from editvec.vcs.git import top_of
from editvec.vcs.worktree import File, worktree_files


@dataclass(frozen=True, slots=True)
class Found:
    """The remaining places to edit, found by the rules of learned patterns."""

    patterns: tuple[Pattern, ...]
    """The patterns that were searched for, with their suggestions."""
    numbers: Mapping[str, int]
    """The numbers of all learned patterns by name."""
    filtered: int = 0
    """Number of files that were skipped because a git filter rewrites them."""
    verification: Judgement | None = None
    """What the command said of the places, if one judged them."""

    @property
    def num_suggestions(self) -> int:
        """Return the total number of places."""
        return sum(len(pattern.suggestions) for pattern in self.patterns)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the places as JSON values, each with its pattern."""
        return [
            {"pattern": pattern.name, "number": self.numbers[pattern.name], **suggestion.as_json()}
            for pattern in self.patterns
            for suggestion in pattern.suggestions
        ]


def find(
    pattern: Sequence[str] = (),
    *,
    repo: str | Path = ".",
    patterns: Path | None = None,
    changed_since: str | None = None,
    min_confidence: float = MIN_CONFIDENCE,
    verify: str | None = None,
    progress: Stages = silent,
) -> Found:
    """Find the places in the current files where learned patterns still apply.

    `pattern` holds numbers or names of patterns; if it is empty, all are searched for. `patterns` is the folder that
    `learn` wrote, by default `.editvec` at the top of the work tree of `repo`. With `changed_since`, only files that
    differ from that revision are read. Only patterns with a verified rule and a confidence of at least
    `min_confidence` have places. With `verify`, a command judges the places in a scratch copy of the work tree. Those
    that it refuses are left out, and later calls have less confidence in their patterns.

    Raises:
        UserError: A pattern does not exist, or no given pattern has a verified rule.

    Examples:
        >>> import editvec
        >>> for pattern in editvec.find(["1"]).patterns:
        ...     for suggestion in pattern.suggestions[:1]:
        ...         print(suggestion.path, suggestion.line, suggestion.after)
        src/...
    """
    repository = locate(str(repo))
    folder = patterns or default_folder(repository)
    learned = with_verdicts(load(folder), verdicts(folder))
    picked = pick(learned, pattern)
    ruled = [each for each in picked if each.rule and each.evidence]
    if pattern and not ruled:
        raise UserError(
            "the given patterns have no verified rule. What the neural editor found is in the report of editvec learn."
        )
    tally: Counter[str] = Counter()
    files = worktree_files(repository, {each.language for each in ruled}, since=changed_since, tally=tally)
    with progress("Finding", "files") as advance:
        found = find_suggestions(ruled, files, min_confidence, advance)
    numbers = {each.name: number for number, each in enumerate(learned, 1)}
    result = list(found.values())
    if verify is None:
        return Found(tuple(result), numbers, tally["filtered"])
    result, verification = judge_patterns(top_of(repository), result, verify, progress)
    remember(folder, result)
    return Found(tuple(result), numbers, tally["filtered"], verification)


def find_suggestions(
    patterns: Sequence[Pattern],
    files: Iterable[File],
    min_confidence: float,
    progress: Advance,
    *,
    recount: bool = True,
) -> dict[str, Pattern]:
    """Return the patterns by name, each with its suggestions; all patterns must have a rule and evidence.

    With `recount`, the evidence of each pattern gets the number of remaining matches, for which `files` must be all
    files. Of overlapping matches, the one whose pattern has the highest confidence is kept. `progress` receives the
    number of files done, the total, and the places found.
    """
    by_language: dict[str, list[File]] = defaultdict(list)
    for file in files:
        by_language[file.language].append(file)
    total, done = sum(map(len, by_language.values())), 0
    found = {pattern.name: pattern for pattern in patterns}
    suggestions: dict[str, list[Suggestion]] = defaultdict(list)
    for language, group in sorted(by_language.items()):
        rules = [pattern.rule for pattern in patterns if pattern.language == language and pattern.rule]
        matches = match_rules(rules, [file.data for file in group], language)
        left = Counter(match.rule for each in matches for match in each)
        for name, count in left.items():
            evidence = found[name].evidence
            if evidence is not None and recount:
                found[name] = replace(found[name], evidence=replace(evidence, left=count))
        due = {name for name, each in found.items() if each.is_due(min_confidence)}
        for file, each in zip(group, matches, strict=True):
            sure = [match for match in each if match.rule in due]
            for match in keep_sound(file, _surest(sure, found)):
                suggestions[match.rule].append(_suggestion(file, match, found[match.rule]))
        done += len(group)
        progress(done, total, sum(map(len, suggestions.values())))
    return {name: pattern.with_suggestions(tuple(suggestions[name])) for name, pattern in found.items()}


def _surest(matches: Sequence[Match], patterns: dict[str, Pattern]) -> list[Match]:
    """Return matches without overlaps, in file order; of overlapping ones, that with the highest confidence is kept."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda each: (-patterns[each.rule].confidence, each.start, each.end, each.rule)):
        at = bisect_right(kept, match.start, key=lambda each: each.start)
        if all(other.end <= match.start for other in kept[at - 1 : at] if at) and all(
            match.end <= other.start for other in kept[at : at + 1]
        ):
            kept.insert(at, match)
    return kept


def _suggestion(file: File, match: Match, pattern: Pattern) -> Suggestion:
    evidence = pattern.evidence
    assert evidence is not None
    why = f"people edited {evidence.edited} of {evidence.matched} such places; {evidence.left} are left"
    if pattern.judged is not None and pattern.judged.refused:
        why = f"{why}; {pattern.judged.why}"
    suggestion = as_suggestion(file, match, pattern.confidence, why)
    return replace(suggestion, imports=imports_of(suggestion, file, pattern.imports)) if pattern.imports else suggestion


def imports_of(suggestion: Suggestion, file: File, changes: ImportChanges) -> tuple[ImportEdit, ...]:
    """Return the edits of imports that a file needs if a suggestion is carried out alone."""
    place = TextEdit(suggestion.start, suggestion.end, encode(suggestion.after))
    after = splice(file.data, [place])
    made = compose(file.data, [place], bring_imports(changes, file.path, file.data, after).edits)
    return tuple(
        ImportEdit(each.start, each.end, decode(file.data[each.start : each.end]), decode(each.text))
        for each in made
        if each.end < place.start or place.end < each.start
    )
