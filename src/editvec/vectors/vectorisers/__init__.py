"""Vectorisers: they turn edits into vectors, with a trained model or a baseline that only counts tokens.

| name | vectors |
|---|---|
| a folder | a trained model's edit vectors |
| `tfidf` | the added and removed tokens, weighted by rarity: the paper's retrieval baseline |
| `diff` | the unified diff as text: hashed n-grams, then latent semantic analysis |

All of them follow one protocol. A baseline is fitted on edits, and is saved beside the vectors that it computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError
from editvec.vectors.vectorisers.base import Baseline, Vectoriser
from editvec.vectors.vectorisers.difftext import DiffText
from editvec.vectors.vectorisers.tfidf import TfIdf
from editvec.vectors.vectorisers.trained import Trained

BASELINES: dict[str, type[Baseline]] = {"tfidf": TfIdf, "diff": DiffText}

__all__ = ["BASELINES", "Baseline", "Trained", "Vectoriser", "load_baseline", "make"]


def make(name: str | Path, edits: Iterable[Edit]) -> Vectoriser:
    """Return the vectoriser with this name.

    A baseline is fitted on the edits. A trained model does not read them.
    """
    known = BASELINES.get(str(name))
    return Trained.load(name) if known is None else known.fit(edits)


def load_baseline(name: str, folder: Path) -> Vectoriser:
    """Load the baseline that was saved in a folder."""
    if name not in BASELINES:
        raise BadInputError(folder, None, f"there is no baseline {name!r}. Choose one of: {', '.join(BASELINES)}.")
    return BASELINES[name].load(folder)
