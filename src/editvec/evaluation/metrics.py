"""Metrics and their intervals: ranks, perplexity, retrieval and agreement.

All functions take and return plain numbers and token sequences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Estimate(NamedTuple):
    """A number with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def rank_of(answer: Sequence[str], candidates: Sequence[Sequence[str]]) -> int | None:
    """Return the rank of the answer among candidates, counted from 1, or None if it is not among them."""
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
    """Return the C# tokens that the paper's original code compares.

    Its trees have a node without a token for an operator and for a predefined type, and nothing for modifiers, `ref`,
    `out` and `in`. So `a + b` equals `a - b` there, but not `a`.
    """
    kept = []
    for before, token in zip(("", *tokens), tokens, strict=False):
        if token in _OPERATORS:
            kept.append(_OPERATOR)
        elif token in _TYPES:
            kept.append(_TYPE)
        elif token not in _UNSEEN or (token == "in" and before not in ("(", ",")):
            # The `in` of a loop is not a modifier.
            kept.append(token)
    return tuple(kept)


def pruned_rank(answer: Sequence[str], candidates: Sequence[Sequence[str]]) -> int | None:
    """Return the rank of the answer as the original code counts it.

    Candidates between which that code sees no difference count as one.
    """
    return rank_of(pruned(answer), list(dict.fromkeys(map(pruned, candidates))))


def hits(ranks: Sequence[int | None], k: int) -> NDArray[np.float64]:
    """Return 1 for each rank that is at most k, and 0 for the others: [ranks]."""
    return np.array([rank is not None and rank <= k for rank in ranks], np.float64)


def perplexity(log_probs: Sequence[float], num_tokens: Sequence[int]) -> float:
    """Return the paper's perplexity: exp of the mean over edits of −log p(after) / tokens of after.

    The probability includes the end of the sequence; the number of tokens does not.
    """
    if not log_probs:
        return math.nan
    pairs = zip(log_probs, num_tokens, strict=True)
    return math.exp(sum(-log_prob / max(1, tokens) for log_prob, tokens in pairs) / len(log_probs))


def mean(values: NDArray[np.float64], *, resamples: int = 1000, seed: int = 0) -> Estimate:
    """Return the mean with its bootstrap interval (percentiles of resampled means)."""
    if not len(values):
        return Estimate(math.nan, math.nan, math.nan)
    chance = np.random.default_rng(seed)
    size = len(values)
    means = np.array([values[chance.integers(0, size, size)].mean() for _ in range(resamples)])
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(float(values.mean()), float(low), float(high))


def ratio(
    numerators: Sequence[float], denominators: Sequence[float], *, resamples: int = 1000, seed: int = 0
) -> Estimate:
    """Return the sum of numerators divided by the sum of denominators, with its bootstrap interval.

    NaN if the denominators sum to zero; resamples in which they do are left out of the interval.
    """
    above, below = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    if not below.sum():
        return Estimate(math.nan, math.nan, math.nan)
    chance = np.random.default_rng(seed)
    drawn = [chance.integers(0, len(below), len(below)) for _ in range(resamples)]
    ratios = [above[rows].sum() / below[rows].sum() for rows in drawn if below[rows].sum()]
    low, high = np.percentile(ratios, [2.5, 97.5])
    return Estimate(float(above.sum() / below.sum()), float(low), float(high))


# --- retrieval


def by_rank(scores: NDArray[np.float64], *, seed: int = 0) -> NDArray[np.int64]:
    """Return the indices of scores, the highest score first: [scores].

    Scores are tied if they are equal when rounded to six decimals. Ties are broken at random, so that the order of a
    file has no effect.
    """
    chance = np.random.default_rng(seed).permutation(len(scores))
    return chance[np.argsort(-np.round(scores[chance], 6), kind="stable")]


def average_precision(relevant: Sequence[bool] | NDArray[np.bool_]) -> float:
    """Return the average precision: the mean, over the ranks of relevant items, of the precision up to that rank."""
    found = np.flatnonzero(relevant)
    return float(((1 + np.arange(len(found))) / (1 + found)).mean()) if len(found) else math.nan


def recall_at(relevant: Sequence[bool] | NDArray[np.bool_], k: int) -> float:
    """Return the number of relevant items among the first k, divided by the largest possible number."""
    total = int(np.sum(relevant))
    return float(np.sum(relevant[:k])) / min(k, total) if total else math.nan


def dcg(gains: Sequence[float], k: int) -> float:
    """Return the DCG: (2^gain - 1) / log2(1 + rank), summed over the first k (Manning et al., 2008)."""
    return float(sum((2**gain - 1) / math.log2(1 + place) for place, gain in enumerate(gains[:k], 1)))


def ndcg(gains: Sequence[float], k: int, *, pool: Sequence[float] | None = None) -> float:
    """Return the DCG divided by the DCG of the best order.

    The best order is that of these gains, or of a larger pool of judged ones. NaN if no gain is possible.
    """
    best = dcg(sorted(gains if pool is None else pool, reverse=True), k)
    return dcg(gains, k) / best if best else math.nan


# --- agreement


def fleiss_kappa(ratings: Sequence[Sequence[int]] | NDArray[np.int64], num_values: int) -> float:
    """Return Fleiss' kappa of ratings of the shape [items, raters], with values from 0 to `num_values` - 1.

    Every item must have the same number of raters. NaN for one rater, or if raters would always agree by chance.
    """
    table = np.array([np.bincount(row, minlength=num_values) for row in ratings], np.float64)
    if not len(table) or (raters := table[0].sum()) < 2:
        return math.nan
    agreement = ((table**2).sum(axis=1) - raters) / (raters * (raters - 1))
    chance = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    return float((agreement.mean() - chance) / (1 - chance)) if chance < 1 else math.nan
