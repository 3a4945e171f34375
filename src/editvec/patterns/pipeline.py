"""The stages of learning: mine, encode, group, induce rules, collect evidence, find the remaining matches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.data.progress import Advance, Stages, silent
from editvec.data.store import Store
from editvec.diff.signature import Signature, signature_of
from editvec.mining import run
from editvec.patterns.find import find_suggestions
from editvec.patterns.grouping import group
from editvec.patterns.memory import encode_edits, evidence_for, imports_for
from editvec.patterns.pattern import MIN_CONFIDENCE, JudgedPattern, Pattern
from editvec.patterns.rules import patterns_of
from editvec.patterns.verify import with_verdicts
from editvec.rules.rule import InducedRule, ProseRule, runnable
from editvec.suggest.editor import find_by_editor
from editvec.suggest.evidence import Evidence, RuledEdits
from editvec.suggest.few_shot import FewShotEditor
from editvec.suggest.verify import Judgement
from editvec.vcs.old_files import OldFiles
from editvec.vcs.worktree import File, worktree_files

if TYPE_CHECKING:
    from editvec.neural.model import EditModel


@dataclass(frozen=True, slots=True)
class LearnRequest:
    """A request to learn: what to mine, and the limits."""

    mining: run.MiningRequest
    min_edits: int = 3
    min_commits: int = 2
    max_groups: int = 150
    """Maximum number of groups for which rules are induced; the most frequent ones are taken."""
    max_edited: int = 20
    """Maximum number of patterns without a rule on which the editor is tried; the best ranked ones are taken."""
    min_confidence: float = MIN_CONFIDENCE
    """Minimum confidence of a suggestion."""
    judged: Mapping[str, JudgedPattern] = field(default_factory=dict)
    """What a command said of patterns in an earlier run, by their ids."""
    revision: str | None = None
    """Revision in whose files to search for matches; None for the work tree."""


@dataclass(slots=True)
class Learned:
    """The result of learning."""

    edits: list[Edit]
    vectors: NDArray[np.float32] | None
    patterns: list[Pattern]
    """The patterns, best ranked first."""
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
        learned.edits = list(run.edits(request.mining, report, advance))
    if model is not None and learned.edits:
        with _stage(learned, stages, "Encoding", "edits") as advance:
            learned.vectors = encode_edits(model, learned.edits, store, advance)
    with _stage(learned, stages, "Grouping", "edits"):
        groups = group(learned.edits, learned.vectors, min_edits=request.min_edits, min_commits=request.min_commits)
        learned.groups = len(groups)
    with _stage(learned, stages, "Rules", "groups") as advance:
        found = patterns_of(
            groups[: request.max_groups],
            learned.edits,
            min_edits=request.min_edits,
            min_commits=request.min_commits,
            progress=advance,
        )
        named = _named(found)
    with _stage(learned, stages, "History", "languages") as advance, OldFiles(repository) as old_files:
        doubts = _doubts(named, learned.edits)
        tried = _recorded(named, old_files, doubts, store, advance)
        tried = [_with_imports(pattern, old_files, store) for pattern in with_verdicts(tried, request.judged)]
    with _stage(learned, stages, "Finding", "files") as advance:
        ruled = [pattern for pattern in tried if pattern.rule and pattern.evidence]
        languages, tally = {pattern.language for pattern in tried}, Counter[str]()
        files = list(worktree_files(repository, languages, revision=request.revision, tally=tally))
        learned.filtered = tally["filtered"]
        suggestions = find_suggestions(ruled, files, request.min_confidence, advance)
    if model is not None:
        with _stage(learned, stages, "Editing", "patterns") as advance:
            bare = [pattern for pattern in tried if not pattern.rule]
            suggestions |= _edited(model, bare, files, doubts, request, advance)
    learned.patterns = sorted(
        (suggestions.get(pattern.name, pattern) for pattern in tried),
        key=lambda pattern: (-pattern.worth, pattern.name),
    )
    return learned


@contextmanager
def _stage(learned: Learned, stages: Stages, title: str, unit: str) -> Iterator[Advance]:
    start = time.monotonic()
    with stages(title, unit) as advance:
        yield advance
    learned.seconds[title] = time.monotonic() - start


def _edited(
    model: EditModel,
    bare: Sequence[Pattern],
    files: Sequence[File],
    doubts: dict[str, Evidence],
    request: LearnRequest,
    advance: Advance,
) -> dict[str, Pattern]:
    """Return the best ranked patterns without a rule, by name, with the editor's sufficiently confident suggestions."""
    chosen = sorted(bare, key=lambda pattern: (-pattern.worth, pattern.name))[: request.max_edited]
    found: dict[str, Pattern] = {}
    editor = FewShotEditor(model)
    for number, pattern in enumerate(chosen):
        advance(number, len(chosen), sum(len(each.suggestions) for each in found.values()))
        suggestions = find_by_editor(editor, pattern.edits, files, doubts[pattern.name]) if not pattern.promises else ()
        found[pattern.name] = pattern.with_suggestions(
            tuple(s for s in suggestions if s.confidence >= request.min_confidence)
        )
    return found


