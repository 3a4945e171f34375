"""Find the remaining matches of patterns by running their rules over the current files.

A match is kept if the confidence of its pattern is high enough, the file still parses after the edit, and neither a
comment nor the settings speak against it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from editvec.core.errors import UserError
from editvec.core.match import ImportEdit, Match, Suggestion
from editvec.core.splice import TextEdit, compose, splice
from editvec.data.progress import Advance, Stages, silent
from editvec.data.project import Project, project_of
from editvec.mining.options import locate
from editvec.patterns.baseline import fingerprints_of, read_baseline, update_baseline
from editvec.patterns.folder import load, pick, used_folder
from editvec.patterns.pattern import MIN_CONFIDENCE, Pattern, regrouped
from editvec.patterns.verify import judge_patterns, remember, verdicts, with_verdicts
from editvec.rules.matching import match_rules
from editvec.suggest.complete import LIKELY
from editvec.suggest.finish import write_suggestions
from editvec.suggest.imports import ImportChanges, bring_imports
from editvec.suggest.match import as_suggestion, keep_sound
from editvec.suggest.suppression import Silence, SuppressionComment, UnusedSuppression, silence_of, unused_in
from editvec.suggest.verify import Judgement
from editvec.syntax.token import decode, encode
from editvec.vcs.git import top_of
from editvec.vcs.worktree import File, below_top, worktree_files


@dataclass(frozen=True, slots=True)
class SuppressedSuggestion:
    """A place that is not suggested because a comment or the settings speak against it."""

    pattern: str
    """The name of the pattern."""
    suggestion: Suggestion
    silence: Silence


@dataclass(slots=True)
class Search:
    """The result of searching for patterns."""

    patterns: dict[str, Pattern] = field(default_factory=dict)
    """The patterns by name, with their suggestions."""
    suppressed: list[SuppressedSuggestion] = field(default_factory=list)
    unused: list[UnusedSuppression] = field(default_factory=list)
    """The suppression comments of these patterns that suppress nothing."""


@dataclass(slots=True)
class Found:
    """The remaining places to edit, found by the rules of learned patterns."""

    patterns: tuple[Pattern, ...]
    """The patterns that were searched for, with their suggestions."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The numbers of all learned patterns by name."""
    filtered: int = 0
    """Number of files that were skipped because a git filter rewrites them."""
    suppressed: tuple[SuppressedSuggestion, ...] = ()
    """The places that a comment or the settings suppress."""
    unused: tuple[UnusedSuppression, ...] = ()
    """The suppression comments of these patterns that suppress nothing."""
    project: Project = field(default_factory=Project)
    """The settings that were used."""
    verification: Judgement | None = None
    """What the command said of the places, if one judged them."""
    top: Path = Path()
    """The top folder of the work tree."""
    num_known: int = 0
    """Number of places that the baseline lists."""
    num_written: int = 0
    written: list[str] = field(default_factory=list)
    """The files that were written."""
    problems: list[str] = field(default_factory=list)
    """Reasons why files were not written, one line each."""

    def writable(self, *, possible: bool = False) -> dict[Suggestion, ImportChanges]:
        """Return the likely places, or with `possible` all, of the patterns that the settings do not only report.

        Each has the imports that come along.
        """
        return {
            suggestion: pattern.imports
            for pattern in self.patterns
            if not self.project.pattern(pattern.names).report_only
            for suggestion in pattern.suggestions
            if possible or suggestion.confidence >= LIKELY
        }

    @property
    def num_suggestions(self) -> int:
        """Return the total number of places."""
        return sum(len(pattern.suggestions) for pattern in self.patterns)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the places as JSON values, each with its pattern."""
        return [
            {
                "pattern": pattern.name,
                "id": pattern.id,
                "number": self.numbers[pattern.name],
                **suggestion.as_json(),
                "likely": suggestion.confidence >= LIKELY,
                "severity": self.project.pattern(pattern.names).severity,
            }
            for pattern in self.patterns
            for suggestion in pattern.suggestions
        ]


def find(
    pattern: Sequence[str] = (),
    paths: Sequence[str | Path] = (),
    *,
    repo: str | Path = ".",
    patterns: Path | None = None,
    changed_since: str | None = None,
    min_confidence: float | None = None,
    force_exclude: bool = False,
    config: Path | None = None,
    isolated: bool = False,
    baseline: Path | None = None,
    new_only: bool = False,
    update: bool = False,
    possible: bool = False,
    verify: str | None = None,
    progress: Stages = silent,
) -> Found:
    """Find the places in the current files where learned patterns still apply; write only with `update`.

    `pattern` holds numbers, names or ids of patterns; if it is empty, all are searched for. `paths` are the files and
    folders to search; the default is the whole work tree. `patterns` is the folder that `learn` wrote, by default the
    one that the settings name, or else `.editvec` at the top of the work tree of `repo`. With `changed_since`, only
    files that differ from that revision are read. Only patterns with a verified rule and a confidence of at least
    `min_confidence` (by default, 0.3 or what the settings say) have places. The settings are those of `config` or of
    the nearest file (see `project_of`). Files in `paths` are read although the settings exclude them, unless
    `force_exclude`. `isolated`: no settings. With `verify`, a command (empty: that of the settings) judges the places
    in a scratch copy of the work tree. Those that it refuses are left out, and later calls have less confidence in
    their patterns. `baseline` is a file of known places: it is made if it does not exist, and places that are gone are
    removed from it, both only if no command judges. `new_only` leaves out known places. `update`: write the likely
    places; with `possible`, all, except for patterns that the settings only report.

    Raises:
        UserError: A pattern or path does not exist, or no given pattern has a verified rule.

    Examples:
        >>> import editvec
        >>> editvec.find(["1"]).patterns[0].suggestions[0].path
        'src/...'
    """
    repository, project = locate(str(repo)), project_of(repo, config, isolated)
    verify = project.verify_command(verify)
    folder = used_folder(patterns, project, repository)
    learned = with_verdicts(load(folder), verdicts(folder))
    picked, limits = pick(learned, pattern), below_top(repository, paths)
    ruled = _ruled(picked, given=bool(pattern))
    covers, tally = project.chosen(limits, force_exclude=force_exclude), Counter[str]()
    spoken = project.limited({each.language for each in ruled})
    files = worktree_files(repository, spoken, since=changed_since, paths=limits, covers=covers, tally=tally)
    with progress("Finding", "files") as advance:
        found = find_suggestions(ruled, files, min_confidence, advance, project, whole=not paths and not changed_since)
    result = _found(found, picked, project, everything=not pattern)
    result.filtered, result.numbers = tally["filtered"], _numbers(learned)
    if verify is not None:
        _judge(result, top_of(repository), folder, verify, progress)
    _compare(result, baseline, new_only, whole=not (pattern or paths or changed_since or verify is not None))
    return _written(result, top_of(repository), possible) if update else result


def _written(found: Found, top: Path, possible: bool) -> Found:
    """Write the likely places, or with `possible` all, and return what was found."""
    found.top = top
    write_suggestions(found, found.writable(possible=possible), "find")
    return found


def _numbers(learned: Sequence[Pattern]) -> dict[str, int]:
    """Return the numbers of patterns by name; variants have that of their pattern."""
    return {each.name: number for number, pattern in enumerate(learned, 1) for each in (pattern, *pattern.variants)}


def _found(search: Search, picked: Sequence[Pattern], project: Project, *, everything: bool) -> Found:
    searched = [each for each in picked if any(rule.name in search.patterns for rule in each.rules)]
    # Whether a comment for all patterns is needed shows only when all patterns are searched for.
    unused = tuple(each for each in search.unused if each.name or everything)
    return Found(
        tuple(regrouped(searched, search.patterns)), suppressed=tuple(search.suppressed), unused=unused, project=project
    )


def _judge(found: Found, top: Path, folder: Path, command: str, progress: Stages) -> None:
    """Leave out the places that a command refuses; the folder of the patterns keeps what it said."""
    judged, found.verification = judge_patterns(top, found.patterns, command, progress)
    found.patterns = tuple(judged)
    remember(folder, judged)


def _compare(found: Found, path: Path | None, new_only: bool, *, whole: bool) -> None:
    """Compare the places with a baseline; the baseline is kept up to date when `whole` trees are searched for all."""
    if path is None:
        if new_only:
            raise UserError("--new-only needs the known places. Give a file with --baseline.")
        return
    known = read_baseline(path)
    if known is None and (new_only or not whole):
        raise UserError(f"there is no {path}. Run editvec find --baseline {path} to list the places that are known.")
    prints = fingerprints_of(found.patterns)
    if whole:
        update_baseline(path, known, found.patterns, prints)
    old = set(prints.values()) if known is None else {each.fingerprint for each in known.places}
    found.num_known = sum(each in old for each in prints.values())
    if new_only:
        found.patterns = tuple(
            each.with_suggestions(tuple(s for s in each.suggestions if prints[each.name, s] not in old))
            for each in found.patterns
        )


def _ruled(picked: Sequence[Pattern], *, given: bool) -> list[Pattern]:
    """Return the patterns and variants that have a rule and evidence; raise UserError if no given one has."""
    ruled = [rule for each in picked for rule in each.rules if rule.evidence]
    if given and not ruled:
        raise UserError(
            "the given patterns have no verified rule. What the neural editor found is in the report of editvec learn."
        )
    return ruled


def find_suggestions(
    patterns: Sequence[Pattern],
    files: Iterable[File],
    min_confidence: float | None,
    progress: Advance,
    project: Project | None = None,
    *,
    whole: bool = True,
) -> Search:
    """Return the patterns with their suggestions; all patterns must have a rule and evidence.

    The evidence of each pattern gets the number of remaining matches; if the files are not the `whole` work tree, it
    keeps that of the last search, so that a pattern is as certain in one file as in all. Of overlapping matches, the
    one whose pattern has the highest confidence is kept. `progress` receives the number of files done, the total, and
    the places found.
    """
    project = project or Project()
    by_language: dict[str, list[File]] = defaultdict(list)
    for file in files:
        by_language[file.language].append(file)
    total, done = sum(map(len, by_language.values())), 0
    search = Search({pattern.name: pattern for pattern in patterns})
    found = search.patterns
    suggestions: dict[str, list[Suggestion]] = defaultdict(list)
    for language, group in sorted(by_language.items()):
        rules = [pattern.rule for pattern in patterns if pattern.language == language and pattern.rule]
        matches = match_rules(rules, [file.data for file in group], language)
        left = Counter(match.rule for each in matches for match in each)
        for name, count in left.items():
            evidence = found[name].evidence
            if evidence is not None and (whole or count > evidence.left):
                found[name] = replace(found[name], evidence=replace(evidence, left=count))
        due = {
            name
            for name, each in found.items()
            if each.is_due(project.min_confidence(each.names, min_confidence, MIN_CONFIDENCE))
        }
        for file, each in zip(group, matches, strict=True):
            sure = [match for match in each if match.rule in due]
            kept = _not_suppressed(file, sure, search, project, due)
            for match in keep_sound(file, _surest(kept, found)):
                suggestions[match.rule].append(_suggestion(file, match, found[match.rule]))
        done += len(group)
        progress(done, total, sum(map(len, suggestions.values())))
    search.patterns = {name: pattern.with_suggestions(tuple(suggestions[name])) for name, pattern in found.items()}
    return search


def _not_suppressed(
    file: File, matches: Sequence[Match], search: Search, project: Project, due: Collection[str]
) -> list[Match]:
    """Return the matches that are not suppressed; the search gets the others, and the comments that are not needed."""
    kept = []
    used: list[tuple[SuppressionComment, frozenset[str]]] = []
    for match in matches:
        pattern = search.patterns[match.rule]
        silence = silence_of(project, pattern.names, file, match.start, match.end)
        if silence is None:
            kept.append(match)
            continue
        search.suppressed.append(SuppressedSuggestion(pattern.name, _suggestion(file, match, pattern), silence))
        if silence.comment is not None:
            used.append((silence.comment, pattern.names))
    ran = [search.patterns[name].names for name in due if search.patterns[name].language == file.language]
    search.unused += unused_in(file, ran, used)
    return kept


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
    if pattern.reserved:
        why += f"; only possible: {pattern.reserved}"
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
