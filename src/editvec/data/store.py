"""The persistent store of a repository: one SQLite file per repository, in the user's cache.

| table | content |
|---|---|
| `commits` | the result of mining a commit with given settings: packed native lines, and counts of what was dropped |
| `vectors` | edit vectors, by the digest of the model and of the edit |
| `evidence` | evidence from the history, as JSON, by a digest of the query |

The store is a cache: everything in it can be computed again. A file of another version is emptied, and a damaged file
is removed with a warning. Writers append in transactions, so a process may be killed at any moment and several
processes may work at once. The total size of all files is limited; the least recently used repositories are removed
first. This module knows neither git nor how an edit is extracted; settings and digests are opaque to it.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.data import cache, native

_VERSION = 1
_MOST_SETTINGS, _MOST_MODELS = 4, 2
"""Maximum numbers of settings and models per repository; the most recently used ones are kept."""
_PATIENCE = 60.0
_AT_ONCE = 256
_OUTSIDE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
"""SQLite errors that do not mean that the file is damaged."""
_ADVICE = "Free disk space, or choose another cache folder with XDG_CACHE_HOME."
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE settings (id INTEGER PRIMARY KEY, text TEXT UNIQUE, used REAL);
CREATE TABLE commits (
    settings INTEGER, hash BLOB, complete INTEGER, tally BLOB, heads BLOB, marks BLOB, block BLOB,
    UNIQUE (settings, hash)
);
CREATE TABLE models (id INTEGER PRIMARY KEY, digest TEXT UNIQUE, used REAL);
CREATE TABLE vectors (model INTEGER, edit BLOB, vector BLOB, UNIQUE (model, edit));
CREATE TABLE evidence (key BLOB PRIMARY KEY, value BLOB);
"""
_ADD = """
INSERT INTO commits (settings, hash, complete, tally, heads, marks, block) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (settings, hash) DO UPDATE SET complete = excluded.complete, tally = excluded.tally,
    heads = excluded.heads, marks = excluded.marks, block = excluded.block
WHERE excluded.complete >= complete
"""
_log = logging.getLogger("editvec")


class DamagedStoreError(Exception):
    """The error for a damaged store; `Store.begin_anew` empties it."""


class LostCommitError(DamagedStoreError):
    """The error for a commit that is no longer in the store, because another process made room."""


@dataclass(frozen=True, slots=True)
class MinedCommit:
    """The result of mining one commit."""

    commit: str
    tally: Mapping[str, int]
    """Number of dropped hunks or edits by filter."""
    complete: bool
    """False for a commit that could not be read and must be mined again."""
    heads: tuple[tuple[str, str], ...] = ()
    """Language and path of each edit."""
    marks: bytes = b""
    """A fixed number of bytes per edit, opaque to the store: what the miner needs without unpacking the edits."""
    block: bytes = b""
    """The edits as native lines, packed by `native.pack`."""

    @property
    def lines(self) -> list[bytes]:
        """Return the edits as native lines.

        Raises:
            DamagedStoreError: The block is damaged.
        """
        try:
            lines = native.unpack(self.block) if self.heads else []
        except zlib.error as error:
            raise DamagedStoreError(f"the edits of {self.commit} are damaged ({error})") from None
        if len(lines) != len(self.heads):
            raise DamagedStoreError(f"the edits of {self.commit} are damaged")
        return lines


