"""The stages of learning: mine, encode, group, induce rules, collect evidence, find the remaining matches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.match import Suggestion
from editvec.data.progress import Advance, Stages, silent
from editvec.data.project import Project
from editvec.data.store import Store
from editvec.diff.signature import Signature, signature_of
from editvec.mining import run
from editvec.patterns.find import find_suggestions
from editvec.patterns.grouping import group
from editvec.patterns.memory import encode_edits, evidence_for, imports_for, rules_for
from editvec.patterns.pattern import MIN_CONFIDENCE, JudgedPattern, Pattern, regrouped
from editvec.patterns.ranking import Course, best, end_of
from editvec.patterns.rules import Limits, patterns_of
from editvec.patterns.selection import is_below, to_learn_from
from editvec.patterns.variants import gather
from editvec.patterns.verify import with_verdicts
from editvec.rules.rule import InducedRule, ProseRule, runnable
from editvec.suggest.editor import MAX_TRIALS, find_by_editor
from editvec.suggest.evidence import Evidence, RuledEdits
from editvec.suggest.few_shot import FewShotEditor
from editvec.suggest.suppression import silence_of
from editvec.suggest.verify import Judgement
from editvec.vcs.old_files import OldFiles
from editvec.vcs.worktree import File, worktree_files

if TYPE_CHECKING:
    from editvec.neural.model import EditModel

TOP = 50
"""Default maximum number of habits, and of migrations."""


@dataclass(frozen=True, slots=True)
class LearnRequest:
    """A request to learn: what to mine, and the limits."""

    mining: run.MiningRequest
    min_edits: int = 3
    min_commits: int = 2
    min_confidence: float | None = None
    """Minimum confidence of a suggestion; None for that of the settings."""
    top: int = TOP
    """Maximum number of habits, and of migrations; places are searched only for these."""
    authors: tuple[str, ...] = ()
    """Parts of the names of the authors to learn from; all if empty."""
    judged: Mapping[str, JudgedPattern] = field(default_factory=dict)
    """What a command said of patterns in an earlier run, by their ids."""
    min_sweep: int = 10
    """Number of edits in several files from which on a single commit makes a migration."""
    max_groups: int = 150
    """Maximum number of groups for which rules are induced; the most frequent ones are taken."""
    max_edited: int = 20
    """Maximum number of patterns without a rule on which the editor is tried; the best ranked ones are taken."""
    project: Project = field(default_factory=Project)
    """The settings: which files are read, and which places are suppressed."""
    revision: str | None = None
    """Revision in whose files to search for matches; None for the work tree."""


@dataclass(slots=True)
class Learned:
    """The result of learning."""

    edits: list[Edit]
    vectors: NDArray[np.float32] | None
    patterns: list[Pattern]
    """The patterns: habits before migrations, each the best ranked first."""
    report: run.MiningReport
    groups: int = 0
    filtered: int = 0
    """Number of files that were skipped because a git filter rewrites them."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Duration of each stage in seconds."""
    folder: Path | None = None
    """The folder to which the result was written."""
    verification: Judgement | None = None
    """What the command said of the places, if one judged them."""


def learn_patterns(request: LearnRequest, model: EditModel | None = None, stages: Stages = silent) -> Learned:
    """Learn the patterns of a repository, stage by stage.

    Without a model, edits are grouped only by their signatures, and matches are found only by rules.

    Raises:
        GitError: The repository cannot be read.
        UserError: The cache cannot be read.
    """
    repository = request.mining.task.repository
    with Store.of(repository.path) if request.mining.resume else nullcontext() as store:
        return _learn(request, model, stages, store)


def _learn(request: LearnRequest, model: EditModel | None, stages: Stages, store: Store | None) -> Learned:
    report = run.MiningReport()
    learned = Learned([], None, [], report)
    repository = request.mining.task.repository
    with _stage(learned, stages, "Mining", "commits") as advance:
        mined = run.edits(request.mining, report, advance)
        covered = [edit for edit in mined if not edit.source or request.project.covers(edit.source.path)]
        learned.edits = to_learn_from(covered, request.authors)
    if model is not None and learned.edits:
        with _stage(learned, stages, "Encoding", "edits") as advance:
            learned.vectors = encode_edits(model, learned.edits, store, advance)
    limits = Limits(request.min_edits, request.min_commits, request.min_sweep)
    with _stage(learned, stages, "Grouping", "edits"):
        groups = group(
            learned.edits, learned.vectors, min_edits=limits.edits, min_commits=limits.commits, min_sweep=limits.sweep
        )
        learned.groups = len(groups)
    with _stage(learned, stages, "Rules", "groups") as advance:
        found = patterns_of(
            groups[: request.max_groups],
            learned.edits,
            limits,
            rules_of=partial(rules_for, store=store),
            progress=advance,
        )
        named = _named(found, learned.edits)
    with _stage(learned, stages, "History", "languages") as advance, OldFiles(repository) as old_files:
        end = end_of(learned.edits)
        tried = best(gather(_recorded(named, old_files, end, store, advance)), end, request.top)
        tried = with_verdicts(tried, request.judged)
        learned.patterns = [_with_imports(pattern, old_files, store) for pattern in tried]
    with _stage(learned, stages, "Finding", "files") as advance:
        files = _files(learned, request)
        ruled = [rule for pattern in learned.patterns for rule in pattern.rules if rule.evidence]
        suggestions = find_suggestions(ruled, files, request.min_confidence, advance, request.project).patterns
    if model is not None:
        with _stage(learned, stages, "Editing", "patterns") as advance:
            suggestions |= _edited(model, learned.patterns, files, end, request, advance)
    # How many matches are left is known only now.
    learned.patterns = best(regrouped(learned.patterns, suggestions), end, request.top)
    return learned


