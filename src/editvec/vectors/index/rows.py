"""The edits of an index, by row: blocks of packed native lines in a SQLite file, each with the ids of its edits.

A reader holds a lock only during a query. The next writer removes the rows that an interrupted writer left behind.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import orjson

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError
from editvec.data import native

_BLOCK = 64
"""Edits per block. Larger blocks need less disk space; smaller blocks make single edits faster to read."""
_AT_ONCE = 32
_PATIENCE = 60.0


class EditRows:
    """The edits of the first `count` rows in a file."""

    def __init__(self, path: Path, count: int) -> None:
        self.path, self._count = path, count

    def append(self, edits: Sequence[Edit]) -> None:
        """Write edits after the valid rows, over anything that an interrupted writer left there."""
        with self._open(writing=True) as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("CREATE TABLE IF NOT EXISTS blocks (first INTEGER PRIMARY KEY, ids BLOB, lines BLOB)")
            database.execute("DELETE FROM blocks WHERE first >= ?", (self._count,))
            for start in range(0, len(edits), _BLOCK):
                some = edits[start : start + _BLOCK]
                row = (self._count + start, orjson.dumps([edit.id for edit in some]), _packed(some))
                database.execute("INSERT INTO blocks VALUES (?, ?, ?)", row)
            database.execute("COMMIT")

    def ids(self) -> Iterator[str]:
        """Yield the ids of all rows."""
        for ids, _ in self._blocks("ids", "NULL"):
            yield from orjson.loads(ids)

    def all(self) -> Iterator[Edit]:
        """Yield the edits of all rows."""
        for _, lines in self._blocks("NULL", "lines"):
            yield from self._unpacked(lines)

    def take(self, rows: Sequence[int]) -> list[Edit]:
        """Return the edits of rows, in the order of the rows."""
        found: dict[int, Edit] = {}
        first, edits = 0, list[Edit]()
        with self._open() as database:
            query = "SELECT first, lines FROM blocks WHERE first <= ? ORDER BY first DESC LIMIT 1"
            for row in sorted(set(rows)):
                if not row - first < len(edits):
                    first, lines = database.execute(query, (row,)).fetchone() or (row, b"")
                    edits = self._unpacked(lines)
                if not row - first < len(edits):
                    raise self._damaged("rows are missing")
                found[row] = edits[row - first]
        return [found[row] for row in rows]

    def _blocks(self, *columns: str) -> Iterator[tuple[bytes, bytes]]:
        query = f"SELECT first, {', '.join(columns)} FROM blocks WHERE first >= ? AND first < ? ORDER BY first LIMIT ?"
        first = -1
        while first < self._count - 1:
            with self._open() as database:
                some = database.execute(query, (first + 1, self._count, _AT_ONCE)).fetchall()
            if not some:
                return
            yield from ((ids, lines) for _, ids, lines in some)
            first = some[-1][0]

    def _unpacked(self, lines: bytes) -> list[Edit]:
        try:
            return [native.load(line) for line in native.unpack(lines)] if lines else []
        except (zlib.error, ValueError) as error:
            raise self._damaged(error) from None

    @contextmanager
    def _open(self, *, writing: bool = False) -> Iterator[sqlite3.Connection]:
        database = None
        try:
            # A reader may have to roll back what a killed writer began, so it cannot open the file read-only.
            address = f"{self.path.absolute().as_uri()}?mode={'rwc' if writing else 'rw'}"
            database = sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)
            yield database
        except sqlite3.Error as error:
            raise self._damaged(error) from None
        finally:
            if database is not None:
                database.close()

    def _damaged(self, why: object) -> BadInputError:
        return BadInputError(self.path, None, f"damaged ({why}). Encode the edits again.")


def _packed(edits: Sequence[Edit]) -> bytes:
    return native.pack(map(native.dump, edits))
