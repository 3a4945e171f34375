"""The files of the user's cache: list the stores and their sizes, enforce the size limit, clear the cache.

A store (`data/store.py`) is one SQLite file per repository. The cache also holds clones of remote repositories and
the results of unfinished evaluations. Everything in the cache can be computed again.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any

from editvec.core.files import cache_home

LIMIT = 2 * 2**30
"""Maximum size of all stores together, in bytes."""
_STORE, _SUFFIX = "store", ".sqlite"
_BESIDE = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A summary of one store."""

    path: Path
    repository: str
    bytes: int
    commits: int
    vectors: int
    used: datetime


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """A summary of the cache."""

    folder: Path
    stores: list[StoreInfo] = field(default_factory=list)
    """The stores, most recently used first."""
    others: dict[str, int] = field(default_factory=dict)
    """Sizes in bytes of the folders that hold something else, such as clones, by folder name."""
    freed: int = 0
    """Number of bytes that were freed."""
    in_use: tuple[Path, ...] = ()
    """Stores that were not removed because another process uses them."""

    @property
    def bytes(self) -> int:
        """Return the total size of the cache in bytes."""
        return sum(store.bytes for store in self.stores) + sum(self.others.values())

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
        entries = [
            {
                "repository": store.repository,
                "bytes": store.bytes,
                "commits": store.commits,
                "vectors": store.vectors,
                "used": store.used.isoformat(timespec="seconds"),
            }
            for store in self.stores
        ]
        return {
            "folder": str(self.folder),
            "bytes": self.bytes,
            "limit": LIMIT,
            "repositories": entries,
            "others": self.others,
            "freed": self.freed,
            "in_use": [str(path) for path in self.in_use],
        }


def cache(*, clear: bool = False) -> CacheInfo:
    """Return a summary of what editvec keeps between runs; with `clear`, remove it first.

    Examples:
        >>> import editvec
        >>> editvec.cache(clear=True).bytes
        0
    """
    if not clear:
        return describe()
    freed, kept = remove_all()
    return replace(describe(), freed=freed, in_use=tuple(kept))


def describe() -> CacheInfo:
    """Return a summary of the cache."""
    home = cache_home()
    others = {}
    for folder in sorted(home.glob("*/")):
        if folder.name != _STORE and folder.is_dir():
            others[folder.name] = sum(_size(path) for path in folder.rglob("*"))
    return CacheInfo(home, [info(path) for path in reversed(stores())], others)


def remove_all() -> tuple[int, list[Path]]:
    """Remove everything from the cache.

    Returns the number of bytes freed, and the stores that were kept because another process uses them.
    """
    before = describe()
    kept = [store.path for store in before.stores if not remove(store.path)]
    for name in before.others:
        rmtree(before.folder / name, ignore_errors=True)
    return before.bytes - describe().bytes, kept


def place_of(repository: Path) -> Path:
    """Return the path of a repository's store."""
    digest = blake2b(os.fsencode(repository), digest_size=12).hexdigest()
    return cache_home() / _STORE / f"{digest}{_SUFFIX}"


def stores() -> list[Path]:
    """Return the paths of the stores, least recently used first."""
    return sorted((cache_home() / _STORE).glob(f"*{_SUFFIX}"), key=_used)


def info(path: Path) -> StoreInfo:
    """Return a summary of a store; counts that cannot be read are 0."""
    repository, commits, vectors = "", 0, 0
    with suppress(sqlite3.Error, TypeError):
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            (repository,) = database.execute("SELECT value FROM about WHERE name = 'repository'").fetchone()
            (commits,) = database.execute("SELECT COUNT(DISTINCT hash) FROM commits").fetchone()
            (vectors,) = database.execute("SELECT COUNT(*) FROM vectors").fetchone()
        finally:
            database.close()
    return StoreInfo(path, repository, size_of(path), commits, vectors, datetime.fromtimestamp(_used(path), UTC))


def size_of(path: Path) -> int:
    """Return the size of a store in bytes, including SQLite's auxiliary files."""
    return sum(_size(path.with_name(path.name + name)) for name in ("", *_BESIDE))


def make_room(limit: int, *, last: Path | None = None) -> None:
    """Remove the least recently used stores until all together are within the limit; `last` is removed last."""
    paths = sorted(stores(), key=lambda path: path == last)
    total = sum(map(size_of, paths))
    for path in paths:
        if total <= limit:
            return
        size = size_of(path)
        if remove(path):
            total -= size


def remove(path: Path) -> bool:
    """Remove a store unless another process uses it; return whether it was removed."""
    with suppress(sqlite3.DatabaseError):
        database = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            # SQLite lets a process leave write-ahead logging only if no other process uses the database.
            if database.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
                return False
        except sqlite3.OperationalError:
            return False
        finally:
            database.close()
    try:
        unlink(path)
    except OSError:
        return False
    return True


def unlink(path: Path) -> None:
    """Remove the files of a store, including SQLite's auxiliary files."""
    for name in ("", *_BESIDE):
        path.with_name(path.name + name).unlink(missing_ok=True)


def _size(path: Path) -> int:
    with suppress(OSError):
        return 0 if path.is_symlink() or path.is_dir() else path.stat().st_size
    return 0


def _used(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
