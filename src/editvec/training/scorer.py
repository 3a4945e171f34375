"""Fit the scorer of matches to replays of sweeps.

The trees are LightGBM's; what is kept of them are arrays. The calibration is fitted to scores of repositories that
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
    """Boosted trees of LightGBM, which fits them five times as fast as scikit-learn."""

    def __init__(
        self,
        features: NDArray[np.float32],
        useful: NDArray[np.bool_],
        weights: NDArray[np.float64],
        settings: TreeSettings,
    ) -> None:
        """Fit the trees to rows."""
        lightgbm = require("lightgbm", extra="train", what="scorers")
        parameters = {
            "objective": "binary",
            "learning_rate": settings.learning_rate,
            "num_leaves": settings.num_leaves,
            "min_data_in_leaf": settings.min_rows,
            "lambda_l2": settings.regularisation,
            "feature_fraction": settings.columns,
            "seed": 1,
            "deterministic": True,
            "force_col_wise": True,
            "verbose": -1,
        }
        data = lightgbm.Dataset(features, useful.astype(np.int8), weight=weights, params={"verbose": -1})
        self.booster: Any = lightgbm.train(parameters, data, num_boost_round=settings.num_trees)

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the sum of the trees for each row."""
        scores: NDArray[np.float64] = self.booster.predict(features, raw_score=True)
        return scores


def tree_arrays(trees: FittedTrees) -> tuple[dict[str, NDArray[Any]], int]:
    """Return fitted trees as arrays, and the depth of the deepest tree."""
    nodes: list[dict[str, Any]] = []
    roots = []
    deepest = 0
    for tree in trees.booster.dump_model()["tree_info"]:
        roots.append(len(nodes))
        waiting: list[tuple[dict[str, Any], dict[str, Any], str, int]] = [(tree["tree_structure"], {}, "", 0)]
        while waiting:
            node, parent, side, depth = waiting.pop()
            here = len(nodes)
            if parent:
                parent[side] = here
            deepest = max(deepest, depth)
            leaf = "leaf_value" in node
            # A leaf leads to itself.
            entry = {
                "feature": 0 if leaf else node["split_feature"],
                "threshold": 0.0 if leaf else node["threshold"],
                "left": here,
                "right": here,
                "value": node["leaf_value"] if leaf else 0.0,
            }
            nodes.append(entry)
            if not leaf:
                waiting += [(node[f"{side}_child"], entry, side, depth + 1) for side in ("left", "right")]
    arrays: dict[str, NDArray[Any]] = {
        "feature": np.array([node["feature"] for node in nodes], np.int16),
        "threshold": np.array([node["threshold"] for node in nodes], np.float32),
        "left": np.array([node["left"] for node in nodes], np.int32),
        "right": np.array([node["right"] for node in nodes], np.int32),
        "value": np.array([node["value"] for node in nodes], np.float32),
        "roots": np.array(roots, np.int32),
    }
    return arrays, deepest


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
