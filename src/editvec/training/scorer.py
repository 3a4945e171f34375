"""Fit the scorer of matches to replays of sweeps.

The trees are scikit-learn's; what is kept of them are arrays. The calibration is fitted to scores of repositories that
the trees had not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.data.extras import require
from editvec.suggest.scorer import MatchScorer

_FOLDS = 5
_BINS = 40


@dataclass(frozen=True, eq=False)
class ScorerRows:
    """Rows to fit: features, whether a match is useful, weights, and the replay and the repository of each row."""

    features: NDArray[np.float32]
    useful: NDArray[np.bool_]
    weights: NDArray[np.float64]
    replays: NDArray[np.int64]
    repositories: NDArray[np.int64]


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
    folds = fold_of(rows.repositories)
    held_out = np.zeros(len(rows.useful))
    for fold in range(_FOLDS):
        seen = folds != fold
        model = _trees(rows.features[seen], rows.useful[seen], weights[seen], settings)
        held_out[~seen] = model.decision_function(rows.features[~seen])
    curve = calibration(held_out, rows.useful, rows.weights)
    whole = _trees(rows.features, rows.useful, weights, settings)
    arrays, depth = tree_arrays(whole)
    confidences = np.interp(held_out, curve["curve_score"], curve["curve_probability"])
    return MatchScorer({**arrays, **curve}, depth), confidences


def fold_of(repositories: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the fold of each row; a repository is in one fold, and the folds have similar numbers of repositories."""
    _, numbers = np.unique(repositories, return_inverse=True)
    folds: NDArray[np.int64] = numbers % _FOLDS
    return folds


def _trees(
    features: NDArray[np.float32], useful: NDArray[np.bool_], weights: NDArray[np.float64], settings: TreeSettings
) -> Any:
    ensemble = require("sklearn.ensemble", extra="train", what="scorers")
    model = ensemble.HistGradientBoostingClassifier(
        max_iter=settings.num_trees,
        learning_rate=settings.learning_rate,
        max_leaf_nodes=settings.num_leaves,
        min_samples_leaf=settings.min_rows,
        l2_regularization=settings.regularisation,
        max_features=settings.columns,
        early_stopping=False,
        random_state=1,
    )
    return model.fit(features, useful, sample_weight=weights)


def tree_arrays(model: Any) -> tuple[dict[str, NDArray[Any]], int]:
    """Return the trees of a fitted model as arrays, and the depth of the deepest tree."""
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
            threshold.append(0.0 if leaf else float(node["num_threshold"]))
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


def row_numbers(names: Sequence[str]) -> NDArray[np.int64]:
    """Return names as numbers, equal for equal names."""
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], np.int64)
