"""Queries for many objects through one git process: blobs, which objects exist, and the attributes of files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Literal, cast

from editvec.core.errors import GitError
from editvec.vcs.git import Repository, stop

_ENDED_EARLY = "git cat-file ended unexpectedly. Try again; `git fsck` finds damaged objects."


_SMALL = [
    part
    for limit in ("core.deltaBaseCacheLimit=8m", "core.packedGitLimit=16m", "core.packedGitWindowSize=1m")
    for part in ("-c", limit)
]
"""Cache limits for a long-lived process; git's defaults take up to 100 MB and make it hardly faster."""


class Blobs:
    """A reader of blobs through one long-lived `git cat-file --batch`."""

    def __init__(self, repository: Repository, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._process = repository.start(*_SMALL, "cat-file", "--batch")

    def read(self, identity: bytes) -> bytes | None:
        """Return the content of a blob, or None if it is missing, not a blob, or larger than the limit.

        Raises:
            GitError: The git process ended unexpectedly.
        """
        found = self.look_up(identity)
        return found if isinstance(found, bytes) else None

    def look_up(self, identity: bytes) -> bytes | Literal["missing", "too large"]:
        """Return the content of a blob, or the reason why there is none.

        Raises:
            GitError: The git process ended unexpectedly.
        """
        stdin, stdout = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        with suppress(BrokenPipeError):
            stdin.write(identity + b"\n")
            stdin.flush()
        header = stdout.readline().split()
        if not header:
            raise GitError(_ENDED_EARLY)
        if len(header) != 3:
            return "missing"
        size = int(header[2])
        if header[1] != b"blob" or size > self.max_bytes:
            _discard(stdout, size + 1)
            return "too large" if header[1] == b"blob" else "missing"
        data = stdout.read(size)
        if stdout.read(1) != b"\n":
            raise GitError(_ENDED_EARLY)
        return data

    def close(self) -> None:
        """End the git process."""
        stop(self._process)


def existing(repository: Repository, identities: Iterable[bytes]) -> set[bytes]:
    """Return those of the objects that the repository holds, or all of them if git cannot say.

    In a partial clone, git ends at the first object that it does not have and may not fetch, so ask before reading.
    """
    asked = set(identities)
    if not asked:
        return asked
    process = repository.start(
        "rev-list", "--objects", "--no-walk", "--ignore-missing", "--missing=allow-any", "--stdin"
    )
    said, _ = process.communicate(b"".join(b"%s\n" % identity for identity in asked))
    return {line.split(b" ")[0] for line in said.splitlines()} & asked if process.returncode == 0 else asked


class Attributes:
    """A test for files that a git filter rewrites between history and work tree (Git LFS, git-crypt).

    It asks one long-lived `git check-attr`. The attributes are those of a revision or, without one, those of the work
    tree that contains the path of the repository.
    """

    def __init__(self, repository: Repository, revision: str | None = None) -> None:
        self._known: dict[str, bool] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="editvec-")
        asked = ("check-attr", "--stdin", "-z", "filter")
        if revision is None:
            self._process = repository.start(*asked)
        else:
            apart = Path(self._folder.name)
            _fill_index(repository, apart, revision)
            self._process = repository.start(*asked[:2], "--cached", *asked[2:], apart=apart)

    def __enter__(self) -> Attributes:
        return self

    def __exit__(self, *_: object) -> None:
        stop(self._process)
        self._folder.cleanup()

    def is_filtered(self, path: str) -> bool:
        """Return whether the attributes set a filter for a file, even if this machine does not have the filter.

        Raises:
            GitError: The git process ended unexpectedly.
        """
        if path not in self._known:
            self._known[path] = self._ask(path)
        return self._known[path]

    def _ask(self, path: str) -> bool:
        # git exits with an error for a path outside the repository.
        if not path or path.startswith("/") or ".." in path.split("/"):
            return False
        stdin, stdout = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        with suppress(BrokenPipeError):
            stdin.write(os.fsencode(path) + b"\0")
            stdin.flush()
        answer = b""
        while answer.count(b"\0") < 3:
            part = stdout.read1(1 << 16)  # type: ignore[attr-defined]
            if not part:
                raise GitError("git check-attr ended unexpectedly. Try again; `git fsck` finds damaged objects.")
            answer += part
        return answer.split(b"\0")[2] not in (b"unspecified", b"unset")


def _fill_index(repository: Repository, apart: Path, revision: str) -> None:
    """Create an index that holds the `.gitattributes` files of a revision, as far as they can be read."""
    listed = repository.attempt("ls-tree", "-r", "-z", "--full-tree", revision).stdout.split(b"\0")
    entries = (entry.partition(b"\t") for entry in listed if entry.startswith(b"100"))
    files = [
        (*facts.split()[::2], path)
        for facts, _, path in entries
        if path.rpartition(b"/")[2] == b".gitattributes" and b".." not in path.split(b"/")
    ]
    readable = existing(repository, [identity for _, identity, _ in files])
    lines = [b"%s %s 0\t%s\0" % file for file in files if file[1] in readable]
    process = repository.start("update-index", "-z", "--index-info", apart=apart)
    process.communicate(b"".join(lines))


def _discard(stream: IO[bytes], size: int) -> None:
    while size > 0 and (chunk := stream.read(min(size, 1 << 20))):
        size -= len(chunk)
