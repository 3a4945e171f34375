"""Ranks, percentages, perplexity and their intervals: plain numbers in, plain numbers out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Estimate(NamedTuple):
    """A number with the interval that holds it in 95 of 100 resamplings."""

    value: float
    low: float
    high: float


def rank_of(answer: Sequence[str], candidates: Sequence[Sequence[str]]) -> int | None:
    """The place of the answer among candidates, from 1; None when it is not there."""
    wanted = tuple(answer)
    return next((at for at, candidate in enumerate(candidates, 1) if tuple(candidate) == wanted), None)


def hits(ranks: Sequence[int | None], k: int) -> NDArray[np.float64]:
    """For each rank 1 where it is at most k, else 0."""
    return np.array([rank is not None and rank <= k for rank in ranks], np.float64)


def perplexity(log_probs: Sequence[float], num_tokens: Sequence[int]) -> float:
    """The paper's: exp of the mean over edits of −log p(after) / tokens of after. The end of the sequence is in the
    probability, not among the tokens."""
    if not log_probs:
        return math.nan
    pairs = zip(log_probs, num_tokens, strict=True)
    return math.exp(sum(-log_prob / max(1, tokens) for log_prob, tokens in pairs) / len(log_probs))


def mean(values: NDArray[np.float64], *, resamples: int = 1000, seed: int = 0) -> Estimate:
    """The mean with its bootstrap interval (percentiles of resampled means)."""
    if not len(values):
        return Estimate(math.nan, math.nan, math.nan)
    chance = np.random.default_rng(seed)
    size = len(values)
    means = np.array([values[chance.integers(0, size, size)].mean() for _ in range(resamples)])
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(float(values.mean()), float(low), float(high))
