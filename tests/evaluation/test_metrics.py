"""Metrics by hand and against other libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from editvec.evaluation import metrics


def test_what_the_original_code_sees_no_difference_between() -> None:
    def same(one: str, other: str) -> bool:
        return metrics.pruned(one.split()) == metrics.pruned(other.split())

    assert same("a + b", "a - b")
    assert same("x += 1 ;", "x = 1 ;")
    assert same("int x = 0 ;", "const long x = 0 ;")
    assert same("f ( ref x , out y )", "f ( x , in y )")
    assert not same("! a", "a")
    assert not same("int x ;", "var x ;")
    assert not same("a + b", "a + c")
    assert not same("foreach ( var a in b )", "foreach ( var a of b )")
    assert metrics.pruned("foreach ( var a in b )".split()) == tuple("foreach ( var a in b )".split())
    candidates = [tuple(text.split()) for text in ("a + c", "a * c", "a - b")]
    assert metrics.rank_of("a + b".split(), candidates) is None
    assert metrics.pruned_rank("a + b".split(), candidates) == 2


@given(
    answer=st.lists(st.sampled_from("a b + - int ref in ( ,".split())),
    others=st.lists(st.lists(st.sampled_from("ab+-"))),
)
def test_what_is_right_is_right_when_pruned(answer: list[str], others: list[list[str]]) -> None:
    candidates = [*others, answer]
    rank, pruned = metrics.rank_of(answer, candidates), metrics.pruned_rank(answer, candidates)
    assert rank is not None and pruned is not None and pruned <= rank


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


_gains = st.lists(st.integers(0, 2), min_size=2, max_size=12)


@given(_gains, st.integers(1, 12))
def test_dcg_is_scikit_learns(gains: list[int], k: int) -> None:
    places = [[-float(place) for place in range(len(gains))]]
    wanted = [[2**gain - 1 for gain in gains]]
    assert metrics.dcg(gains, k) == pytest.approx(sklearn.metrics.dcg_score(wanted, places, k=k))
    if any(gains):
        assert metrics.ndcg(gains, k) == pytest.approx(sklearn.metrics.ndcg_score(wanted, places, k=k))
        assert metrics.ndcg(gains, k, pool=[*gains, 2]) <= metrics.ndcg(gains, k) + 1e-12
    else:
        assert math.isnan(metrics.ndcg(gains, k))


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_average_precision_is_scikit_learns(relevant: list[bool]) -> None:
    scores = [-float(place) for place in range(len(relevant))]
    if any(relevant):
        theirs = sklearn.metrics.average_precision_score(relevant, scores)
        assert metrics.average_precision(relevant) == pytest.approx(theirs)
    else:
        assert math.isnan(metrics.average_precision(relevant))


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=30))
def test_kappa_is_statsmodels(ratings: list[list[int]]) -> None:
    found = metrics.fleiss_kappa(ratings, 3)
    if len({value for row in ratings for value in row}) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(fleiss_kappa(aggregate_raters(np.array(ratings))[0]))


def test_recall_counts_what_could_be_there() -> None:
    assert metrics.recall_at([True, False, True, True], 2) == 0.5
    assert metrics.recall_at([True, False, False, False], 3) == 1.0
    assert math.isnan(metrics.recall_at([False], 1))


def test_ties_are_broken_by_chance() -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.5 + 1e-9])
    firsts = {int(metrics.by_rank(scores, seed=seed)[1]) for seed in range(40)}
    assert firsts == {0, 2, 3}
    assert all(metrics.by_rank(scores, seed=seed)[0] == 1 for seed in range(5))
