"""Atomic file writes, file locks, the cache folder, and JSON for values that contain any file name.

Atomic files appear either complete or not at all. Locks are released when their process ends.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import IO, Any

from editvec.core.errors import UserError


def check_place(path: Path) -> None:
    """Check that a file can be written at a path.

    Raises:
        UserError: The parent folder does not exist or is not writable, or the path is a folder.
    """
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is not a folder. Create it first.")
    if path.is_dir():
        raise UserError(f"{path} is a folder. Give a file name.")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"cannot write in the folder {path.parent}. Choose another path with -o.")


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents.

    Raises:
        UserError: The folder cannot be created, or it is not writable.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder} ({error.strerror}). Choose another folder with -o.") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write in the folder {folder}. Choose another folder with -o.")


@contextmanager
def atomic(path: Path, *, like: os.stat_result | None = None) -> Iterator[IO[bytes]]:
    """Open a stream whose bytes appear at `path` only after all of them were written.

    If writing fails, no file is left behind. With `like`, the new file gets the mode of that file, and also its owner
    and the extended attributes of the file at `path` where the system allows it. Another hard link of the old file
    keeps the old bytes.

    Raises:
        UserError: No file can be written at `path`.
    """
    check_place(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    except OSError as error:
        raise UserError(f"cannot write in the folder {path.parent} ({error.strerror}). Choose another path.") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if like is None:
            temporary.chmod(0o666 & ~_umask())
        else:
            if sys.platform != "win32":
                with suppress(OSError):
                    os.chown(temporary, like.st_uid, like.st_gid)
            _copy_attributes(path, temporary)
            temporary.chmod(S_IMODE(like.st_mode))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _copy_attributes(old: Path, new: Path) -> None:
    """Copy the extended attributes of a file, such as access lists and labels, as far as the system allows it."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        for name in os.listxattr(old):
            with suppress(OSError):
                os.setxattr(new, name, os.getxattr(old, name))


def remove_partial(folder: Path) -> None:
    """Remove the incomplete files that a killed process left in a folder."""
    for path in folder.glob(".*.partial"):
        path.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write a file that appears only when it is complete."""
    with atomic(path) as stream:
        stream.write(content)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that a file represents.

    The lock is SQLite's lock on an empty database. It works in the same way on every system, and it is released when
    the process ends, however it ends.

    Raises:
        BlockingIOError: Another process holds the lock.
        UserError: The file cannot be locked.
    """
    import sqlite3

    database = None
    try:
        try:
            database = sqlite3.connect(path, timeout=0, isolation_level=None)
            # Keep SQLite's journal in memory, so that no second file appears beside the lock.
            database.execute("PRAGMA journal_mode = MEMORY")
            database.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_BUSY":
                raise BlockingIOError(f"{path} is locked") from None
            raise UserError(f"cannot lock {path} ({error}). Choose another path.") from None
        yield
    finally:
        if database is not None:
            database.close()


def cache_home() -> Path:
    """Return the folder of the caches of editvec.

    It is inside $XDG_CACHE_HOME if that is set, otherwise inside the folder that the system uses for caches of a user.
    """
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "editvec"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "editvec" / "cache"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "editvec"


def to_json(value: Any, *, indent: bool = False) -> bytes:
    r"""Return a value as JSON.

    A byte of a file name that is not valid UTF-8 is written as an escape of its own, such as `\udce9`.
    """
    import orjson

    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2 if indent else None)
    except orjson.JSONEncodeError as error:
        if "surrogates" not in str(error):
            raise
    return json.dumps(value, default=_plain, indent=2 if indent else None).encode()


def _plain(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def from_json(data: bytes) -> Any:
    """Return the value that `to_json` wrote.

    Raises:
        orjson.JSONDecodeError: The data is not valid JSON.
    """
    import orjson

    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # orjson rejects the escapes that stand for bytes which are not valid UTF-8; the standard library reads them.
        if b"\\udc" in data.lower():
            with suppress(ValueError, RecursionError):
                return json.loads(data)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
