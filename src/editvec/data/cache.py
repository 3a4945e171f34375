"""The user's cache as files: which stores there are, how large they are, making room, clearing.

A store (`data/store.py`) is one SQLite file a repository. Beside the stores the cache holds clones of addresses, and
the answers of unfinished evaluations. Everything in it can be made again.
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
"""Bytes of all stores together."""
_STORE, _SUFFIX = "store", ".sqlite"
_BESIDE = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store says about itself."""

    path: Path
    repository: str
    bytes: int
    commits: int
    vectors: int
    used: datetime


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What the cache holds."""

    folder: Path
    stores: list[StoreInfo] = field(default_factory=list)
    """The one used last comes first."""
    others: dict[str, int] = field(default_factory=dict)
    """Folders that hold something else, such as clones, with their bytes."""
    freed: int = 0
    """Bytes that were removed."""
    in_use: tuple[Path, ...] = ()
    """Stores that another process uses, so that they were not removed."""

    @property
    def bytes(self) -> int:
        """The size of everything."""
        return sum(store.bytes for store in self.stores) + sum(self.others.values())

    def as_json(self) -> dict[str, Any]:
        """For machines."""
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
    """Return what editvec remembers between runs, after removing it if `clear`.

    Example:
        >>> import editvec
        >>> editvec.cache().bytes
    """
    if not clear:
        return describe()
    freed, kept = remove_all()
    return replace(describe(), freed=freed, in_use=tuple(kept))


def describe() -> CacheInfo:
    """Return what the cache holds."""
    home = cache_home()
    others = {}
    for folder in sorted(home.glob("*/")):
        if folder.name != _STORE and folder.is_dir():
            others[folder.name] = sum(_size(path) for path in folder.rglob("*"))
    return CacheInfo(home, [info(path) for path in reversed(stores())], others)


def remove_all() -> tuple[int, list[Path]]:
    """Remove everything from the cache; return how many bytes that freed, and the stores that are in use and stay."""
    before = describe()
    kept = [store.path for store in before.stores if not remove(store.path)]
    for name in before.others:
        rmtree(before.folder / name, ignore_errors=True)
    return before.bytes - describe().bytes, kept


def place_of(repository: Path) -> Path:
    """Return the file of a repository's store."""
    digest = blake2b(os.fsencode(repository), digest_size=12).hexdigest()
    return cache_home() / _STORE / f"{digest}{_SUFFIX}"


def stores() -> list[Path]:
    """Return the files of the stores, the one used longest ago first."""
    return sorted((cache_home() / _STORE).glob(f"*{_SUFFIX}"), key=_used)


def info(path: Path) -> StoreInfo:
    """Return what a store holds, as far as it can be read."""
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
    """Return the bytes of a store, with what SQLite keeps beside it."""
    return sum(_size(path.with_name(path.name + name)) for name in ("", *_BESIDE))


def make_room(limit: int, *, last: Path | None = None) -> None:
    """Remove the stores used longest ago until all together are within a limit; `last` goes after all others."""
    paths = sorted(stores(), key=lambda path: path == last)
    total = sum(map(size_of, paths))
    for path in paths:
        if total <= limit:
            return
        size = size_of(path)
        if remove(path):
            total -= size


def remove(path: Path) -> bool:
    """Remove a store unless a process is using it; return whether it is gone."""
    with suppress(sqlite3.DatabaseError):
        database = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            # Only a process that is alone with a database may end its write-ahead log.
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
    """Remove a store's files."""
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
