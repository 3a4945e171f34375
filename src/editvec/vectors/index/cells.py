"""Nearest-neighbour search: over all rows, or, in large indexes, only over the rows of the nearest cells.

The search over all rows needs only NumPy. Cells are built with faiss (the extra `vectors`). IVF is used instead of
HNSW: on two cores a million vectors are put into cells in minutes, but into an HNSW graph in an hour.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from editvec.core.errors import BadInputError
from editvec.data.extras import require
from editvec.vectors.vectorisers.base import Vectors

Metric = Literal["cosine", "l2"]
METRICS: tuple[Metric, ...] = ("cosine", "l2")
Rows = NDArray[np.int64]
_BLOCK = 65_536
_QUERIES = 1_024
_CELLS_AT_ONCE = 16_000_000
"""Maximum number of query-row scores that are in memory at once."""


def unit(vectors: Vectors) -> Vectors:
    """Return the rows scaled to length one; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def exact_search(base: Vectors, queries: Vectors, k: int, metric: Metric) -> tuple[Rows, Vectors]:
    """Return the `k` nearest rows of each query, and their cosines or squared L2 distances: [queries, k] both.

    The nearest row comes first; of equally near rows, the one with the smaller number. If there are fewer than `k`
    rows, the remaining row numbers are -1. For cosine, all vectors must have length one.
    """
    rows = np.full((len(queries), k), -1, np.int64)
    scores = np.full((len(queries), k), -np.inf if metric == "cosine" else np.inf, np.float32)
    within = min(k, len(base))
    if not within:
        return rows, scores
    for start in range(0, len(queries), _QUERIES):
        some = queries[start : start + _QUERIES]
        near = _nearest(base, some, within, metric)
        found = _scores(base, some, near, metric)
        order = np.lexsort((near, -found if metric == "cosine" else found), axis=1)
        end = start + len(some)
        rows[start:end, :within] = np.take_along_axis(near, order, 1)
        scores[start:end, :within] = np.take_along_axis(found, order, 1)
    return rows, scores


def _nearest(base: Vectors, queries: Vectors, k: int, metric: Metric) -> Rows:
    """Return the `k` nearest rows of each query, in any order; the base is read once, in blocks."""
    block = max(k, min(_BLOCK, _CELLS_AT_ONCE // len(queries)))
    rows = np.zeros((len(queries), 0), np.int64)
    likes = np.zeros((len(queries), 0), np.float32)
    for start in range(0, len(base), block):
        part = np.asarray(base[start : start + block])
        like = queries @ part.T
        if metric == "l2":
            # Minus half the squared distance, without the query's own length, which is the same for all rows.
            like -= 0.5 * np.einsum("ij,ij->i", part, part)
        likes = np.hstack([likes, like])
        rows = np.hstack([rows, np.broadcast_to(np.arange(start, start + len(part)), like.shape)])
        if likes.shape[1] > k:
            best = np.argpartition(likes, -k, axis=1)[:, -k:]
            likes, rows = np.take_along_axis(likes, best, 1), np.take_along_axis(rows, best, 1)
    return rows


def _scores(base: Vectors, queries: Vectors, rows: Rows, metric: Metric) -> Vectors:
    """Return the cosine or squared distance of each query and its rows, in full float32 precision."""
    scores = np.empty(rows.shape, np.float32)
    for number, query in enumerate(queries):
        near = np.asarray(base[rows[number]])
        scores[number] = near @ query if metric == "cosine" else ((near - query) ** 2).sum(axis=1)
    return scores


def best_of(rows: Rows, scores: Vectors, k: int) -> tuple[Rows, Vectors]:
    """Return the `k` rows with the highest scores of each query, and these scores."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1)


def can_make_cells() -> bool:
    """Return whether faiss is installed."""
    try:
        return find_spec("faiss") is not None
    except ImportError:
        return False


def _faiss() -> Any:
    return require("faiss", extra="vectors", what="Cells of large indexes")


def _read_cells(path: Path) -> Any:
    faiss = _faiss()
    try:
        cells: Any = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    except RuntimeError as error:
        raise BadInputError(path, None, f"damaged ({str(error)[:100]}). Encode the edits again.") from None
    lists: Any = faiss.downcast_InvertedLists(cells.invlists)
    if hasattr(lists, "prefetch_nthread"):
        # By default faiss starts 32 threads per search to read ahead, which takes longer than the search itself.
        lists.prefetch_nthread = 0
    return cells


class Cells:
    """Cells of near vectors on disk: an approximate search of the nearest cells, then exact scores of the best rows."""

    def __init__(self, path: Path, dim: int) -> None:
        self._index = _read_cells(path)
        if self._index.d != dim:
            raise BadInputError(path, None, "the vectors have the wrong length. Encode the edits again.")
        self._index.nprobe = max(8, self._index.nlist // 32)

    def search(self, queries: Vectors, units: Vectors, k: int) -> tuple[Rows, Vectors]:
        """Return the `k` nearest rows of each query and their cosines: [queries, k] both."""
        _, rows = self._index.search(queries, 2 * k + 16)
        # The cells store one byte per number, enough to find the rows. The exact vectors rank them.
        near = np.asarray(units)[np.maximum(rows, 0)]
        scores = (near @ queries[:, :, None])[:, :, 0]
        return best_of(rows, np.where(rows < 0, -np.inf, scores).astype(np.float32), k)


def make_cells(path: Path, units: Vectors) -> None:
    """Put rows of length one into cells, and write them to disk."""
    faiss = _faiss()
    count, dim = units.shape
    num_cells = int(2 ** round(np.log2(2 * count**0.5)))
    cells = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dim), dim, num_cells, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    chosen = np.sort(np.random.default_rng(0).choice(count, min(count, 40 * num_cells), replace=False))
    cells.train(np.ascontiguousarray(units[chosen]))
    for start in range(0, count, _BLOCK):
        cells.add(np.ascontiguousarray(units[start : start + _BLOCK]))
    temporary = path.parent / f".{path.name}.partial"
    faiss.write_index(cells, str(temporary))
    temporary.replace(path)
