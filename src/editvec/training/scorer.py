"""Fit the scorer of matches to replays of sweeps.

The trees are scikit-learn's; what is kept of them are arrays. The calibration is fitted to scores of repositories that
the trees had not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.data.extras import require
from editvec.suggest.scorer import MatchScorer
from editvec.training.scorer_rows import ScorerRows

_FOLDS = 4
_BINS = 40
_NUM_EDGES = 254
_SAMPLE = 100_000
"""Number of rows that the bins of values are made from."""


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """How the trees are grown."""

    num_trees: int = 400
    learning_rate: float = 0.04
    num_leaves: int = 24
    min_rows: int = 60
    regularisation: float = 20.0
    columns: float = 0.3


def replay_weights(rows: ScorerRows, power: float = 0.5) -> NDArray[np.float64]:
    """Return the weights of rows: a replay with n rows counts n ** (1 - power) times as much as one row."""
    totals = np.bincount(rows.replays, rows.weights)
    weights: NDArray[np.float64] = rows.weights * totals[rows.replays] ** -power
    return weights


def fit_scorer(rows: ScorerRows, settings: TreeSettings | None = None) -> tuple[MatchScorer, NDArray[np.float64]]:
    """Return a scorer, and for each row the confidence that a scorer without its repository gives it."""
    settings = settings or TreeSettings()
    weights = replay_weights(rows)
    held_out = held_out_scores(rows, settings)
    curve = calibration(held_out, rows.useful, rows.weights)
    whole = FittedTrees(rows.features, rows.useful, weights, settings)
    arrays, depth = tree_arrays(whole)
    confidences = np.interp(held_out, curve["curve_score"], curve["curve_probability"])
    return MatchScorer({**arrays, **curve}, depth), confidences


def held_out_scores(rows: ScorerRows, settings: TreeSettings | None = None) -> NDArray[np.float64]:
    """Return the score of each row by trees that were fitted without the repositories of its fold."""
    weights = replay_weights(rows)
    folds = fold_of(rows.repositories)
    scores = np.zeros(len(rows.useful))
    for fold in np.unique(folds):
        seen = folds != fold
        trees = FittedTrees(rows.features[seen], rows.useful[seen], weights[seen], settings or TreeSettings())
        scores[~seen] = trees.scores(rows.features[~seen])
    return scores


def fold_of(repositories: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the fold of each row; a repository is in one fold, and the folds have similar numbers of repositories."""
    _, numbers = np.unique(repositories, return_inverse=True)
    folds: NDArray[np.int64] = numbers % _FOLDS
    return folds


class FittedTrees:
    """Boosted trees over the numbers of the bins that values fall into.

    scikit-learn gets the numbers, not the values: its own bins for weighted rows take longer than the trees.
    """

    def __init__(
        self,
        features: NDArray[np.float32],
        useful: NDArray[np.bool_],
        weights: NDArray[np.float64],
        settings: TreeSettings,
    ) -> None:
        """Fit the trees to rows."""
        ensemble = require("sklearn.ensemble", extra="train", what="scorers")
        self.edges = bin_edges(features)
        self.model: Any = ensemble.HistGradientBoostingClassifier(
            max_iter=settings.num_trees,
            learning_rate=settings.learning_rate,
            max_leaf_nodes=settings.num_leaves,
            min_samples_leaf=settings.min_rows,
            l2_regularization=settings.regularisation,
            max_features=settings.columns,
            early_stopping=False,
            random_state=1,
        )
        self.model.fit(self._bins(features), useful, sample_weight=weights)

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the sum of the trees for each row."""
        scores: NDArray[np.float64] = self.model.decision_function(self._bins(features))
        return scores

    def _bins(self, features: NDArray[np.float32]) -> NDArray[np.uint8]:
        numbers = np.empty(features.shape, np.uint8)
        for column, edges in enumerate(self.edges):
            numbers[:, column] = np.searchsorted(edges, features[:, column])
        return numbers


def bin_edges(features: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Return the edges of each feature's bins, at most 254: a value is in the bin of the first edge not below it."""
    step = max(1, len(features) // _SAMPLE)
    shares = np.linspace(0, 1, _NUM_EDGES)
    return [np.unique(np.quantile(column, shares, method="lower")) for column in features[::step].T]


def tree_arrays(trees: FittedTrees) -> tuple[dict[str, NDArray[Any]], int]:
    """Return fitted trees as arrays, with thresholds for values, and the depth of the deepest tree."""
    model = trees.model
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[float] = []
    roots: list[int] = []
    depth = 0
    for (predictor,) in model._predictors:
        base = len(value)
        roots.append(base)
        for number, node in enumerate(predictor.nodes):
            leaf = bool(node["is_leaf"])
            feature.append(0 if leaf else int(node["feature_idx"]))
            threshold.append(0.0 if leaf else float(trees.edges[feature[-1]][int(node["num_threshold"])]))
            left.append(base + (number if leaf else int(node["left"])))
            right.append(base + (number if leaf else int(node["right"])))
            value.append(float(node["value"]) if leaf else 0.0)
            depth = max(depth, int(node["depth"]))
    baseline = float(np.ravel(model._baseline_prediction)[0])
    # The baseline is spread over the trees, so that a score is the sum of their values.
    values = np.array(value)
    spread = baseline / len(roots)
    leaves = np.array([at == here for here, at in enumerate(left)])
    arrays: dict[str, NDArray[Any]] = {
        "feature": np.array(feature, np.int16),
        "threshold": np.array(threshold, np.float32),
        "left": np.array(left, np.int32),
        "right": np.array(right, np.int32),
        "value": (values + spread * leaves).astype(np.float32),
        "roots": np.array(roots, np.int32),
    }
    return arrays, depth


def calibration(
    scores: NDArray[np.float64], useful: NDArray[np.bool_], weights: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Return a monotone curve from scores to probabilities, as points; isotonic over bins of equal weight."""
    isotonic = require("sklearn.isotonic", extra="train", what="scorers")
    fitted = isotonic.IsotonicRegression(y_min=0.0, y_max=1.0).fit(scores, useful, sample_weight=weights)
    order = np.argsort(scores)
    # Points are spread over the useful rows: most rows are far below any threshold.
    positive = scores[order][useful[order]]
    points = np.unique(np.quantile(positive, np.linspace(0, 1, _BINS)))
    points = np.concatenate([[scores.min() - 1], points])
    probabilities = np.maximum.accumulate(
        np.clip(fitted.predict(np.clip(points, scores.min(), scores.max())), 0.001, 0.995)
    )
    return {"curve_score": points.astype(np.float64), "curve_probability": probabilities.astype(np.float64)}
