"""Read an index: rows by id, by number and by similarity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.vectors import vectorisers
from editvec.vectors.index import arrays
from editvec.vectors.index.cells import Cells, Metric, Rows, best_of, can_make_cells, exact_search, unit
from editvec.vectors.index.manifest import (
    CELLS,
    EDITS,
    MANIFEST,
    TOKEN_HASHES,
    UNITS,
    VECTORISER,
    VECTORS,
    Manifest,
    NoIndexError,
    read_manifest,
)
from editvec.vectors.index.rows import EditRows
from editvec.vectors.vectorisers import Trained, Vectoriser
from editvec.vectors.vectorisers.base import Vectors


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row of an index, its cosine or distance to the query, and its edit."""

    row: int
    score: float
    edit: Edit


class Index:
    """An index in the state that it had when it was opened."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest

    def __len__(self) -> int:
        return self.manifest.count

    @property
    def dim(self) -> int:
        """Return the length of a vector."""
        return self.manifest.dim

    @property
    def rows(self) -> EditRows:
        """Return the reader of the rows' edits."""
        return EditRows(self.folder / EDITS, len(self))

    @cached_property
    def vectors(self) -> Vectors:
        """Return the vectors as the vectoriser computed them, memory-mapped: [rows, dim]."""
        rows: Vectors = arrays.mapped(self.folder / VECTORS, np.float32, (len(self), self.dim))
        return rows

    @cached_property
    def units(self) -> Vectors:
        """Return the vectors at length one (zero vectors stay zero), memory-mapped: [rows, dim]."""
        rows: Vectors = arrays.mapped(self.folder / UNITS, np.float32, (len(self), self.dim))
        return rows

    @cached_property
    def token_hashes(self) -> NDArray[np.uint64]:
        """Return a hash of the tokens before and after for each row: [rows]."""
        rows: NDArray[np.uint64] = arrays.mapped(self.folder / TOKEN_HASHES, np.uint64, (len(self),))
        return rows

    @cached_property
    def ids(self) -> list[str]:
        """Return the ids of all rows."""
        return list(self.rows.ids())

    def row_of(self, identity: str) -> int:
        """Return the row of an id, of the unique beginning of one, or of a number counted from 1 (`#3`).

        Raises:
            UserError: No row or several rows match.
        """
        if identity.startswith("#") and identity[1:].isdigit():
            if not 1 <= int(identity[1:]) <= len(self):
                raise UserError(f"the index has {len(self):,} edits, so there is no {identity}. Give a smaller number.")
            return int(identity[1:]) - 1
        exact = [row for row, known in enumerate(self.ids) if known == identity]
        if exact:
            return exact[0]
        near = [row for row, known in enumerate(self.ids) if known.startswith(identity)]
        if len(near) == 1:
            return near[0]
        if near:
            raise UserError(f"{len(near):,} ids begin with {identity!r}. Give more of the id, or #{near[0] + 1}.")
        raise UserError(f"no edit has the id {identity!r}. Give an id, or a number such as #3.")

    def edits(self, rows: Iterable[int]) -> list[Edit]:
        """Return the edits of rows, in the order of the rows."""
        return self.rows.take(list(rows))

    def all_edits(self) -> Iterator[Edit]:
        """Return an iterator over the edits of all rows."""
        return self.rows.all()

    def search(
        self, queries: Vectors, k: int = 10, *, metric: Metric = "cosine", exact: bool = False
    ) -> tuple[Rows, Vectors]:
        """Return the `k` nearest rows of each query and their cosines or L2 distances: [queries, k] both.

        The nearest row comes first. If there are fewer than `k` rows, the remaining row numbers are -1. In a large
        index, cosine is searched in the nearest cells only, unless `exact` is set or faiss is not installed.

        Raises:
            UserError: The queries have the wrong length.
        """
        queries = np.atleast_2d(np.ascontiguousarray(queries, np.float32))
        if queries.shape[1] != self.dim:
            raise UserError(f"the index has vectors of {self.dim} numbers, the query has {queries.shape[1]}.")
        k = max(1, k)
        if metric == "l2":
            rows, scores = exact_search(self.vectors, queries, k, "l2")
            return rows, np.sqrt(np.maximum(scores, 0))
        units = unit(queries)
        if exact or not self.manifest.celled or not can_make_cells():
            return exact_search(self.units, units, k, "cosine")
        rows, scores = self._cells.search(units, self.units, k)
        rest = self.units[self.manifest.celled :]
        if len(rest):
            more, others = exact_search(rest, units, k, "cosine")
            more = np.where(more < 0, more, more + self.manifest.celled)
            rows, scores = best_of(np.hstack([rows, more]), np.hstack([scores, others]), k)
        return rows, scores

    def neighbours(
        self,
        query: Vectors,
        k: int = 10,
        *,
        metric: Metric = "cosine",
        without_row: int | None = None,
        without_hash: int | None = None,
        exact: bool = False,
    ) -> list[Neighbour]:
        """Return the nearest edits of one vector.

        The row `without_row` is left out, and so are all rows whose token hash is `without_hash`.
        """
        barred = set() if without_row is None else {without_row}
        if without_hash is not None:
            barred |= set(np.flatnonzero(self.token_hashes == np.uint64(without_hash)).tolist())
        rows, scores = self.search(query, min(len(self), k + len(barred)), metric=metric, exact=exact)
        kept = [
            (int(row), float(score))
            for row, score in zip(rows[0], scores[0], strict=True)
            if row >= 0 and int(row) not in barred
        ][:k]
        edits = self.edits(row for row, _ in kept)
        return [Neighbour(row, score, edit) for (row, score), edit in zip(kept, edits, strict=True)]

    def vectoriser(self, name: str | Path | None = None) -> Vectoriser:
        """Return the vectoriser that made the index, to encode queries with.

        `name` is its folder, if it has moved.

        Raises:
            UserError: The model is not there, or it is not the one that made the index.
        """
        known = self.manifest.vectoriser
        if known in vectorisers.BASELINES:
            found: Vectoriser = vectorisers.load_baseline(known, self.folder / VECTORISER)
        else:
            place = Path(name or known)
            if not place.is_dir():
                raise UserError(f"the model of this index is no longer at {place}. Give its folder with --model.")
            found = Trained.load(place)
        self.check(found)
        return found

    def check(self, vectoriser: Vectoriser) -> None:
        """Check that this vectoriser made the index.

        Raises:
            UserError: Another vectoriser made the index.
        """
        if vectoriser.digest != self.manifest.digest:
            raise UserError(
                f"{self.folder} was not made by {vectoriser.name} (the weights differ). "
                "Encode the edits again, or give the model that made the index."
            )

    @cached_property
    def _cells(self) -> Cells:
        return Cells(self.folder / CELLS, self.dim)


def open_index(folder: str | Path) -> Index:
    """Open the index in a folder.

    Raises:
        NoIndexError: There is no index, or it is not finished.
        BadInputError: The manifest is damaged.
    """
    folder = Path(folder)
    found = Index(folder, read_manifest(folder))
    if not found.manifest.complete:
        raise NoIndexError(
            f"{folder} is not finished ({len(found):,} edits so far). "
            f"Finish it: editvec encode MODEL EDITS -o {folder} --append."
        )
    return found


def for_appending(folder: Path, name: str) -> Vectoriser | None:
    """Return the vectoriser to continue the index in a folder with, or None if there is no index yet.

    Raises:
        UserError: The index was made by another vectoriser.
    """
    if not (folder / MANIFEST).exists():
        return None
    index = Index(folder, read_manifest(folder))
    known = index.manifest.vectoriser
    if (known in vectorisers.BASELINES or name in vectorisers.BASELINES) and known != name:
        raise UserError(f"{folder} was made by {known}, not by {name}. Encode into another folder.")
    return index.vectoriser(name)
