"""Names: the tokens outside the vocabulary that a batch contains, as pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from editvec.neural.pieces import CLOSE

MOST_PIECES = 8
"""Pieces that are read of a token, with CLOSE; further ones do not change its embedding."""
NO_PIECE = -1

Ints = NDArray[np.int64]


class NamePieces(NamedTuple):
    """The tokens outside the vocabulary of each row of a batch, in the order of their ids."""

    pieces: Ints  # [names, at most MOST_PIECES], numbers of pieces; NO_PIECE on padding
    starts: Ints  # [rows], the number of the first name of each row


def gather_names(spellings: Sequence[NDArray[np.integer[Any]]], counts: Sequence[int]) -> NamePieces | None:
    """Return the first `counts[row]` names of each row, or None if there is none.

    A spelling holds the pieces of all names of a row; CLOSE ends each of them.
    """
    numbers = np.array(counts, np.int64)
    kept = [
        spelling[: np.flatnonzero(spelling == CLOSE)[count - 1] + 1]
        for spelling, count in zip(spellings, counts, strict=True)
        if count and len(spelling)
    ]
    if not kept:
        return None
    flat = np.concatenate(kept).astype(np.int64)
    ends = np.flatnonzero(flat == CLOSE)
    firsts = np.concatenate([[0], ends[:-1] + 1])
    lengths = np.minimum(ends + 1 - firsts, MOST_PIECES)
    columns = np.arange(lengths.max())
    inside = columns < lengths[:, None]
    pieces = np.full(inside.shape, NO_PIECE, np.int64)
    pieces[inside] = flat[(firsts[:, None] + columns)[inside]]
    return NamePieces(pieces, numbers.cumsum() - numbers)


def stack_names(parts: Sequence[tuple[NamePieces | None, int]]) -> NamePieces | None:
    """Return the names of the rows of several batches, as one batch.

    Each batch comes with its number of rows.
    """
    if all(names is None for names, _ in parts):
        return None
    tables: dict[int, int] = {}
    pieces, starts, size = [], [], 0
    for names, rows in parts:
        if names is None:
            starts.append(np.zeros(rows, np.int64))
            continue
        # Several parts of the same batch share their names.
        if id(names.pieces) not in tables:
            tables[id(names.pieces)] = size
            pieces.append(names.pieces)
            size += len(names.pieces)
        starts.append(names.starts + tables[id(names.pieces)])
    widest = max(table.shape[1] for table in pieces)
    padded = [np.pad(table, ((0, 0), (0, widest - table.shape[1])), constant_values=NO_PIECE) for table in pieces]
    return NamePieces(np.concatenate(padded), np.concatenate(starts))
