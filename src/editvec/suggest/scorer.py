"""The scorer: from the features of a match to the probability that a person would make the edit there.

It is arrays and a few lines of NumPy. A model is either boosted trees or linear, as a baseline.
Both end in a calibration: a monotone curve from scores to probabilities.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import safetensors
from numpy.typing import NDArray
from safetensors.numpy import save

from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically
from editvec.data.artifacts import artifact
from editvec.suggest.features import FEATURES

FILE = "scorer.safetensors"
_TREES = ("feature", "threshold", "left", "right", "value", "roots")
_LINEAR = ("mean", "scale", "weight", "bias")
_CURVE = ("curve_score", "curve_probability")
_ROWS_AT_ONCE = 2_000


@dataclass(frozen=True, eq=False)
class MatchScorer:
    """A model of matches: arrays by name, and how deep its trees are (0 for a linear model)."""

    arrays: dict[str, NDArray[np.generic]]
    depth: int = 0

    def __call__(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the confidence of each match, of shape [n], for features of shape [n, len(FEATURES)]."""
        parts = [self._scores(features[low : low + _ROWS_AT_ONCE]) for low in range(0, len(features), _ROWS_AT_ONCE)]
        scores = np.concatenate(parts) if parts else np.zeros(0)
        score, probability = (np.asarray(self.arrays[name], np.float64) for name in _CURVE)
        return np.interp(scores, score, probability).astype(np.float32)

    def _scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the sums of the trees, or the linear scores, of shape [n]."""
        if not self.depth:
            mean, scale, weight, bias = (np.asarray(self.arrays[name], np.float64) for name in _LINEAR)
            linear: NDArray[np.float64] = (features - mean) / scale @ weight + bias
            return linear
        feature, threshold, left, right, value, roots = (self.arrays[name] for name in _TREES)
        rows = np.arange(len(features))[:, None]
        at = np.tile(np.asarray(roots), (len(features), 1))
        for _ in range(self.depth):
            # A leaf leads to itself.
            at = np.where(features[rows, feature[at]] <= threshold[at], left[at], right[at])
        total: NDArray[np.float64] = np.asarray(value, np.float64)[at].sum(1)
        return total

    def save(self, path: Path) -> None:
        """Write the scorer to a file."""
        about = {"features": json.dumps(FEATURES), "depth": str(self.depth)}
        write_atomically(path, save({name: np.ascontiguousarray(each) for name, each in self.arrays.items()}, about))


def load_scorer(path: Path) -> MatchScorer:
    """Return the scorer in a file.

    Raises:
        BadInputError: The file does not exist, is damaged, or was made for other features.
    """
    try:
        with safetensors.safe_open(path, "numpy") as file:
            about = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        known, depth = tuple(json.loads(about["features"])), int(about["depth"])
    except (OSError, safetensors.SafetensorError, KeyError, ValueError, TypeError) as error:
        raise BadInputError(path, None, f"not a scorer ({error})", "Install editvec again, or train one.") from None
    if known != FEATURES:
        raise BadInputError(path, None, "a scorer for other features", "Train it again with this version of editvec.")
    _check(path, arrays, depth)
    return MatchScorer(arrays, depth)


def _check(path: Path, arrays: dict[str, NDArray[np.generic]], depth: int) -> None:
    """Raise BadInputError unless the arrays of a scorer fit each other."""
    names = {*(_TREES if depth else _LINEAR), *_CURVE}
    if arrays.keys() != names or not 0 <= depth <= 64:
        raise BadInputError(path, None, "arrays are missing in the scorer", "Install editvec again, or train one.")
    if depth:
        size = len(arrays["value"])
        inside = all(
            len(arrays[name]) and int(arrays[name].min()) >= 0 and int(arrays[name].max()) < limit
            for name, limit in (("left", size), ("right", size), ("roots", size), ("feature", len(FEATURES)))
        )
        if not inside or {len(arrays[name]) for name in _TREES[:-1]} != {size}:
            raise BadInputError(path, None, "damaged trees in the scorer", "Install editvec again, or train one.")


@lru_cache(1)
def packaged_scorer() -> MatchScorer:
    """Return the scorer in the package.

    Raises:
        UserError: This copy of the package has none, or it is damaged.
    """
    return load_scorer(artifact("scorer") / FILE)
