"""The nearest rows of queries: all rows looked at, or, where they are many, only those of the nearest cells.

Built on faiss. IVF and not HNSW: on two cores a million vectors go into cells in minutes, into a graph in an hour.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from editvec.core.errors import BadInputError
from editvec.vectors.vectorisers.base import Vectors

Metric = Literal["cosine", "l2"]
METRICS: tuple[Metric, ...] = ("cosine", "l2")
Rows = NDArray[np.int64]
_BLOCK = 65_536


def unit(vectors: Vectors) -> Vectors:
    """Rows at length one; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def exact_search(base: Vectors, queries: Vectors, k: int, metric: Metric) -> tuple[Rows, Vectors]:
    import faiss

    rows = np.full((len(queries), k), -1, np.int64)
    scores = np.full((len(queries), k), -np.inf if metric == "cosine" else np.inf, np.float32)
    within = min(k, len(base))
    if within and len(queries):
        kind = faiss.METRIC_INNER_PRODUCT if metric == "cosine" else faiss.METRIC_L2
        found, places = faiss.knn(queries, base, within, metric=kind)
        rows[:, :within], scores[:, :within] = places, found
    return rows, scores


def best_of(rows: Rows, scores: Vectors, k: int) -> tuple[Rows, Vectors]:
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1)


def _read_cells(path: Path) -> Any:
    import faiss

    try:
        cells: Any = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    except RuntimeError as error:
        raise BadInputError(path, None, f"not sound ({str(error)[:100]}). Encode the edits again.") from None
    lists: Any = faiss.downcast_InvertedLists(cells.invlists)
    if hasattr(lists, "prefetch_nthread"):
        # By default faiss starts 32 threads for each search to read ahead, which costs more than the search.
        lists.prefetch_nthread = 0
    return cells


class Cells:
    """Cells of near vectors, on disk: the nearest cells are searched roughly, the best of that exactly."""

    def __init__(self, path: Path, dim: int) -> None:
        self._index = _read_cells(path)
        if self._index.d != dim:
            raise BadInputError(path, None, "its vectors have another length. Encode the edits again.")
        self._index.nprobe = max(8, self._index.nlist // 32)

    def search(self, queries: Vectors, units: Vectors, k: int) -> tuple[Rows, Vectors]:
        _, rows = self._index.search(queries, 2 * k + 16)
        # A byte a number finds them, the numbers themselves put them in order.
        near = np.asarray(units)[np.maximum(rows, 0)]
        scores = (near @ queries[:, :, None])[:, :, 0]
        return best_of(rows, np.where(rows < 0, -np.inf, scores).astype(np.float32), k)


def make_cells(path: Path, units: Vectors) -> None:
    """Puts rows of length one into cells, on disk."""
    import faiss

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
