"""Vectors → places in the plane: t-SNE (van der Maaten and Hinton, 2008), by openTSNE, which does 50,000 in minutes.

t-SNE and not UMAP: it is the paper's, and openTSNE needs nothing beyond scikit-learn, while UMAP brings a compiler.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from editvec.data.extras import require
from editvec.vectors.index import unit
from editvec.vectors.vectorisers.base import Vectors

_COMPONENTS = 50
_SMALL = 5_000


def project(vectors: Vectors, *, perplexity: float = 30.0, seed: int = 0) -> NDArray[np.float32]:
    """A place in the plane for each vector, near ones near each other by cosine: [rows, 2], within -1 and 1."""
    units = unit(np.asarray(vectors, np.float32))
    if len(units) < 4:
        return np.array([[at, 0] for at in range(len(units))], np.float32).reshape(-1, 2)
    tsne = require("openTSNE", extra="vectors", what="Maps").TSNE
    decomposition = require("sklearn.decomposition", extra="vectors", what="Maps")
    rank = min(_COMPONENTS, *units.shape)
    reduced = decomposition.PCA(rank, svd_solver="randomized", random_state=seed).fit_transform(units)
    most = max(1.0, (len(units) - 1) / 3)
    # Threads that wait for each other cost a small map more than they give it.
    threads = 1 if len(units) < _SMALL else -1
    placed = tsne(perplexity=min(perplexity, most), initialization="pca", random_state=seed, n_jobs=threads).fit(
        reduced
    )
    places = np.asarray(placed, np.float32)
    places -= (places.max(axis=0) + places.min(axis=0)) / 2
    return places / max(float(np.abs(places).max()), 1e-9)


def choose(
    labels: Sequence[str], *, most: int | None = None, least: int = 1, limit: int | None = None, seed: int = 0
) -> NDArray[np.int64]:
    """Rows to draw, in their order: at most so many of a label, at random, no label with fewer than `least`; and at
    most `limit` of what is left, at random. The paper's map has `most=100, least=40`."""
    chance = np.random.default_rng(seed)
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, label in enumerate(labels):
        rows_of[label].append(row)
    kept: list[int] = []
    for label in sorted(rows_of):
        rows = rows_of[label]
        if len(rows) >= least:
            kept += rows if most is None or len(rows) <= most else chance.choice(rows, most, replace=False).tolist()
    if limit is not None and len(kept) > limit:
        kept = chance.choice(kept, limit, replace=False).tolist()
    return np.array(sorted(kept), np.int64)