class Store:
    """An open store; not for use by several threads at once."""

    def __init__(self, path: Path, repository: str = "", *, limit: int | None = None) -> None:
        """Open or create the store in a file.

        `repository` is the name to record. With a limit, closing the store removes other stores if their total size
        exceeds it.

        Raises:
            UserError: The file or its folder cannot be created or used.
        """
        self.path = path
        self._about, self._limit = repository, limit
        try:
            # The store holds source code, so only the user may read it.
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._database = self._opened()
        except OSError as error:
            raise UserError(f"cannot create the folder {path.parent} ({error.strerror}). {_ADVICE}") from None
        except DamagedStoreError:
            self._database = self._replaced()
        with suppress(OSError):
            os.utime(path)

    @classmethod
    def of(cls, repository: Path, *, limit: int = cache.LIMIT) -> Store:
        """Open the store of a repository in the user's cache."""
        return cls(cache.place_of(repository), _printable(str(repository)), limit=limit)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and enforce the size limit if there is one.

        The least recently used stores are removed first, this one last.
        """
        self._database.close()
        if self._limit is not None:
            cache.make_room(self._limit, last=self.path)

    def begin_anew(self) -> None:
        """Replace a damaged store by an empty one."""
        self._database.close()
        self._database = self._replaced()

    # --- mined commits

    def settings(self, text: str) -> int:
        """Return the number of the given settings: a text of everything, except commits, that mined edits depend on."""
        return self._number_of("settings", "text", _printable(text), _MOST_SETTINGS)

    def missing(self, settings: int, commits: Sequence[str]) -> list[str]:
        """Return the commits that were not mined yet or could not be read."""
        with self._told():
            rows = self._database.execute("SELECT hash FROM commits WHERE settings = ? AND complete", (settings,))
            known = {bytes(row[0]) for row in rows}
        return [commit for commit in commits if bytes.fromhex(commit) not in known]

    def add(self, settings: int, mined: Iterable[MinedCommit]) -> None:
        """Store the results of commits in one transaction; an incomplete result never replaces a complete one."""
        with self._told(), self._transaction():
            self._database.executemany(
                _ADD,
                (
                    (
                        settings,
                        bytes.fromhex(each.commit),
                        each.complete,
                        orjson.dumps(each.tally) if each.tally else None,
                        orjson.dumps(each.heads) if each.heads else None,
                        each.marks,
                        each.block,
                    )
                    for each in mined
                ),
            )

    def commits(self, settings: int, commits: Sequence[str]) -> Iterator[MinedCommit]:
        """Yield the results of the commits, in the given order.

        Raises:
            LostCommitError: A commit is not in the store.
        """
        for start in range(0, len(commits), _AT_ONCE):
            wanted = [bytes.fromhex(commit) for commit in commits[start : start + _AT_ONCE]]
            marks = ", ".join("?" * len(wanted))
            query = f"SELECT * FROM commits WHERE settings = ? AND hash IN ({marks})"
            with self._told():
                found = {bytes(row[1]): row for row in self._database.execute(query, (settings, *wanted))}
            for commit, key in zip(commits[start : start + _AT_ONCE], wanted, strict=True):
                if key not in found:
                    raise LostCommitError(f"{commit} is no longer in the store")
                yield _mined(commit, found[key])

    def edits(self, settings: int, commit: str) -> list[Edit]:
        """Return the edits of a commit."""
        (mined,) = self.commits(settings, [commit])
        return [native.load(line) for line in mined.lines]

    # --- vectors and evidence

    def vectors(self, model: str, digests: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the stored vectors of a model by content digest; each has the shape [dim]."""
        number = self._number_of("models", "digest", model, _MOST_MODELS)
        found: dict[bytes, NDArray[np.float32]] = {}
        for some, marks in _in_parts(digests):
            with self._told():
                query = f"SELECT edit, vector FROM vectors WHERE model = ? AND edit IN ({marks})"
                for digest, vector in self._database.execute(query, (number, *some)):
                    found[bytes(digest)] = np.frombuffer(vector, "<f4")
        return found

    def add_vectors(self, model: str, digests: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Store vectors of a model; `vectors` has the shape [digests, dim]."""
        number = self._number_of("models", "digest", model, _MOST_MODELS)
        rows = zip(digests, np.ascontiguousarray(vectors, "<f4"), strict=True)
        with self._told(), self._transaction():
            self._database.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                ((number, digest, vector.tobytes()) for digest, vector in rows),
            )

    def evidence(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """Return the stored evidence by key."""
        found: dict[bytes, Any] = {}
        for some, marks in _in_parts(keys):
            with self._told():
                for key, value in self._database.execute(f"SELECT * FROM evidence WHERE key IN ({marks})", some):
                    found[bytes(key)] = orjson.loads(value)
        return found

    def add_evidence(self, evidence: Mapping[bytes, Any]) -> None:
        """Store evidence (JSON values) by key; the key must cover everything that the evidence depends on."""
        with self._told(), self._transaction():
            self._database.executemany(
                "INSERT OR REPLACE INTO evidence VALUES (?, ?)",
                ((key, orjson.dumps(value)) for key, value in evidence.items()),
            )

    # --- the file

    def _opened(self) -> sqlite3.Connection:
        database = None
        try:
            with self._told():
                database = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
                database.execute("PRAGMA auto_vacuum = INCREMENTAL")
                _use_write_ahead_log(database)
                # After a power failure the last batches may be missing, but the file is intact.
                database.execute("PRAGMA synchronous = NORMAL")
                self._database = database
                if _version(database) != _VERSION:
                    self._make_tables()
        except BaseException:
            if database is not None:
                database.close()
            raise
        return database

    def _make_tables(self) -> None:
        with self._transaction():
            # Another process may have created the tables in the meantime.
            if _version(self._database) == _VERSION:
                return
            for (name,) in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                self._database.execute(f'DROP TABLE "{name}"')
            for statement in _TABLES.split(";"):
                self._database.execute(statement)
            self._database.execute("INSERT INTO about VALUES ('repository', ?)", (self._about,))
            self._database.execute(f"PRAGMA user_version = {_VERSION}")

    def _replaced(self) -> sqlite3.Connection:
        _log.warning("editvec: the cache %s was damaged. It is rebuilt from the repository.", self.path)
        try:
            cache.unlink(self.path)
            return self._opened()
        except (OSError, DamagedStoreError) as error:
            raise UserError(
                f"cannot replace the damaged cache {self.path} ({error}). Remove it and try again."
            ) from None

    def _number_of(self, table: str, column: str, value: str, most: int) -> int:
        """Return the number of a row, after inserting it if it is missing.

        If the table then has more than `most` rows, the least recently used ones are removed.
        """
        with self._told(), self._transaction():
            self._database.execute(
                f"INSERT INTO {table} ({column}, used) VALUES (?, ?)"
                f" ON CONFLICT ({column}) DO UPDATE SET used = excluded.used",
                (value, time.time()),
            )
            rows = self._database.execute(f"SELECT id, {column} FROM {table} ORDER BY used DESC").fetchall()
            held, key = ("commits", "settings") if table == "settings" else ("vectors", "model")
            for old, _ in rows[most:]:
                self._database.execute(f"DELETE FROM {held} WHERE {key} = ?", (old,))
                self._database.execute(f"DELETE FROM {table} WHERE id = ?", (old,))
        if rows[most:]:
            with self._told():
                self._database.execute("PRAGMA incremental_vacuum").fetchall()
        return next(int(number) for number, text in rows if text == value)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        finally:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Translate SQLite's errors into UserError or DamagedStoreError."""
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorname", "").startswith(_OUTSIDE):
                raise UserError(f"cannot use the cache {self.path} ({error}). {_ADVICE}") from None
            raise DamagedStoreError(str(error)) from None


def _printable(text: str) -> str:
    """Return text that SQLite can hold: bytes of file names that are no UTF-8 show as backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _use_write_ahead_log(database: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, so that readers and a writer can work at once.

    If several processes switch at the same moment, SQLite fails without waiting; the switch is therefore retried.
    """
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _mined(commit: str, row: tuple[Any, ...]) -> MinedCommit:
    try:
        tally = orjson.loads(row[3]) if row[3] else {}
        heads = tuple((language, path) for language, path in orjson.loads(row[4])) if row[4] else ()
    except (ValueError, TypeError) as error:
        raise DamagedStoreError(f"{commit} is damaged ({error})") from None
    return MinedCommit(commit, tally, bool(row[2]), heads, row[5], row[6])


def _in_parts(keys: Sequence[bytes]) -> Iterator[tuple[Sequence[bytes], str]]:
    """Yield the keys in chunks, each with as many SQL placeholders."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        yield some, ", ".join("?" * len(some))