def _files(learned: Learned, request: LearnRequest) -> list[File]:
    """Return the files in which places of the patterns are searched."""
    task = request.mining.task
    languages, tally = {pattern.language for pattern in learned.patterns}, Counter[str]()
    covers = request.project.covers
    files = worktree_files(task.repository, languages, revision=request.revision, covers=covers, tally=tally)
    chosen = [file for file in files if is_below(file.path, task.paths)]
    learned.filtered = tally["filtered"]
    return chosen


@contextmanager
def _stage(learned: Learned, stages: Stages, title: str, unit: str) -> Iterator[Advance]:
    start = time.monotonic()
    with stages(title, unit) as advance:
        yield advance
    learned.seconds[title] = time.monotonic() - start


def _edited(
    model: EditModel,
    patterns: Sequence[Pattern],
    files: Sequence[File],
    end: datetime | None,
    request: LearnRequest,
    advance: Advance,
) -> dict[str, Pattern]:
    """Return the patterns without a rule, by name, with the editor's sufficiently confident suggestions.

    The editor is slow, so it is tried only where a place could be shown: on habits that people still follow, if the
    confidence would suffice for a single place and only right answers.
    """
    bare = [each for each in patterns if not each.rules and each.course is Course.HABIT and not each.reserved]
    chosen = bare[: request.max_edited]
    found: dict[str, Pattern] = {}
    editor, by_path = FewShotEditor(model), {file.path: file for file in files}

    def is_wanted(pattern: Pattern, place: Suggestion) -> bool:
        least = request.project.min_confidence(pattern.names, request.min_confidence, MIN_CONFIDENCE)
        file = by_path[place.path]
        return place.confidence >= least and not silence_of(
            request.project, pattern.names, file, place.start, place.end
        )

    for number, pattern in enumerate(chosen):
        advance(number, len(chosen), sum(len(each.suggestions) for each in found.values()))
        doubt = _doubt(pattern, end)
        most = min(2 * len(pattern.edits), 2 * MAX_TRIALS)
        least = request.project.min_confidence(pattern.names, request.min_confidence, MIN_CONFIDENCE)
        if replace(doubt, matched=most, edited=most, left=1).confidence >= least:
            suggestions = find_by_editor(editor, pattern.edits, files, doubt)
            wanted = tuple(place for place in suggestions if is_wanted(pattern, place))
            found[pattern.name] = pattern.with_suggestions(wanted)
    return found


def _named(found: Sequence[tuple[Pattern, InducedRule | ProseRule | None]], edits: Sequence[Edit]) -> list[Pattern]:
    """Give each pattern a unique name, its rule the same name, and the number of reverse edits."""
    used: Counter[str] = Counter()
    signatures = Counter((edit.language, signature_of(edit)) for edit in edits)
    named = []
    for pattern, rule in sorted(found, key=lambda item: (-item[0].num_edits, item[0].before, item[0].after)):
        used[pattern.name] += 1
        name = pattern.name if used[pattern.name] == 1 else f"{pattern.name}-{used[pattern.name]}"
        reverse = signatures[pattern.language, _reverse(signature_of(pattern.edits[0]))]
        made = runnable(rule, name, pattern.title) if rule else None
        named.append(replace(pattern, name=name, rule=made, num_reversed=reverse))
    return named


def _doubt(pattern: Pattern, end: datetime | None) -> Evidence:
    """Return the evidence against a pattern: how often people made the reverse edit, and how long ago they stopped."""
    years = (end - pattern.span[1]).days / 365.25 if end and pattern.span else 0.0
    return Evidence(0, 0, reversed=pattern.num_reversed, years=years)


def _recorded(
    named: Sequence[Pattern], old_files: OldFiles, end: datetime | None, store: Store | None, advance: Advance
) -> list[Pattern]:
    """Return the patterns with the evidence for their rules."""
    languages = sorted({pattern.language for pattern in named if pattern.rule})
    said: dict[str, Evidence | None] = {}
    for number, language in enumerate(languages):
        advance(number, len(languages), 0)
        ruled = [pattern for pattern in named if pattern.rule and pattern.language == language]
        asked = [RuledEdits(each.rule, each.edits) for each in ruled if each.rule]
        for pattern, evidence in zip(ruled, evidence_for(old_files, asked, language, store), strict=True):
            doubt = _doubt(pattern, end)
            said[pattern.name] = replace(doubt, matched=evidence.matched, edited=evidence.edited) if evidence else None
    return [_believed(pattern, said.get(pattern.name)) for pattern in named]


def _with_imports(pattern: Pattern, old_files: OldFiles, store: Store | None) -> Pattern:
    """Return a pattern with the imports that come along with its edits, if it has a rule that can bring them."""
    if not pattern.rules or pattern.of_imports:
        return pattern
    imports = imports_for(old_files, pattern.edits, store)
    return replace(
        pattern, imports=imports, variants=tuple(replace(each, imports=imports) for each in pattern.variants)
    )


def _believed(pattern: Pattern, evidence: Evidence | None) -> Pattern:
    """Return a pattern with its evidence; its rule is removed if no match of it in the old files was edited."""
    if evidence is not None and not evidence.edited:
        return replace(pattern, rule=None, support=0)
    return replace(pattern, evidence=evidence)


def _reverse(signature: Signature) -> Signature:
    return Signature(tuple((added, removed) for removed, added in signature.runs))
