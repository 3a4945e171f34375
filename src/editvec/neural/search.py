"""Beam search over decisions that are made step by step. It knows nothing of tokens or trees.

All hypotheses of all sources are rows of one array. Hypotheses that are complete, or that can no longer be among the
best, are removed from the rows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from editvec.neural.arrays import Floats, Ints, Mask, top_k

State = TypeVar("State")


class Steps(Protocol[State]):
    """The space that is searched. A state contains any number of rows; each row is a hypothesis for a source."""

    def start(self) -> State:
        """Return a state with one row per source."""

    def step(self, state: State, width: int, floor: Floats | None = None) -> tuple[Floats, Ints]:
        """Return the log-probabilities of the best next choices, and the choices.

        Both have [rows, at most `width`]; the log-probability is −∞ if a row has fewer choices. Choices that are less
        likely than the `floor` [rows] of their row can be left out.
        """

    def ends(self, state: State, rows: Ints, choices: Ints) -> Mask:
        """Return whether each row is complete after its choice: [n], for `rows` and `choices` [n]."""

    def result(self, state: State, row: int, choice: int) -> Hashable:
        """Return the result of a row that is complete after a choice.

        Hypotheses with equal results are merged. Return None if no two hypotheses can have the same result.
        """

    def advance(self, state: State, rows: Ints, choices: Ints) -> State:
        """Return a state with the given rows, each after its choice.

        A row can occur several times or not at all. The rows of a source are adjacent, and sources stay in order.
        """


class Hypothesis(NamedTuple):
    """A complete sequence of choices with its log-probability.

    If several sequences have the same result, this is the most likely one, with the log-probability of all of them
    together.
    """

    choices: tuple[int, ...]
    score: float
    result: Any = None


def beam_search(
    steps: Steps[State], *, num_sources: int, width: int, max_steps: int, margin: float = math.inf
) -> list[list[Hypothesis]]:
    """Return the best complete hypotheses of each source, at most `width`, best first.

    At each step, a source keeps its best continuations. A complete hypothesis leaves the beam, which becomes narrower
    by one, so the search ends after `width` complete hypotheses with different results. A hypothesis is dropped if it
    is less likely, by `margin` nats or more, than the best hypothesis of its source at that step or than a complete
    one. Such a hypothesis could still be in the list, but hardly ever at its top.
    """
    state = steps.start()
    owners = np.arange(num_sources)
    scores = np.zeros(num_sources, np.float32)
    room = np.full(num_sources, width)
    best = np.full(num_sources, -np.inf, np.float32)
    trail: list[tuple[Ints, Ints]] = []
    ended: list[dict[Hashable, _Ended]] = [{} for _ in range(num_sources)]
    for step in range(max_steps):
        # A less likely choice falls below the margin, unless all more likely choices are hardly better.
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

    `score` is the log-probability of all sequences with its result, and `best` that of the most likely one, which ends
    with a choice of a row at a step.
    """

    score: float
    best: float
    step: int
    row: int
    choice: int
    result: Hashable

    def merged(self, other: _Ended) -> _Ended:
        """Return two hypotheses with the same result as one."""
        low, high = sorted((self.score, other.score))
        one = self if self.best >= other.best else other
        return one._replace(score=high + math.log1p(math.exp(low - high)))


def _leading(scores: Floats, owners: Ints, best: Floats) -> Floats:
    """Return the best score of each source, over its rows and the best score known so far: [sources]."""
    leading = best.copy()
    if len(owners):
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        those = owners[first]
        leading[those] = np.maximum(leading[those], np.maximum.reduceat(scores, first))
    return leading


def _continue(
    log_probs: Floats, choice: Ints, scores: Floats, owners: Ints, num_sources: int, width: int
) -> tuple[Ints, Ints, Floats, Ints]:
    """Return the `width` best continuations of each source, best first.

    The result consists of the row, the choice, the score and the source of each continuation.
    """
    each = log_probs.shape[1]
    # The rows of a source become one line of a padded table, whatever their number is.
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
    """Return, for each row, the number of earlier rows with the same owner: [rows].

    The rows of an owner must be adjacent, and the owners in ascending order.
    """
    counts = np.bincount(owners, minlength=num_sources)
    first = counts.cumsum() - counts
    return np.arange(len(owners)) - first[owners]


def _walk(history: list[tuple[list[int], list[int]]], step: int, row: int, choice: int) -> tuple[int, ...]:
    """Return the choices of a hypothesis, found by following its rows backwards."""
    choices = [choice]
    for rows, chosen in reversed(history[:step]):
        choices.append(chosen[row])
        row = rows[row]
    return tuple(reversed(choices))
