"""Beam search over anything that can be decided step by step. Knows neither tokens nor trees.

All hypotheses of all sources are rows of one array; what has ended, or can no longer be among the best, is no row
any more.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from editvec.neural.arrays import Floats, Ints, Mask, top_k

State = TypeVar("State")


class Steps(Protocol[State]):
    """What is searched. A state holds any number of rows, each a hypothesis of some source."""

    def start(self) -> State:
        """One row for each source."""

    def step(self, state: State, width: int, floor: Floats | None = None) -> tuple[Floats, Ints]:
        """Return the log-probabilities of the best next choices, and the choices, both [rows, at most `width`].

        −∞ stands where a row has fewer. A choice that is less likely than its row's `floor` [rows] need not be looked
        for.
        """

    def ends(self, state: State, rows: Ints, choices: Ints) -> Mask:
        """Return whether a row is complete when it takes a choice: [n] for n pairs of both."""

    def result(self, state: State, row: int, choice: int) -> Hashable:
        """Return what a row that is complete with a choice has come to.

        Two ways to the same are one hypothesis. None where no two come to the same.
        """

    def advance(self, state: State, rows: Ints, choices: Ints) -> State:
        """Return a state of those rows, each after its choice.

        A row may be taken more than once, or not at all. The rows of a source stand together, in the order of the
        sources.
        """


class Hypothesis(NamedTuple):
    """A complete sequence of choices with its log-probability.

    Where several come to the same result, it is the best of them, with the log-probability of all.
    """

    choices: tuple[int, ...]
    score: float
    result: Any = None


def beam_search(
    steps: Steps[State], *, num_sources: int, width: int, max_steps: int, margin: float = math.inf
) -> list[list[Hypothesis]]:
    """Return the best complete hypotheses of each source, at most `width`, best first.

    At each step a source keeps its best continuations; one that is complete leaves the beam and takes its place with
    it, so that `width` complete ones with different results end the search. A hypothesis is dropped when it is `margin`
    less likely (in nats) than the best of its source at that step, or than a complete one: it could end up in the list,
    but hardly ever at its top.
    """
    state = steps.start()
    owners = np.arange(num_sources)
    scores = np.zeros(num_sources, np.float32)
    room = np.full(num_sources, width)
    best = np.full(num_sources, -np.inf, np.float32)
    trail: list[tuple[Ints, Ints]] = []
    ended: list[dict[Hashable, _Ended]] = [{} for _ in range(num_sources)]
    for step in range(max_steps):
        # What is less likely than this ends up below the margin, unless all that is likelier does hardly better.
        floor = np.exp(_leading(scores, owners, best)[owners] - np.float32(margin) - scores)
        found = steps.step(state, width, floor)
        rows, choices, scores, owners = _continue(*found, scores, owners, num_sources, width)
        kept = rank_within(owners, num_sources) < room[owners]
        kept &= scores >= _leading(scores, owners, best)[owners] - np.float32(margin)
        rows, choices, scores, owners = rows[kept], choices[kept], scores[kept], owners[kept]
        done = steps.ends(state, rows, choices)
        for row, choice, score, owner in zip(
            rows[done].tolist(), choices[done].tolist(), scores[done].tolist(), owners[done].tolist(), strict=True
        ):
            one = _Ended(score, score, step, row, choice, steps.result(state, row, choice))
            key = (step, row, choice) if one.result is None else one.result
            same = ended[owner].get(key)
            ended[owner][key] = one if same is None else same.merged(one)
            room[owner] -= int(same is None)
        best = _leading(scores[done], owners[done], best)
        alive = ~done & (room[owners] > 0)
        rows, choices, scores, owners = rows[alive], choices[alive], scores[alive], owners[alive]
        if not len(rows):
            break
        state = steps.advance(state, rows, choices)
        trail.append((rows, choices))
    history = [(rows.tolist(), choices.tolist()) for rows, choices in trail]
    return [
        [
            Hypothesis(_walk(history, each.step, each.row, each.choice), each.score, each.result)
            for each in sorted(every.values(), key=lambda each: (-each.score, each.step, each.row))
        ]
        for every in ended
    ]


class _Ended(NamedTuple):
    """A complete hypothesis.

    It has the log-probability of all ways to its result, and of the best of them, which took a choice in a row at a
    step.
    """

    score: float
    best: float
    step: int
    row: int
    choice: int
    result: Hashable

    def merged(self, other: _Ended) -> _Ended:
        """Both, which come to the same."""
        low, high = sorted((self.score, other.score))
        one = self if self.best >= other.best else other
        return one._replace(score=high + math.log1p(math.exp(low - high)))


def _leading(scores: Floats, owners: Ints, best: Floats) -> Floats:
    """Return the best score of each source, of its rows and of what is known to be its best: [sources]."""
    leading = best.copy()
    if len(owners):
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        those = owners[first]
        leading[those] = np.maximum(leading[those], np.maximum.reduceat(scores, first))
    return leading


def _continue(
    log_probs: Floats, choice: Ints, scores: Floats, owners: Ints, num_sources: int, width: int
) -> tuple[Ints, Ints, Floats, Ints]:
    """Return the best `width` continuations of each source, the best first: row, choice, score, owner."""
    each = log_probs.shape[1]
    # Side by side, a source's rows fill one line of a table, whatever their number is.
    place = rank_within(owners, num_sources)
    most = int(place.max()) + 1
    table = np.full((num_sources, most, each), -np.inf, np.float32)
    table[owners, place] = log_probs + scores[:, None]
    row_at = np.zeros((num_sources, most), np.int64)
    row_at[owners, place] = np.arange(len(owners))
    best, at = top_k(table.reshape(num_sources, most * each), width)
    owner, column = np.nonzero(best > -np.inf)
    at = at[owner, column]
    row = row_at[owner, at // each]
    return row, choice[row, at % each], best[owner, column], owner


def rank_within(owners: Ints, num_sources: int) -> Ints:
    """Return for each row how many rows of the same owner stand before it.

    The rows of an owner stand together.
    """
    counts = np.bincount(owners, minlength=num_sources)
    first = counts.cumsum() - counts
    return np.arange(len(owners)) - first[owners]


def _walk(history: list[tuple[list[int], list[int]]], step: int, row: int, choice: int) -> tuple[int, ...]:
    choices = [choice]
    for rows, chosen in reversed(history[:step]):
        choices.append(chosen[row])
        row = rows[row]
    return tuple(reversed(choices))
