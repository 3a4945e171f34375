"""The files of a work tree as a search needs them, read once and again when their time stamps change.

Only the worker thread uses it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from editvec.core.edit import Demonstration
from editvec.core.text import BOM, FileText
from editvec.suggest.searched import SearchedFile
from editvec.ui.lsp.worker import SearchTicket
from editvec.vcs.changes import read_changes
from editvec.vcs.git import MAX_TEXT_BYTES, Repository
from editvec.vcs.objects import Blobs
from editvec.vcs.worktree import read_file, worktree_paths

_FRESH = 10.0
"""Seconds after which the list of files and the changes since HEAD are read again even if nobody told of a change."""
_FRESH_HEAD = 1.0
"""Seconds after which git is asked for HEAD again."""
_MAX_CHANGED = 60
"""Maximum number of changed files that are not open in the editor and count as shown."""

Stamp = tuple[int, ...]
"""What changes with a file: its time stamp, size and inode; nothing if there is no such file."""


class _KnownFile(NamedTuple):
    stamp: Stamp
    file: SearchedFile | None


class _Listing(NamedTuple):
    time: float
    paths: tuple[tuple[str, str], ...]


class TreeFiles:
    """The files below a folder of a work tree, with the texts of the open documents over them."""

    def __init__(self, top: Path, folder: Path) -> None:
        self.top = top
        self._repository = Repository(top, top.name)
        prefix = folder.relative_to(top).as_posix()
        self._prefix = "" if prefix == "." else f"{prefix}/"
        self._listings: dict[tuple[frozenset[str], frozenset[str]], _Listing] = {}
        self._known: dict[str, _KnownFile] = {}
        self._overlay: dict[str, SearchedFile] = {}
        self._heads: dict[str, bytes | None] = {}
        self._head = b""
        self._head_time = -math.inf
        self._changes: tuple[float, list[Demonstration]] | None = None

    def forget(self) -> None:
        """Read the list of files and the changes again when they are next needed."""
        self._listings.clear()
        self._changes = None
        self._head_time = -math.inf

    def release(self) -> None:
        """Keep the texts of the files, and release what searching them has cached."""
        for path, (stamp, file) in self._known.items():
            if file is not None:
                self._known[path] = _KnownFile(stamp, SearchedFile(file.path, file.language, file.data))

    def paths(self, languages: Collection[str], endings: Collection[str]) -> tuple[tuple[str, str], ...]:
        """Return the paths of the files in some languages, each with its language."""
        key = frozenset(languages), frozenset(endings)
        known = self._listings.get(key)
        if known is None or monotonic() - known.time > _FRESH:
            found = worktree_paths(self._repository, languages, endings, None, Counter())
            below = tuple(each for each in found if each[0].startswith(self._prefix))
            known = self._listings[key] = _Listing(monotonic(), below)
        return known.paths

    def files(
        self,
        languages: Collection[str],
        endings: Collection[str],
        overlay: Mapping[str, bytes],
        ticket: SearchTicket,
        *,
        only_open: bool = False,
    ) -> list[SearchedFile]:
        """Return the files in some languages, with the texts of open documents in place of those on the disk."""
        found = []
        for path, language in self.paths(languages, endings):
            if only_open and path not in overlay:
                continue
            ticket.check()
            file = self._open(path, language, overlay[path]) if path in overlay else self._read(path, language)
            if file is not None:
                found.append(file)
        return found

    def _open(self, path: str, language: str, data: bytes) -> SearchedFile:
        known = self._overlay.get(path)
        if known is None or known.data != data:
            known = self._overlay[path] = SearchedFile(path, language, data)
        return known

    def _read(self, path: str, language: str) -> SearchedFile | None:
        self._overlay.pop(path, None)
        stamp = stamp_of(self.top / path)
        known = self._known.get(path)
        if known is None or known.stamp != stamp:
            file = read_file(self.top, path, language) if stamp else None
            known = self._known[path] = _KnownFile(stamp, None if file is None else SearchedFile(*file))
        return known.file

    def head(self, path: str) -> bytes | None:
        """Return a file as HEAD has it, as UTF-8; None if it has none."""
        if monotonic() - self._head_time > _FRESH_HEAD:
            head = self._repository.attempt("rev-parse", "--verify", "--quiet", "HEAD").stdout.strip()
            self._head_time = monotonic()
            if head != self._head:
                self._head = head
                self._heads.clear()
        if self._head and path not in self._heads:
            blobs = Blobs(self._repository, MAX_TEXT_BYTES)
            try:
                data = None if "\n" in path else blobs.read(self._head + b":" + path.encode("utf-8", "surrogateescape"))
            finally:
                blobs.close()
            self._heads[path] = None if data is None else without_bom(FileText(data).utf8)
        return self._heads.get(path)

    def changes(self, open_paths: Collection[str]) -> list[Demonstration]:
        """Return the changed files of the work tree that are not open in the editor."""
        known = self._changes
        if known is None or monotonic() - known[0] > _FRESH:
            changed = read_changes(self._repository).files
            shown = [
                Demonstration(file.path, FileText(file.before).utf8, FileText(file.after).utf8)
                for file in changed
                if file.before is not None and file.after is not None
            ]
            known = self._changes = monotonic(), shown
        return [each for each in known[1] if each.path not in open_paths][:_MAX_CHANGED]


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def without_bom(data: bytes) -> bytes:
    """Return a text without its byte order mark, as editors show it."""
    return data.removeprefix(BOM)
