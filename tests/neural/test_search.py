"""Beam search over a table of probabilities, where every answer can be counted out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from editvec.neural.arrays import top_k
from editvec.neural.search import beam_search

Numbers = NDArray[np.float32]
Choices = NDArray[np.int64]

END = 0


def _log(probabilities: NDArray[np.float64]) -> Numbers:
    with np.errstate(divide="ignore"):
        return np.log(probabilities).astype(np.float32)


class Prefixes(NamedTuple):
    owners: list[int]
    choices: list[tuple[int, ...]]


class Table:
    """Choices whose probabilities depend on the source and on the whole prefix, made by a seed."""

    def __init__(self, seed: int, num_sources: int, num_choices: int) -> None:
        self.seed, self.num_sources, self.num_choices = seed, num_sources, num_choices

    def log_probs(self, owner: int, prefix: tuple[int, ...]) -> Numbers:
        chance = np.random.default_rng(hash((self.seed, owner, prefix)) % 2**31)
        scores = 2 * chance.standard_normal(self.num_choices)
        return _log(np.exp(scores) / np.exp(scores).sum())

    def start(self) -> Prefixes:
        return Prefixes(list(range(self.num_sources)), [()] * self.num_sources)

    def step(self, state: Prefixes, width: int, floor: Numbers | None = None) -> tuple[Numbers, Choices]:
        every = np.stack([self.log_probs(*row) for row in zip(*state, strict=True)])
        return top_k(every, width)

    def ends(self, state: Prefixes, rows: Choices, choices: Choices) -> NDArray[np.bool_]:
        ends: NDArray[np.bool_] = choices == END
        return ends

    def result(self, state: Prefixes, row: int, choice: int) -> Hashable:
        return None

    def advance(self, state: Prefixes, rows: Choices, choices: Choices) -> Prefixes:
        pairs = list(zip(rows.tolist(), choices.tolist(), strict=True))
        return Prefixes([state.owners[row] for row, _ in pairs], [(*state.choices[row], c) for row, c in pairs])

    def all_complete(self, owner: int, max_steps: int) -> list[tuple[float, tuple[int, ...]]]:
        found = []
        for length in range(max_steps):
            for prefix in product(range(1, self.num_choices), repeat=length):
                whole = (*prefix, END)
                steps = (float(self.log_probs(owner, whole[:at])[choice]) for at, choice in enumerate(whole))
                found.append((sum(steps), whole))
        return sorted(found, reverse=True)


@given(seed=st.integers(0, 10**6), num_sources=st.integers(1, 5), num_choices=st.integers(2, 4))
def test_a_beam_as_wide_as_everything_finds_the_best(seed: int, num_sources: int, num_choices: int) -> None:
    table = Table(seed, num_sources, num_choices)
    found = beam_search(table, num_sources=num_sources, width=400, max_steps=4)
    for owner, hypotheses in enumerate(found):
        expected = table.all_complete(owner, 4)
        assert [h.choices for h in hypotheses] == [choices for _, choices in expected]
        assert [h.score for h in hypotheses] == pytest.approx([score for score, _ in expected], abs=1e-4)


class Unordered(Table):
    """Two sequences come to the same when they hold the same choices."""

    def result(self, state: Prefixes, row: int, choice: int) -> Hashable:
        return tuple(sorted((*state.choices[row], choice)))


@given(seed=st.integers(0, 10**6), num_choices=st.integers(2, 4))
def test_what_comes_to_the_same_is_one_hypothesis(seed: int, num_choices: int) -> None:
    table = Unordered(seed, 2, num_choices)
    found = beam_search(table, num_sources=2, width=400, max_steps=4)
    for owner, hypotheses in enumerate(found):
        totals: dict[tuple[int, ...], float] = defaultdict(float)
        best: dict[tuple[int, ...], tuple[int, ...]] = {}
        for score, choices in table.all_complete(owner, 4):
            totals[tuple(sorted(choices))] += math.exp(score)
            best.setdefault(tuple(sorted(choices)), choices)
        assert {h.result: h.choices for h in hypotheses} == best
        scores = {h.result: math.exp(h.score) for h in hypotheses}
        assert scores == pytest.approx(dict(totals), rel=1e-4)
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)


def test_a_hypothesis_that_is_there_already_takes_no_place() -> None:
    ways = {
        (): [0, 0.35, 0.35, 0.3],
        (1,): [0, 0, 1, 0],
        (2,): [0, 1, 0, 0],
        (3,): [0, 0, 0, 1],
        (3, 3): [0, 0, 0, 1],
        (3, 3, 3): [0.6, 0.4, 0, 0],
    }

    class Twice(Table):
        """1, 2 and 2, 1 end first and come to the same where order does not count; two others end later."""

        def log_probs(self, owner: int, prefix: tuple[int, ...]) -> Numbers:
            return _log(np.array(ways.get(prefix, [1.0, 0.0, 0.0, 0.0])))

    class Once(Twice, Unordered):
        pass

    (apart,), (merged,) = (beam_search(kind(0, 1, 4), num_sources=1, width=3, max_steps=9) for kind in (Twice, Once))
    assert [h.choices for h in apart] == [(1, 2, 0), (2, 1, 0), (3, 3, 3, 0)]
    assert [h.result for h in merged] == [(0, 1, 2), (0, 3, 3, 3), (0, 1, 3, 3, 3)]
    assert [math.exp(h.score) for h in merged] == pytest.approx([0.7, 0.18, 0.12])


@given(seed=st.integers(0, 10**6), width=st.integers(1, 6))
def test_sources_do_not_know_each_other(seed: int, width: int) -> None:
    together = beam_search(Table(seed, 4, 5), num_sources=4, width=width, max_steps=6)

    class One(Table):
        def __init__(self, owner: int) -> None:
            super().__init__(seed, 1, 5)
            self.owner = owner

        def log_probs(self, owner: int, prefix: tuple[int, ...]) -> Numbers:
            return super().log_probs(self.owner, prefix)

    for owner in range(4):
        assert beam_search(One(owner), num_sources=1, width=width, max_steps=6)[0] == together[owner]


@given(seed=st.integers(0, 10**6), width=st.integers(1, 6))
def test_lists_are_sorted_and_no_longer_than_asked(seed: int, width: int) -> None:
    for hypotheses in beam_search(Table(seed, 3, 5), num_sources=3, width=width, max_steps=8):
        assert len(hypotheses) <= width
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        assert all(h.choices[-1] == END and END not in h.choices[:-1] for h in hypotheses)


def test_a_margin_drops_the_hopeless() -> None:
    dropped = 0
    for seed in range(20):
        wide = beam_search(Table(seed, 3, 5), num_sources=3, width=5, max_steps=8)
        near = beam_search(Table(seed, 3, 5), num_sources=3, width=5, max_steps=8, margin=3.0)
        for every, some in zip(wide, near, strict=True):
            assert all(some[0].score - each.score <= 3.0 + 1e-5 for each in some)
            dropped += len(every) - len(some)
    assert dropped > 0


def test_what_is_below_the_floor_is_not_missed() -> None:
    class Short(Table):
        """Does not look for what need not be looked for."""

        def step(self, state: Prefixes, width: int, floor: Numbers | None = None) -> tuple[Numbers, Choices]:
            assert floor is not None
            log_probs, choices = super().step(state, width)
            return np.where(np.exp(log_probs) < floor[:, None], np.float32(-np.inf), log_probs), choices

    for seed in range(20):
        every = beam_search(Table(seed, 3, 5), num_sources=3, width=5, max_steps=8, margin=4.0)
        some = beam_search(Short(seed, 3, 5), num_sources=3, width=5, max_steps=8, margin=4.0)
        assert [found[0] for found in some] == [found[0] for found in every]
    everything = beam_search(Table(0, 3, 5), num_sources=3, width=5, max_steps=8)
    assert beam_search(Short(0, 3, 5), num_sources=3, width=5, max_steps=8) == everything


def test_a_margin_is_taken_among_hypotheses_of_one_length() -> None:
    class Long(Table):
        """0.7 a step for forty steps, then the end: far less likely than any of its beginnings."""

        def log_probs(self, owner: int, prefix: tuple[int, ...]) -> Numbers:
            if len(prefix) < 40:
                return _log(np.array([1e-9, 0.7, 0.3]))
            return _log(np.array([1.0, 1e-9, 1e-9]))

    (found,) = beam_search(Long(0, 1, 3), num_sources=1, width=3, max_steps=60, margin=5.0)
    assert found[0].choices == (1,) * 40 + (0,)


def test_illegal_choices_are_never_taken() -> None:
    class Forced(Table):
        def log_probs(self, owner: int, prefix: tuple[int, ...]) -> Numbers:
            scores = np.full(4, -np.inf, np.float32)
            scores[2 if len(prefix) < 2 else END] = 0.0
            return scores

    found = beam_search(Forced(0, 2, 4), num_sources=2, width=3, max_steps=5)
    assert [[tuple(h) for h in each] for each in found] == [[((2, 2, 0), 0.0, None)]] * 2


def test_what_never_ends_gives_nothing() -> None:
    class Endless(Table):
        def log_probs(self, owner: int, prefix: tuple[int, ...]) -> Numbers:
            return np.array([-np.inf, 0.0], np.float32)

    assert beam_search(Endless(0, 2, 2), num_sources=2, width=3, max_steps=5) == [[], []]
