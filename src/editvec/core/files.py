"""Files that appear whole or not at all, locks that end with their process, the place of the cache, and JSON that can
name any file."""

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
    """UserError when no file can be written there."""
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is not a folder. Create it first.")
    if path.is_dir():
        raise UserError(f"{path} is a folder. Give a file name.")
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"cannot write in {path.parent}. Choose another place with -o.")


def make_folder(folder: Path) -> None:
    """Makes a folder and those around it; UserError when there can be none, or nothing can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder} ({error.strerror}). Choose another with -o.") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write in {folder}. Choose another place with -o.")


@contextmanager
def atomic(path: Path, *, like: os.stat_result | None = None) -> Iterator[IO[bytes]]:
    """A stream whose bytes appear under `path` only when all were written; nothing is left behind otherwise.

    The file gets the mode of the file that it is `like`, and its owner where we may give it away.
    """
    check_place(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    except OSError as error:
        raise UserError(f"cannot write in {path.parent} ({error.strerror}). Choose another place.") from None
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
            temporary.chmod(S_IMODE(like.st_mode))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_partial(folder: Path) -> None:
    """Removes what a killed process had begun to write in a folder."""
    for path in folder.glob(".*.partial"):
        path.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Writes a file that appears when it is whole."""
    with atomic(path) as stream:
        stream.write(content)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that a file stands for; BlockingIOError while another process holds it.

    It is SQLite's lock on an empty database: the same on every system, and released when the process ends, however it
    ends.
    """
    import sqlite3

    database = None
    try:
        try:
            database = sqlite3.connect(path, timeout=0, isolation_level=None)
            # No file beside it.
            database.execute("PRAGMA journal_mode = MEMORY")
            database.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_BUSY":
                raise BlockingIOError(f"{path} is locked") from None
            raise UserError(f"cannot lock {path} ({error}). Choose another place.") from None
        yield
    finally:
        if database is not None:
            database.close()


def cache_home() -> Path:
    """Return the folder of editvec's caches: below $XDG_CACHE_HOME, or where the system keeps a user's caches."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "editvec"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "editvec" / "cache"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "editvec"


def to_json(value: Any, *, indent: bool = False) -> bytes:
    """JSON of a value; a byte of a file's name that is no UTF-8 is an escape of its own, such as \\udce9."""
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
    """What `to_json` was given; orjson's JSONDecodeError for what is no JSON."""
    import orjson

    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # Its escapes that stand for a byte are no text to orjson.
        if b"\\udc" in data.lower():
            with suppress(ValueError, RecursionError):
                return json.loads(data)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
