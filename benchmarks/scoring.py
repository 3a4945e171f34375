"""Measure what the scorer of matches learns: by groups of features, by number of repositories, by settings.

The rows are those that `model/scorer.py` kept in its work folder. A row is always scored by trees that were fitted
without its repository. Recall is the share of the useful matches that are said, at the threshold at which 70 % or 85 %
of what is said is useful, both as means over replays; so what no hypothesis proposes does not count here.

    python benchmarks/scoring.py --work runs/scorer
    python benchmarks/scoring.py --work runs/scorer --groups --repositories
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from editvec.suggest.features import FEATURES
from editvec.training.scorer import calibration, fold_of, held_out_scores
from editvec.training.scorer_rows import ScorerRows, read_rows
from finish_tables import table

GOALS = (0.7, 0.85)
NUM_THRESHOLDS = 300
LIKELY = 0.8


def starts_with(*prefixes: str) -> Callable[[str], bool]:
    """Return whether a name starts with one of some prefixes, as a function."""
    return lambda name: name.startswith(prefixes)


def ends_with(*endings: str) -> Callable[[str], bool]:
    """Return whether a name ends with one of some words, as a function."""
    return lambda name: name.endswith(endings)


GROUPS: dict[str, Callable[[str], bool]] = {
    "which hypotheses propose it": starts_with("level_", "num_hypotheses", "literals", "holes", "context", "support"),
    "how many matches": starts_with("count_", "num_matches", "num_files", "in_file", "hits_on", "in_folder"),
    "tokens beside it": ends_with("_left", "_right", "_left_kinds", "_right_kinds", "_inside"),
    "lines around it": ends_with("_line", "_line_above", "_line_below", "_line_equal", "_line_kinds_equal", "_head"),
    "syntactic role": ends_with("_role_kind", "_role_parents", "_role_field", "_function_kind", "_same_function"),
    "call and receiver": ends_with("_callee", "_argument", "_bracket", "_receiver"),
    "block and scope": ends_with("_block", "_same_block", "_state", "_indent", "_distance"),
    "path": ends_with("_same_file", "_same_folder", "_path", "_name"),
    "rank among the matches": starts_with("above_", "mean_", "rank", "alike", "best_alike"),
    "agreement of the shown places": starts_with("shown_", "least_"),
    "refused places": starts_with("refused_", "num_refused"),
    "declarations": ends_with("declared", "declares", "local"),
    "the new form elsewhere": starts_with("added_in", "added_near", "removed_in"),
}
"""Groups of features that are left out one by one."""


class Quality(NamedTuple):
    """What scores are worth on some replays."""

    recall: tuple[float, ...]
    """At each of GOALS."""
    likely_recall: float
    likely_useful: float
    error: float
    """The expected calibration error of all rows with a confidence of at least 0.3."""


class Replays(NamedTuple):
    """Rows with confidences; what is counted is counted by replay."""

    confidences: NDArray[np.float64]
    useful: NDArray[np.bool_]
    weights: NDArray[np.float64]
    numbers: NDArray[np.int64]

    def shares(self, threshold: float) -> tuple[float, float]:
        """Return the recall and the share of what is said that is useful, both as means over replays."""
        size = int(self.numbers.max()) + 1
        said = self.confidences >= threshold
        hits = np.bincount(self.numbers, self.weights * (said & self.useful), size)
        there = np.bincount(self.numbers, self.weights * self.useful, size)
        total = np.bincount(self.numbers, self.weights * said, size)
        recall = float(np.mean(hits[there > 0] / there[there > 0]))
        return recall, float(np.mean(hits[total > 0] / total[total > 0])) if (total > 0).any() else 1.0


def quality(rows: ScorerRows, scores: NDArray[np.float64], chosen: NDArray[np.bool_]) -> Quality:
    """Return what scores are worth on the chosen rows; they are calibrated on all."""
    curve = calibration(scores, rows.useful, rows.weights)
    confidences = np.interp(scores, curve["curve_score"], curve["curve_probability"])
    part = rows.where(chosen)
    _, numbers = np.unique(part.replays, return_inverse=True)
    replays = Replays(confidences[chosen], part.useful, part.weights, numbers)
    points = [replays.shares(at) for at in np.quantile(confidences[chosen & rows.useful], np.linspace(0, 1, 300))]
    recall = tuple(max((found for found, useful in points if useful >= goal), default=0.0) for goal in GOALS)
    likely = replays.shares(LIKELY)
    return Quality(recall, *likely, calibration_error(replays))


def calibration_error(replays: Replays) -> float:
    """Return the mean gap between confidence and share of useful rows, over ten bins by weight."""
    said = replays.confidences >= 0.3
    bins = np.minimum(9, (replays.confidences[said] * 10).astype(int))
    weights = replays.weights[said]
    gaps = np.bincount(bins, weights * (replays.confidences[said] - replays.useful[said]), 10)
    return float(np.abs(gaps).sum() / weights.sum())


def columns(names: Sequence[bool]) -> NDArray[np.bool_]:
    """Return a mask of features."""
    return np.array(names, np.bool_)


def without(rows: ScorerRows, mask: NDArray[np.bool_]) -> ScorerRows:
    """Return rows with some features made equal everywhere, so that no tree can use them."""
    features = rows.features.copy()
    features[:, mask] = 0
    return ScorerRows(**(vars(rows) | {"features": features}))


def settings(rows: ScorerRows, options: argparse.Namespace) -> Iterator[tuple[str, ScorerRows, NDArray[np.bool_]]]:
    """Yield what is measured: a name, the rows, and the rows that count."""
    everything = np.ones(len(rows.useful), np.bool_)
    yield "all features, all repositories", rows, everything
    if options.groups:
        for name, belongs in GROUPS.items():
            mask = columns([belongs(each) for each in FEATURES])
            yield f"without {name} ({int(mask.sum())})", without(rows, mask), everything
    if options.repositories:
        names = list(range(int(rows.repositories.max()) + 1))
        random.Random(1).shuffle(names)
        size = len(names)
        for count in (size // 8, size // 4, size // 2):
            # Fitting leaves a fold out, so of each fold some repositories are kept.
            kept = np.isin(rows.repositories, sorted(names)[:: max(1, size // count)])
            yield f"{len(set(rows.repositories[kept].tolist()))} repositories, measured on themselves", rows, kept


def measured(rows: ScorerRows, scores: NDArray[np.float64], kept: NDArray[np.bool_]) -> Iterator[list[object]]:
    """Yield the rows of the table: by number of shown places, and with refused places."""
    plain = rows.is_sweep & (rows.num_refused == 0)
    parts = {
        "one shown": plain & (rows.num_shown == 1),
        "several shown": plain & (rows.num_shown > 1),
        "with refusals": rows.is_sweep & (rows.num_refused > 0),
    }
    for name, chosen in parts.items():
        found = quality(rows, scores, chosen & kept)
        shares = (*found.recall, found.likely_recall, found.likely_useful, found.error)
        yield [name, len(np.unique(rows.replays[chosen & kept])), *(f"{100 * share:.1f}" for share in shares)]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder with the rows of model/scorer.py")
    parser.add_argument("--groups", action="store_true", help="leave out groups of features one by one")
    parser.add_argument("--repositories", action="store_true", help="fit to parts of the repositories")
    parser.add_argument("--most", type=int, default=100, help="rows of a replay that are not useful, at most")
    options = parser.parse_args()
    files = sorted(options.work.glob("*.npz"))
    if not files:
        raise SystemExit(f"{options.work} has no rows. Make them with model/scorer.py --work {options.work}.")
    rows = read_rows(files).thinned(options.most)
    lines: list[list[object]] = []
    for name, given, kept in settings(rows, options):
        start = time.perf_counter()
        part = given.where(kept)
        scores = held_out_scores(part)
        for line in measured(part, scores, np.ones(len(part.useful), np.bool_)):
            lines.append([name, *line])
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    head = ["fitted with", "replays", "number", *(f"recall at {goal:.0%}" for goal in GOALS)]
    print(table([*head, "likely: recall", "likely: useful", "calibration error"], lines))
    print(f"{len(files)} repositories, {len(rows.useful):,} rows, {len(np.unique(fold_of(rows.repositories)))} folds")


if __name__ == "__main__":
    main()
