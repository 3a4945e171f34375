"""The baseline `tfidf`: the bag of an edit's added and removed tokens, weighted by inverse document frequency.

This is the paper's retrieval baseline. It knows which tokens were added and removed, but not where.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.diff import align
from editvec.vectors.vectorisers.base import Baseline, Vectors

OWN, SHARED = 1792, 256
"""Number of frequent features with a dimension each, and of dimensions that all other features share by hash."""


def changed_tokens(edit: Edit) -> Counter[str]:
    """Count the added (`+foo`) and removed (`-foo`) tokens of an edit, as a model reads them."""
    found: Counter[str] = Counter()
    for _, before, after in align(edit.model_before, edit.model_after).changed:
        if before is not None:
            found[f"-{edit.model_before[before]}"] += 1
        if after is not None:
            found[f"+{edit.model_after[after]}"] += 1
    return found


class TfIdf(Baseline):
    """Counts of changed tokens × inverse document frequency, as rows of length one."""

    name = "tfidf"

    def __init__(self, features: list[str], weights: NDArray[np.float32], rare_weight: float) -> None:
        self._features, self._weights, self._rare_weight = features, weights, rare_weight
        self._places = {feature: place for place, feature in enumerate(features)}
        self._shared = SHARED if len(features) == OWN else 0

    @property
    def dim(self) -> int:
        """Return the number of dimensions: one per feature, and those that rare features share."""
        return max(1, len(self._features) + self._shared)

    @classmethod
    def fit(cls, edits: Iterable[Edit]) -> TfIdf:
        """Fit the weights: count the edits that have each feature."""
        frequencies: Counter[str] = Counter()
        total = 0
        for edit in edits:
            frequencies.update(changed_tokens(edit).keys())
            total += 1
        ranked = sorted(frequencies, key=lambda feature: (-frequencies[feature], feature))[:OWN]
        weights = [_weight(frequencies[feature], total) for feature in ranked]
        return cls(ranked, np.array(weights, np.float32), _weight(1, total))

    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        """Return one row per edit, [edits, dim]; an edit without a known feature is a row of zeros."""
        rows = []
        for edit in edits:
            row = np.zeros(self.dim, np.float32)
            for feature, count in changed_tokens(edit).items():
                place = self._places.get(feature)
                if place is not None:
                    row[place] += count * self._weights[place]
                elif self._shared:
                    row[len(self._features) + _bucket(feature)] += count * self._rare_weight
            rows.append(row / max(float(np.linalg.norm(row)), 1e-12))
        return np.array(rows, np.float32).reshape(-1, self.dim)

    def state(self) -> tuple[dict[str, NDArray[np.generic]], list[str]]:
        """Return the weights and the names of the features."""
        return {"weights": self._weights, "rare_weight": np.array([self._rare_weight], np.float32)}, self._features

    @classmethod
    def from_state(cls, arrays: dict[str, NDArray[np.generic]], features: list[str]) -> TfIdf:
        """Make a baseline from what `state` returned."""
        weights = arrays["weights"].astype(np.float32)
        if weights.shape != (len(features),) or len(features) > OWN:
            raise ValueError("the numbers of features and weights differ")
        return cls(features, weights, float(arrays["rare_weight"].astype(np.float32)[0]))


def _weight(frequency: int, total: int) -> float:
    return math.log((1 + total) / (1 + frequency)) + 1


def _bucket(feature: str) -> int:
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % SHARED
