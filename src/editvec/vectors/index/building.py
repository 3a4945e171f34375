"""Write an index: edits are encoded in chunks, and a chunk becomes valid when it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.core.files import locked, make_folder, remove_partial
from editvec.data.splits import token_hash
from editvec.vectors import vectorisers
from editvec.vectors.index import arrays
from editvec.vectors.index.cells import can_make_cells, make_cells, unit
from editvec.vectors.index.manifest import (
    CELLS,
    MANIFEST,
    TOKEN_HASHES,
    UNITS,
    VECTORISER,
    VECTORS,
    VERSION,
    Manifest,
    read_manifest,
)
from editvec.vectors.index.opened import Index
from editvec.vectors.vectorisers import Vectoriser
from editvec.vectors.vectorisers.base import Vectors

LARGE = 250_000
"""Number of rows from which a search looks only into the nearest cells, if faiss is installed."""
_LOCK = ".lock"
_CHUNK = 16_384
"""Edits per chunk. An interrupted writer continues after the last complete chunk."""
_STALE = 1.25
"""Factor by which the index must have grown before the cells are built again."""


def build(
    folder: str | Path,
    vectoriser: Vectoriser,
    edits: Iterable[Edit],
    *,
    append: bool = False,
    watch: Callable[[int], None] = lambda done: None,
) -> tuple[Index, int]:
    """Encode edits into an index, and return it with the number of edits that could not be read.

    With `append`, only the edits that are not in the index yet are added.

    Raises:
        UserError: The folder is in use, holds other files, or holds an index and `append` is not set.
    """
    folder = Path(folder)
    make_folder(folder)
    with _alone(folder):
        index = _begin(folder, vectoriser, append=append)
        known = set(zip(index.ids, index.token_hashes.tolist(), strict=True)) if len(index) else set()
        fresh = ((edit, token_hash(edit)) for edit in edits)
        new = ((edit, number) for edit, number in fresh if (edit.id, number) not in known)
        left_out = done = 0
        while chunk := list(islice(new, _CHUNK)):
            unread: list[int] = []
            vectors = vectoriser.encode([edit for edit, _ in chunk], unread=unread)
            skipped = set(unread)
            kept = [pair for place, pair in enumerate(chunk) if place not in skipped]
            index = _add(index, vectors, kept)
            left_out += len(unread)
            done += len(chunk)
            watch(done)
        index = _with_cells(index)
        return _replace(index, complete=True), left_out


def _with_cells(index: Index) -> Index:
    """Return the index, with new cells if it is large and has none or outdated ones."""
    count = len(index)
    if count < LARGE or not can_make_cells() or (index.manifest.celled and count < _STALE * index.manifest.celled):
        return index
    make_cells(index.folder / CELLS, index.units)
    return _replace(index, celled=count)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the folder, so that there is only one writer at a time."""
    try:
        with locked(folder / _LOCK):
            yield
    except BlockingIOError:
        raise UserError(f"another process is writing {folder}. Wait for it, or choose another folder.") from None


def _begin(folder: Path, vectoriser: Vectoriser, *, append: bool) -> Index:
    remove_partial(folder)
    if (folder / MANIFEST).exists():
        index = Index(folder, read_manifest(folder))
        if not append:
            raise UserError(f"{folder} already holds an index. Use --append to add to it, or choose another folder.")
        index.check(vectoriser)
        return _replace(index, complete=False)
    if any(path.name != _LOCK for path in folder.iterdir()):
        raise UserError(f"{folder} contains files but no index. Choose another folder.")
    if isinstance(vectoriser, vectorisers.Baseline):
        vectoriser.save(folder / VECTORISER)
        name = vectoriser.name
    else:
        name = str(Path(vectoriser.name).resolve())
    manifest = Manifest(VERSION, name, vectoriser.digest, vectoriser.dim)
    return _replace(Index(folder, manifest))


def _add(index: Index, vectors: Vectors, edits: Sequence[tuple[Edit, int]]) -> Index:
    """Return the index with these rows added."""
    if not edits:
        return index
    start = len(index)
    index.rows.append([edit for edit, _ in edits])
    columns: tuple[tuple[str, NDArray[Any]], ...] = (
        (VECTORS, vectors),
        (UNITS, unit(vectors)),
        (TOKEN_HASHES, np.array([number for _, number in edits], np.uint64)),
    )
    for name, values in columns:
        arrays.append(index.folder / name, start, values)
    return _replace(index, count=start + len(edits))


def _replace(index: Index, **changes: Any) -> Index:
    manifest = replace(index.manifest, **changes)
    manifest.save(index.folder)
    return Index(index.folder, manifest)
