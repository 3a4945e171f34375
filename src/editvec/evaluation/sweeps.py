"""Scores of finishing sweeps: what was suggested for the places that were not shown, and what the commit says of it.

A score holds the judged changes with their confidences, so that every threshold can be read from one run. Counts follow
one rule: recall counts places of the sweep that read as the commit left them, precision counts changes of lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from editvec.core.match import Suggestion
from editvec.evaluation.kinds import EditKind, kind_of_sweep
from editvec.evaluation.metrics import Estimate, ratio
from editvec.mining.sweeps import Sweep
from editvec.suggest.replay import CommitHunks, Verdict, judge, line_changes, shown_and_targets

MAX_THRESHOLDS = 200
NUM_BINS = 10


class JudgedChange(NamedTuple):
    """A change of lines as the commit sees it; it is made at thresholds above `above` and up to `confidence`."""

    confidence: float
    above: float
    verdict: Verdict
    num_hits: int
    """Places of the sweep that it leaves as the commit did."""


class SweepCounts(NamedTuple):
    """What was suggested for a sweep at one threshold."""

    targets: int
    hits: int
    right: int
    part: int
    differs: int
    wrong: int

    @property
    def total(self) -> int:
        """Return the number of changed lines, or of groups of lines."""
        return self.right + self.part + self.differs + self.wrong

    @property
    def useful(self) -> int:
        """Return the number of changes that a person would take."""
        return self.right + self.part

    @property
    def touched(self) -> int:
        """Return the number of changes of lines that the commit changed."""
        return self.total - self.wrong


@dataclass(frozen=True, slots=True)
class SweepScore:
    """The judged changes that were suggested for one sweep."""

    repository: str
    language: str
    commit: str
    signature: str
    kind: EditKind
    num_shown: int
    num_targets: int
    changes: tuple[JudgedChange, ...]
    seconds: float = 0.0

    def made(self, threshold: float) -> list[JudgedChange]:
        """Return the changes that are made if only suggestions of at least this confidence are."""
        return [change for change in self.changes if change.above < threshold <= change.confidence]

    def counts(self, threshold: float = 0.0) -> SweepCounts:
        """Return the counts if only suggestions of at least this confidence are made."""
        made = self.made(threshold)
        verdicts = [change.verdict for change in made]
        return SweepCounts(self.num_targets, sum(change.num_hits for change in made), *map(verdicts.count, Verdict))

    def as_json(self) -> dict[str, Any]:
        """Return the score as JSON values."""
        values = {name: getattr(self, name) for name in self.__slots__}
        changes = [(change.confidence, change.above, change.verdict.value, change.num_hits) for change in self.changes]
        return values | {"kind": self.kind.value, "changes": changes}


def score_sweep(
    sweep: Sweep,
    num_shown: int,
    texts: Mapping[str, bytes],
    hunks: CommitHunks,
    suggestions: Iterable[Suggestion],
    *,
    repository: str = "",
    language: str = "",
    seconds: float = 0.0,
) -> SweepScore:
    """Return the score of suggestions made after `num_shown` places of a sweep were shown.

    `texts` are the files for which the suggestions were made, by path, and `hunks` those of the commit. Changes of
    lines that were shown do not count.
    """
    shown, targets = shown_and_targets(sweep, num_shown)
    shown_lines = {(site.path, site.line) for site in shown}
    target_lines = {(site.path, site.line) for site in targets}
    judged = []
    for change in line_changes(texts, suggestions):
        lines = {(change.path, line) for line in range(change.first, change.last + 1)}
        if not lines & shown_lines:
            verdict = judge(hunks.get(change.path, ()), change.first, change.last, change.text, change.old)
            num_hits = len(lines & target_lines) if verdict is Verdict.RIGHT else 0
            judged.append(JudgedChange(change.confidence, change.above, verdict, num_hits))
    return SweepScore(
        repository,
        language,
        sweep.commit,
        sweep.signature,
        kind_of_sweep(sweep),
        num_shown,
        len(targets),
        tuple(judged),
        seconds,
    )


def with_oracle(score: SweepScore) -> SweepScore:
    """Return the score without the changes of lines that the commit left alone: the limit of any choice of lines."""
    return replace(score, changes=tuple(each for each in score.changes if each.verdict is not Verdict.WRONG))


METRICS: Mapping[str, str] = {
    "recall": "places left as the commit did, mean over sweeps",
    "strict": "changes that are right, mean over sweeps with a suggestion",
    "useful": "changes that are right or a part, mean over sweeps with a suggestion",
    "touched": "changes of lines that the commit changed, mean over sweeps with a suggestion",
    "strict_of_all": "changes that are right, of all changes",
    "useful_of_all": "changes that are right or a part, of all changes",
    "touched_of_all": "changes of lines that the commit changed, of all changes",
    "whole": "sweeps with every place left as the commit did",
    "clean": "sweeps with every place left as the commit did, and nothing that is not useful",
    "said": "sweeps with a suggestion",
}
"""The metrics of sweeps, each with what it is the share of."""


def _terms(counts: SweepCounts) -> dict[str, tuple[float, float]]:
    """Return what a sweep adds to the numerator and the denominator of each metric."""
    said = float(counts.total > 0)
    total = max(1, counts.total)
    good = {"strict": counts.right, "useful": counts.useful, "touched": counts.touched}
    whole = counts.hits == counts.targets
    return {
        "recall": (counts.hits / max(1, counts.targets), 1),
        **{name: (number / total, said) for name, number in good.items()},
        **{f"{name}_of_all": (number, counts.total) for name, number in good.items()},
        "whole": (whole, 1),
        "clean": (whole and counts.useful == counts.total, 1),
        "said": (said, 1),
    }


def summarise(scores: Iterable[SweepScore], threshold: float = 0.0) -> dict[str, Estimate]:
    """Return every metric of `METRICS` at a threshold, with its bootstrap interval over sweeps."""
    terms = [_terms(score.counts(threshold)) for score in scores]
    return {name: ratio([term[name][0] for term in terms], [term[name][1] for term in terms]) for name in METRICS}


class OperatingPoint(NamedTuple):
    """A threshold, and the recall and precision (useful, by sweep) that it gives."""

    threshold: float
    recall: float
    useful: float


def operating_points(scores: Sequence[SweepScore]) -> list[OperatingPoint]:
    """Return the points for at most `MAX_THRESHOLDS` of the confidences, the lowest threshold first."""
    confidences = sorted({change.confidence for score in scores for change in score.changes})
    step = max(1, -(-len(confidences) // MAX_THRESHOLDS))
    points = []
    for threshold in confidences[::step]:
        terms = [_terms(score.counts(threshold)) for score in scores]
        said = sum(term["useful"][1] for term in terms)
        recall = sum(term["recall"][0] for term in terms) / len(terms)
        useful = sum(term["useful"][0] for term in terms) / said if said else 1.0
        points.append(OperatingPoint(threshold, recall, useful))
    return points


def recall_at(scores: Sequence[SweepScore], useful: float) -> OperatingPoint | None:
    """Return the point with the highest recall whose precision is at least `useful`; None if there is none."""
    allowed = [point for point in operating_points(scores) if point.useful >= useful]
    return max(allowed, key=lambda point: point.recall, default=None)


def by_kind(scores: Iterable[SweepScore]) -> dict[EditKind, list[SweepScore]]:
    """Return the scores of each kind of edit that occurs, in the order of `EditKind`."""
    groups: dict[EditKind, list[SweepScore]] = {kind: [] for kind in EditKind}
    for score in scores:
        groups[score.kind].append(score)
    return {kind: group for kind, group in groups.items() if group}


class ReliabilityBin(NamedTuple):
    """Changes whose confidence is in [low, high): their number, mean confidence, and the share that is useful."""

    low: float
    high: float
    size: int
    confidence: float
    useful: float


def reliability(
    scores: Iterable[SweepScore], *, minimum: float = 0.0, num_bins: int = NUM_BINS
) -> list[ReliabilityBin]:
    """Return the bins with changes if all suggestions with a confidence of at least `minimum` are made."""
    changes = [change for score in scores for change in score.made(minimum)]
    bins: list[list[JudgedChange]] = [[] for _ in range(num_bins)]
    for change in changes:
        bins[min(num_bins - 1, int(change.confidence * num_bins))].append(change)
    return [
        ReliabilityBin(
            at / num_bins,
            (at + 1) / num_bins,
            len(held),
            float(np.mean([change.confidence for change in held])),
            float(np.mean([change.verdict.is_useful for change in held])),
        )
        for at, held in enumerate(bins)
        if held
    ]


def calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Return the expected calibration error: the mean gap between confidence and share, weighted by size."""
    total = sum(held.size for held in bins)
    return sum(held.size * abs(held.confidence - held.useful) for held in bins) / total if total else 0.0
