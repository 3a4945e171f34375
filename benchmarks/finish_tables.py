"""The tables that finish.py prints, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from editvec.evaluation.assisted import AssistedScore, summarise_assisted
from editvec.evaluation.metrics import Estimate, ratio
from editvec.evaluation.sweeps import (
    METRICS,
    SweepScore,
    by_kind,
    calibration_error,
    recall_at,
    reliability,
    summarise,
    with_oracle,
)

GOALS = (0.7, 0.85)
"""Shares of useful suggestions, by sweep, at which the recall is given."""
_SHORT = ("recall", "strict", "useful", "touched", "whole", "said")


def levels(possible: float, likely: float) -> dict[str, float]:
    """Return the thresholds of the tables by name."""
    return {"all": 0.0, "possible": possible, "likely": likely}


def percent(estimate: Estimate, *, interval: bool = False) -> str:
    """Return a share in per cent, with its interval if asked."""
    if math.isnan(estimate.value):
        return "–"
    ends = f" ({100 * estimate.low:.1f} – {100 * estimate.high:.1f})" if interval else ""
    return f"{100 * estimate.value:.1f}{ends}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def metrics_table(name: str, k: int, scores: Sequence[SweepScore], thresholds: Mapping[str, float]) -> str:
    """Return every metric of a system, in per cent with 95 % intervals, at each threshold."""
    columns = [summarise(scores, threshold) for threshold in thresholds.values()]
    head = [f"{name}, {k} shown, {len(scores)} sweeps", *(f"{each} (≥ {at:.2f})" for each, at in thresholds.items())]
    rows = [
        [f"{each}: {meaning}", *(percent(column[each], interval=True) for column in columns)]
        for each, meaning in METRICS.items()
    ]
    return table(head, rows)


def details(k: int, scores: Sequence[SweepScore], possible: float, likely: float) -> str:
    """Return the recall at given precisions, the oracle's limit, the kinds, languages, calibration and times."""
    parts = [_goals(k, scores), _oracle(scores, possible, likely)]
    divisions: dict[str, dict[str, list[SweepScore]]] = {
        "kind": {kind.value: group for kind, group in by_kind(scores).items()},
        "language": _divided(scores, lambda score: score.language),
        "repository": _divided(scores, lambda score: score.repository),
    }
    for level, threshold in (("possible", possible), ("likely", likely)):
        parts += [_groups(f"{what}, {level}", groups, threshold) for what, groups in divisions.items()]
    return "\n".join([*parts, _calibration(scores, possible), _times(scores)])


def _divided(scores: Iterable[SweepScore], key: Callable[[SweepScore], str]) -> dict[str, list[SweepScore]]:
    groups: dict[str, list[SweepScore]] = {}
    for score in scores:
        groups.setdefault(key(score), []).append(score)
    return groups


def _goals(k: int, scores: Sequence[SweepScore]) -> str:
    rows = []
    for goal in GOALS:
        for name, group in (("as scored", scores), ("oracle", list(map(with_oracle, scores)))):
            point = recall_at(group, goal)
            if point is None:
                rows.append([f"{goal:.0%}", name, "–", "–", "–"])
            else:
                recall, useful = (f"{100 * share:.1f}" for share in (point.recall, point.useful))
                rows.append([f"{goal:.0%}", name, recall, useful, f"{point.threshold:.3f}"])
    return table([f"{k} shown: goal of useful by sweep", "lines", "recall", "useful", "threshold"], rows)


def _oracle(scores: Sequence[SweepScore], possible: float, likely: float) -> str:
    limited = list(map(with_oracle, scores))
    rows = []
    for name, threshold in levels(possible, likely).items():
        found = summarise(limited, threshold)
        rows.append([name, *(percent(found[metric]) for metric in _SHORT)])
    return table(["oracle of the changed lines", *_SHORT], rows)


def _groups(what: str, groups: Mapping[str, Sequence[SweepScore]], threshold: float) -> str:
    rows = []
    for name, scores in groups.items():
        found = summarise(scores, threshold)
        rows.append([name, len(scores), *(percent(found[metric]) for metric in _SHORT)])
    return table([what, "sweeps", *_SHORT], rows)


def _calibration(scores: Sequence[SweepScore], minimum: float) -> str:
    bins = reliability(scores, minimum=minimum)
    rows = [
        [f"{held.low:.1f} – {held.high:.1f}", held.size, f"{100 * held.confidence:.1f}", f"{100 * held.useful:.1f}"]
        for held in bins
    ]
    caption = f"Expected calibration error: {100 * calibration_error(bins):.1f} %\n"
    return table(["confidence", "changes", "mean confidence", "useful"], rows) + "\n" + caption


def _times(scores: Sequence[SweepScore]) -> str:
    times = [score.seconds for score in scores] or [0.0]
    middle, late = np.percentile(times, [50, 90])
    return f"Seconds per sweep: mean {np.mean(times):.2f}, median {middle:.2f}, 90 % below {late:.2f}\n"


def assisted_table(loops: Mapping[str, Sequence[AssistedScore]]) -> str:
    """Return what a person gets done with each system."""
    rows = []
    for name, scores in loops.items():
        found = summarise_assisted(scores)
        shares = [percent(found[metric], interval=True) for metric in ("done", "whole", "unrefused")]
        refusals = found["refusals"]
        rows.append([name, len(scores), *shares, f"{refusals.value:.2f} ({refusals.low:.2f} – {refusals.high:.2f})"])
    return table(["assisted", "sweeps", "done", "whole", "whole without a refusal", "refusals a sweep"], rows)


def silence_table(scores: Sequence[SweepScore], possible: float, likely: float) -> str:
    """Return how often something is suggested that the commit did not do, in commits without a sweep."""
    rows = []
    for name, threshold in (("possible", possible), ("likely", likely)):
        counts = [score.counts(threshold) for score in scores]
        ones = [1.0] * len(counts)
        said = ratio([each.total > 0 for each in counts], ones)
        wrong = ratio([each.total > each.useful for each in counts], ones)
        untouched = ratio([each.wrong > 0 for each in counts], ones)
        rows.append([name, len(counts), *(percent(share, interval=True) for share in (said, wrong, untouched))])
    head = ["commits without a sweep", "edits", "something said", "something not useful", "something left alone"]
    return table(head, rows)
