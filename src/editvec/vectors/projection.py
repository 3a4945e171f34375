"""Project vectors onto the plane with t-SNE (van der Maaten and Hinton, 2008).

The implementation is openTSNE, which projects 50,000 vectors in minutes. t-SNE is used instead of UMAP because the
paper uses it, and because openTSNE needs nothing beyond scikit-learn, while UMAP installs a compiler.
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
    """Return a point in the plane for each vector, so that vectors with a high cosine are close to each other.

    The points have the shape [rows, 2] and lie between -1 and 1.
    """
    units = unit(np.asarray(vectors, np.float32))
    if len(units) < 4:
        return np.array([[at, 0] for at in range(len(units))], np.float32).reshape(-1, 2)
    tsne = require("openTSNE", extra="vectors", what="Maps").TSNE
    decomposition = require("sklearn.decomposition", extra="vectors", what="Maps")
    rank = min(_COMPONENTS, *units.shape)
    reduced = decomposition.PCA(rank, svd_solver="randomized", random_state=seed).fit_transform(units)
    most = max(1.0, (len(units) - 1) / 3)
    # For a small map, synchronising threads costs more time than they save.
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
    """Choose at random the rows to draw, and return them in ascending order.

    Labels with fewer than `least` rows are left out. At most `most` rows are kept per label, and at most `limit` in
    all. The paper's map has `most=100, least=40`.
    """
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
