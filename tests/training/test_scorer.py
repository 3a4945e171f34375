"""The scorer of matches: the same numbers in NumPy as where it was fitted, and a calibration that holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from editvec.core.errors import BadInputError
from editvec.suggest.features import FEATURES
from editvec.suggest.replay import Verdict
from editvec.suggest.scorer import FILE, MatchScorer, load_scorer
from editvec.training.replayed import ReplayedRows
from editvec.training.scorer import FittedTrees, TreeSettings, fit_scorer, replay_weights, tree_arrays
from editvec.training.scorer_rows import ScorerRows, read_rows, save_rows

SMALL = TreeSettings(num_trees=20, num_leaves=8, min_rows=5)


@pytest.fixture(scope="module")
def rows() -> ScorerRows:
    """Rows in which two features decide."""
    chance = np.random.default_rng(1)
    features = chance.normal(size=(3_000, len(FEATURES))).astype(np.float32)
    useful = features[:, 3] + 0.5 * features[:, 7] + chance.normal(0, 0.5, 3_000) > 0.5
    replays = np.sort(chance.integers(0, 100, 3_000))
    ones = np.ones(3_000, np.int64)
    return ScorerRows(features, useful, np.ones(3_000), replays, replays // 10, ones, 0 * ones, ones == 1)


@pytest.fixture(scope="module")
def fitted(rows: ScorerRows) -> tuple[MatchScorer, NDArray[np.float64]]:
    """A scorer, and its confidences of rows that it had not seen."""
    return fit_scorer(rows, SMALL)


def test_the_trees_in_numpy_are_those_that_were_fitted(rows: ScorerRows) -> None:
    trees = FittedTrees(rows.features, rows.useful, replay_weights(rows), SMALL)
    arrays, depth = tree_arrays(trees)
    scores = MatchScorer(arrays, depth)._scores(rows.features)
    np.testing.assert_allclose(scores, trees.scores(rows.features), atol=1e-4)


def test_the_confidence_is_a_probability_on_repositories_that_were_not_seen(
    rows: ScorerRows, fitted: tuple[MatchScorer, NDArray[np.float64]]
) -> None:
    scorer, held_out = fitted
    for low in (0.1, 0.3, 0.5, 0.7):
        there = (held_out >= low) & (held_out < low + 0.2)
        assert abs(held_out[there].mean() - rows.useful[there].mean()) < 0.08
    assert ((scorer(rows.features) > 0.5) == rows.useful).mean() > 0.8


def test_a_scorer_is_saved_and_loaded(
    rows: ScorerRows, fitted: tuple[MatchScorer, NDArray[np.float64]], tmp_path: Path
) -> None:
    scorer, _ = fitted
    scorer.save(tmp_path / FILE)
    np.testing.assert_array_equal(load_scorer(tmp_path / FILE)(rows.features), scorer(rows.features))
    assert load_scorer(tmp_path / FILE)(rows.features[:0]).shape == (0,)


def test_a_linear_scorer_has_the_same_format(rows: ScorerRows, tmp_path: Path) -> None:
    arrays = {"mean": np.zeros(len(FEATURES)), "scale": np.ones(len(FEATURES)), "weight": np.eye(len(FEATURES))[3]}
    curve = {"curve_score": np.array([-1.0, 1.0]), "curve_probability": np.array([0.0, 1.0])}
    MatchScorer({**arrays, "bias": np.array(0.0), **curve}).save(tmp_path / FILE)
    expected = np.clip((rows.features[:, 3] + 1) / 2, 0, 1)
    np.testing.assert_allclose(load_scorer(tmp_path / FILE)(rows.features), expected, atol=1e-6)


def test_a_damaged_scorer_is_refused(fitted: tuple[MatchScorer, NDArray[np.float64]], tmp_path: Path) -> None:
    scorer, _ = fitted
    file = tmp_path / FILE
    broken = dict(scorer.arrays)
    broken["left"] = np.full(len(broken["value"]), len(broken["value"]), np.int32)
    missing = {name: each for name, each in scorer.arrays.items() if name != "roots"}
    for arrays in (broken, missing):
        MatchScorer(arrays, scorer.depth).save(file)
        with pytest.raises(BadInputError):
            load_scorer(file)
    scorer.save(file)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(BadInputError, match="not a scorer"):
        load_scorer(file)
    with pytest.raises(BadInputError):
        load_scorer(tmp_path / "none")


def test_rows_of_repositories_are_kept_in_files(tmp_path: Path) -> None:
    table = np.zeros((3, len(FEATURES)), np.float32)
    table[:, FEATURES.index("num_refused")] = 2
    verdicts = (Verdict.RIGHT, Verdict.WRONG, Verdict.PART)
    one = ReplayedRows(table, verdicts, np.array([1, 1, 4], np.float32), 1, True)
    save_rows(tmp_path / "a.npz", [one, replace(one, num_shown=3)])
    save_rows(tmp_path / "b.npz", [replace(one, is_sweep=False)])
    rows = read_rows([tmp_path / "a.npz", tmp_path / "b.npz"])
    assert rows.useful.tolist() == [True, False, True] * 3
    assert rows.replays.tolist() == [0] * 3 + [1] * 3 + [2] * 3
    assert rows.repositories.tolist() == [0] * 6 + [1] * 3
    assert rows.num_shown.tolist() == [1] * 3 + [3] * 3 + [1] * 3
    assert set(rows.num_refused.tolist()) == {2}
    assert rows.where(~rows.is_sweep).weights.tolist() == [1, 1, 4]


def test_thinned_rows_count_for_those_left_out(rows: ScorerRows) -> None:
    thin = rows.thinned(5)
    assert thin.useful.sum() == rows.useful.sum()
    assert np.bincount(thin.replays[~thin.useful]).max() == 5
    for replay in range(100):
        ones, others = (each.where((each.replays == replay) & ~each.useful).weights.sum() for each in (rows, thin))
        assert ones == pytest.approx(others)
