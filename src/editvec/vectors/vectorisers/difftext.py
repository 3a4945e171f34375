"""The baseline `diff`: hashed n-grams of the unified diff, reduced by latent semantic analysis (LSA).

The diff has one token per line. Like any text embedding of a diff, the vectors depend on the unchanged tokens beside
the changed ones, and on the order of both. The module needs SciPy and scikit-learn (the extra `vectors`), which are
imported only inside functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.data.extras import require
from editvec.diff import align
from editvec.vectors.vectorisers.base import Baseline, Vectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_BUCKETS, _DIM = 2**14, 256
_BLOCK = 8192


def diff_lines(edit: Edit) -> list[str]:
    """Return the unified diff of an edit's tokens, one per line (` kept`, `-removed`, `+added`), removed ones first."""
    lines: list[str] = []
    come: list[str] = []
    for _, before, after in align(edit.model_before, edit.model_after).positions:
        equal = before is not None and after is not None and edit.model_before[before] == edit.model_after[after]
        if equal and before is not None:
            lines += come
            come = []
            lines.append(f" {edit.model_before[before]}")
            continue
        if before is not None:
            lines.append(f"-{edit.model_before[before]}")
        if after is not None:
            come.append(f"+{edit.model_after[after]}")
    return lines + come


def _ngrams(edit: Edit) -> list[str]:
    """Return the n-grams of the diff: each line, and each two and three lines in a row."""
    lines = diff_lines(edit)
    return ["\n".join(lines[at : at + size]) for size in (1, 2, 3) for at in range(len(lines) - size + 1)]


class DiffText(Baseline):
    """Hashed n-grams of the diff, weighted by rarity and reduced by latent semantic analysis.

    The analysis projects them on the directions in which the fitted edits differ most.
    """

    name = "diff"

    def __init__(self, weights: NDArray[np.float32], directions: NDArray[np.float32]) -> None:
        self._weights, self._directions = weights, directions

    @property
    def dim(self) -> int:
        """Return the number of directions."""
        return len(self._directions)

    @classmethod
    def fit(cls, edits: Iterable[Edit]) -> DiffText:
        """Fit weights and directions on edits."""
        decomposition = _require("sklearn.decomposition")
        counts = _counts(list(edits))
        total, frequency = counts.shape[0], np.asarray((counts > 0).sum(axis=0)).ravel()
        weights = (np.log((1 + total) / (1 + frequency)) + 1).astype(np.float32)
        rank = min(_DIM, total - 1)
        if rank < 1:
            return cls(weights, np.ones((1, _BUCKETS), np.float32))
        lsa = decomposition.TruncatedSVD(rank, random_state=0).fit(_weighted(counts, weights))
        return cls(weights, lsa.components_.astype(np.float32))

    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        """Return one row per edit: [edits, dim]."""
        every = list(edits)
        parts = [np.zeros((0, self.dim), np.float32)]
        for start in range(0, len(every), _BLOCK):
            rows = _weighted(_counts(every[start : start + _BLOCK]), self._weights)
            parts.append((rows @ self._directions.T).astype(np.float32))
        return np.concatenate(parts)

    def state(self) -> tuple[dict[str, NDArray[np.generic]], list[str]]:
        """Return the weights and the directions; hashed features have no names."""
        return {"weights": self._weights, "directions": self._directions}, []

    @classmethod
    def from_state(cls, arrays: dict[str, NDArray[np.generic]], features: list[str]) -> DiffText:
        """Make a baseline from what `state` returned."""
        weights, directions = arrays["weights"].astype(np.float32), arrays["directions"].astype(np.float32)
        if weights.shape != (_BUCKETS,) or directions.ndim != 2 or directions.shape[1] != _BUCKETS:
            raise ValueError("the weights or the directions have the wrong size")
        return cls(weights, directions)


def _counts(edits: list[Edit]) -> csr_matrix:
    if not edits:
        return _require("scipy.sparse").csr_matrix((0, _BUCKETS), dtype=np.float64)
    text = _require("sklearn.feature_extraction.text")
    hashing = text.HashingVectorizer(analyzer=_ngrams, n_features=_BUCKETS, alternate_sign=False, norm=None)
    return hashing.transform(edits)


def _weighted(counts: csr_matrix, weights: NDArray[np.float32]) -> csr_matrix:
    """Return the weighted counts as rows of length one."""
    diags = _require("scipy.sparse").diags
    rows = counts @ diags(weights)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return (diags(1 / np.maximum(lengths, 1e-12)) @ rows).astype(np.float32)


def _require(module: str) -> Any:
    return require(module, extra="vectors", what="Vectors of diffs")