def _named(found: Sequence[tuple[Pattern, InducedRule | ProseRule | None]]) -> list[Pattern]:
    """Give each pattern a unique name, and its rule the same name."""
    used: Counter[str] = Counter()
    named = []
    for pattern, rule in sorted(found, key=lambda item: (-item[0].num_edits, item[0].before, item[0].after)):
        used[pattern.name] += 1
        name = pattern.name if used[pattern.name] == 1 else f"{pattern.name}-{used[pattern.name]}"
        named.append(replace(pattern, name=name, rule=runnable(rule, name, pattern.title) if rule else None))
    return named


def _doubts(named: Sequence[Pattern], edits: Sequence[Edit]) -> dict[str, Evidence]:
    """Return evidence against each pattern, by name.

    It is how often people made the reverse edit, and how many years ago they last made the edit itself.
    """
    signatures = Counter((edit.language, signature_of(edit)) for edit in edits)
    end = max((edit.source.author_date for edit in edits if edit.source and edit.source.author_date), default=None)
    return {
        pattern.name: Evidence(
            0,
            0,
            reversed=signatures[pattern.language, _reverse(signature_of(pattern.edits[0]))],
            years=(end - pattern.span[1]).days / 365.25 if end and pattern.span else 0.0,
        )
        for pattern in named
    }


def _recorded(
    named: Sequence[Pattern], old_files: OldFiles, doubts: dict[str, Evidence], store: Store | None, advance: Advance
) -> list[Pattern]:
    """Return the patterns with the evidence for their rules."""
    languages = sorted({pattern.language for pattern in named if pattern.rule})
    said: dict[str, Evidence | None] = {}
    for number, language in enumerate(languages):
        advance(number, len(languages), 0)
        ruled = [pattern for pattern in named if pattern.rule and pattern.language == language]
        asked = [RuledEdits(each.rule, each.edits) for each in ruled if each.rule]
        for pattern, evidence in zip(ruled, evidence_for(old_files, asked, language, store), strict=True):
            doubt = doubts[pattern.name]
            said[pattern.name] = replace(doubt, matched=evidence.matched, edited=evidence.edited) if evidence else None
    return [_believed(pattern, said.get(pattern.name)) for pattern in named]


def _with_imports(pattern: Pattern, old_files: OldFiles, store: Store | None) -> Pattern:
    """Return a pattern with the imports that come along with its edits, if it has a rule that can bring them."""
    if pattern.rule is None or pattern.of_imports:
        return pattern
    return replace(pattern, imports=imports_for(old_files, pattern.edits, store))


def _believed(pattern: Pattern, evidence: Evidence | None) -> Pattern:
    """Return a pattern with its evidence; its rule is removed if no match of it in the old files was edited."""
    if evidence is not None and not evidence.edited:
        return replace(pattern, rule=None, support=0)
    return replace(pattern, evidence=evidence)


def _reverse(signature: Signature) -> Signature:
    return Signature(tuple((added, removed) for removed, added in signature.runs))
