"""The rows that a scorer is fitted to, and the files that keep them: one file a repository, arrays by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.suggest.features import FEATURES
from editvec.suggest.replay import Verdict
from editvec.training.replayed import ReplayedRows

_VERDICTS = tuple(Verdict)


@dataclass(frozen=True, eq=False)
class ScorerRows:
    """Rows to fit: features, verdicts, weights, and what each row belongs to; all arrays have one item per row."""

    features: NDArray[np.float32]
    useful: NDArray[np.bool_]
    weights: NDArray[np.float64]
    replays: NDArray[np.int64]
    repositories: NDArray[np.int64]
    num_shown: NDArray[np.int64]
    num_refused: NDArray[np.int64]
    is_sweep: NDArray[np.bool_]

    def where(self, chosen: NDArray[np.bool_]) -> ScorerRows:
        """Return the chosen rows."""
        return ScorerRows(**{name: value[chosen] for name, value in vars(self).items()})

    def thinned(self, most: int) -> ScorerRows:
        """Return at most `most` rows of each replay that are not useful, drawn at random; they count for the others."""
        drawn = np.random.default_rng(1).random(len(self.useful))
        order = np.lexsort((drawn, self.useful, self.replays))
        groups = (self.replays * 2 + self.useful)[order]
        starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
        sizes = np.diff(np.r_[starts, len(groups)])
        place = np.arange(len(groups)) - np.repeat(starts, sizes)
        kept, factor = np.empty(len(groups), np.bool_), np.empty(len(groups))
        kept[order] = (place < most) | self.useful[order]
        factor[order] = np.where(self.useful[order], 1.0, np.maximum(1.0, np.repeat(sizes, sizes) / most))
        thin = ScorerRows(**(vars(self) | {"weights": self.weights * factor}))
        return thin.where(kept)


def save_rows(file: Path, found: Sequence[ReplayedRows]) -> None:
    """Write the rows of a repository's replays, atomically."""

    def of_rows(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values, [len(each.verdicts) for each in found])

    arrays: dict[str, NDArray[Any]] = {
        "features": np.concatenate([each.features for each in found]),
        "verdicts": np.array([_VERDICTS.index(verdict) for each in found for verdict in each.verdicts], np.int8),
        "weights": np.concatenate([each.weights for each in found]),
        "replays": of_rows(np.arange(len(found))),
        "num_shown": of_rows([each.num_shown for each in found]),
        "is_sweep": of_rows([each.is_sweep for each in found]),
    }
    partial = file.with_suffix(".partial")
    with partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)
    partial.replace(file)


def read_rows(files: Sequence[Path]) -> ScorerRows:
    """Return the rows of files of repositories; the number of a repository is that of its file."""
    parts: list[dict[str, NDArray[Any]]] = []
    first = 0
    for number, file in enumerate(files):
        with np.load(file, allow_pickle=False) as arrays:
            part = {name: arrays[name] for name in arrays.files}
        part["replays"] = part["replays"] + first
        part["repositories"] = np.full(len(part["verdicts"]), number)
        first = int(part["replays"].max()) + 1
        parts.append(part)
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    useful = [_VERDICTS.index(verdict) for verdict in _VERDICTS if verdict.is_useful]
    refused = whole["features"][:, FEATURES.index("num_refused")]
    return ScorerRows(
        whole["features"],
        np.isin(whole["verdicts"], useful),
        whole["weights"].astype(np.float64),
        whole["replays"].astype(np.int64),
        whole["repositories"].astype(np.int64),
        whole["num_shown"].astype(np.int64),
        refused.astype(np.int64),
        whole["is_sweep"].astype(np.bool_),
    )
