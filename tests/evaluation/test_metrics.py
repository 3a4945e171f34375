"""Metrics by hand and against other libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from editvec.evaluation import metrics


def test_ranks_and_hits() -> None:
    candidates = [("a",), ("b", "c"), ("d",)]
    ranks = [metrics.rank_of(answer, candidates) for answer in (["a"], ["d"], ["b"], ["b", "c"])]
    assert ranks == [1, 3, None, 2]
    assert metrics.hits(ranks, 1).tolist() == [1, 0, 0, 0]
    assert metrics.hits(ranks, 2).tolist() == [1, 0, 0, 1]


def test_perplexity_is_the_papers() -> None:
    # Two edits, of 2 and 4 tokens: the mean is over edits, not over tokens.
    found = metrics.perplexity([-2 * math.log(2), -4 * math.log(8)], [2, 4])
    assert found == pytest.approx(math.exp((math.log(2) + math.log(8)) / 2))
    assert math.isnan(metrics.perplexity([], []))


def test_the_interval_is_the_bootstraps() -> None:
    values = (np.random.default_rng(0).random(400) < 0.6).astype(np.float64)
    found = metrics.mean(values)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=2000, method="percentile", rng=1).confidence_interval
    assert found.value == values.mean()
    assert found.low == pytest.approx(theirs.low, abs=0.01)
    assert found.high == pytest.approx(theirs.high, abs=0.01)
