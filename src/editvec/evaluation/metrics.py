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


_OPERATORS = frozenset(
    "+ - * / % & | ^ ! ~ < > <= >= == != && || ?? << >> >>> ++ -- is as "
    "= += -= *= /= %= &= |= ^= <<= >>= >>>= ??=".split()
)
_TYPES = frozenset(
    "bool byte sbyte char decimal double float int uint long ulong short ushort object string void nint nuint".split()
)
_UNSEEN = frozenset(
    "public private protected internal static readonly const volatile virtual override abstract sealed extern "
    "unsafe async partial ref out in".split()
)
_OPERATOR, _TYPE = "<operator>", "<type>"


def pruned(tokens: Sequence[str]) -> tuple[str, ...]:
    """What the original code compares of C# tokens: its trees have a node, but no token, for an operator and for a
    predefined type, and nothing at all for modifiers, `ref`, `out` and `in`. So `a + b` is `a - b` there, not `a`."""
    kept = []
    for before, token in zip(("", *tokens), tokens, strict=False):
        if token in _OPERATORS:
            kept.append(_OPERATOR)
        elif token in _TYPES:
            kept.append(_TYPE)
        elif token not in _UNSEEN or (token == "in" and before not in ("(", ",")):
            # The `in` of a loop is no modifier.
            kept.append(token)
    return tuple(kept)


def pruned_rank(answer: Sequence[str], candidates: Sequence[Sequence[str]]) -> int | None:
    """The place of the answer among candidates as the original code counts: what it sees no difference between is one
    candidate."""
    return rank_of(pruned(answer), list(dict.fromkeys(map(pruned, candidates))))


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


# --- retrieval


def by_rank(scores: NDArray[np.float64], *, seed: int = 0) -> NDArray[np.int64]:
    """The places of scores, the best first. Ties are in an order of chance, so that the order of a file is worth
    nothing: two scores tie when they are equal to a millionth."""
    chance = np.random.default_rng(seed).permutation(len(scores))
    return chance[np.argsort(-np.round(scores[chance], 6), kind="stable")]


def average_precision(relevant: Sequence[bool] | NDArray[np.bool_]) -> float:
    """Of a ranking: the mean, over its relevant places, of the share of relevant ones up to there."""
    found = np.flatnonzero(relevant)
    return float(((1 + np.arange(len(found))) / (1 + found)).mean()) if len(found) else math.nan


def recall_at(relevant: Sequence[bool] | NDArray[np.bool_], k: int) -> float:
    """Of a ranking: the relevant ones among the first k, of as many as could be there."""
    total = int(np.sum(relevant))
    return float(np.sum(relevant[:k])) / min(k, total) if total else math.nan


def dcg(gains: Sequence[float], k: int) -> float:
    """Discounted cumulative gain: (2^gain - 1) / log2(1 + place), summed over the first k (Manning et al., 2008)."""
    return float(sum((2**gain - 1) / math.log2(1 + place) for place, gain in enumerate(gains[:k], 1)))


def ndcg(gains: Sequence[float], k: int, *, pool: Sequence[float] | None = None) -> float:
    """DCG as a share of the best order's: of these gains, or of a larger pool of judged ones. Without any gain to be
    had it is not defined (NaN)."""
    best = dcg(sorted(gains if pool is None else pool, reverse=True), k)
    return dcg(gains, k) / best if best else math.nan


# --- agreement


def fleiss_kappa(ratings: Sequence[Sequence[int]] | NDArray[np.int64], num_values: int) -> float:
    """Fleiss' kappa of items that the same number of raters rated: [items, raters], values from 0. NaN where chance
    alone would agree, or with one rater."""
    table = np.array([np.bincount(row, minlength=num_values) for row in ratings], np.float64)
    if not len(table) or (raters := table[0].sum()) < 2:
        return math.nan
    agreement = ((table**2).sum(axis=1) - raters) / (raters * (raters - 1))
    chance = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    return float((agreement.mean() - chance) / (1 - chance)) if chance < 1 else math.nan
