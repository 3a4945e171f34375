"""What has changed: the files of the work tree, of the index or of a commit, each with its bytes before and now.

git only lists the files; the bytes are compared here, because without a refresh of the index, which would write it,
git also lists files whose time stamps alone have changed. Whatever the programming language, any text counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import NamedTuple

from editvec.core.errors import GitError, UserError
from editvec.core.text import FileText
from editvec.syntax.token import decode
from editvec.vcs.filters import is_generated_name, is_generated_text, is_lfs_pointer, is_vendored
from editvec.vcs.git import MAX_TEXT_BYTES, Repository, shallow_commits, work_tree
from editvec.vcs.objects import Attributes, Blobs, existing

_LIMIT = "-l500"
"""Number of deleted and of new files beyond which git follows only renames without changes, to save time."""
_LINK, _SUBMODULE = b"120000", b"160000"


class ChangedFile(NamedTuple):
    """A changed file; its path is relative to the top of the work tree, as it is now."""

    path: str
    before: bytes | None
    """The bytes before; None for a new file. If all line ends were converted since, they are those of `after`."""
    after: bytes | None
    """The bytes now; None for a deleted file."""


@dataclass(slots=True)
class Changes:
    """The changed files sorted by path, and the number of skipped files per reason.

    New files are skipped as "new" and deleted files as "deleted": they do not show what a text became. The other
    reasons are "binary", "filtered" (Git LFS, git-crypt), "generated", "link", "missing" (the object is not in the
    clone), "special" (not a regular file), "submodule", "too large", "unmerged", "unreadable" and "vendored".
    """

    files: list[ChangedFile] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


class _Listed(NamedTuple):
    """A line of git's raw diff.

    If the new content is in the work tree alone, its id is zeros or, where git looked for renames, has no blob.
    """

    status: str
    modes: tuple[bytes, bytes]
    old: bytes
    new: bytes
    path_before: str
    path: str

    @property
    def has_new_identity(self) -> bool:
        return bool(self.new.strip(b"0"))


def read_changes(
    repository: Repository, *, since: str | None = None, staged: bool = False, commit: str | None = None
) -> Changes:
    """Return the changes of the work tree since HEAD, whether they are staged or not.

    Renames are followed. With `staged`, the changes are those of the index since HEAD; with `since`, those of the work
    tree since the merge base of that revision and HEAD; with `commit`, those of that commit since its first parent.

    Raises:
        UserError: More than one of `since`, `staged` and `commit` is given.
        GitError: A revision names no commit, there is no work tree to compare, the clone does not hold the commits to
            compare, or git cannot read the repository.
    """
    if (since is not None) + staged + (commit is not None) > 1:
        raise UserError("since, staged and commit exclude each other. Give one of them.")
    if commit is not None:
        identity = _resolve(repository, commit)
        listed = _list(repository, "diff-tree", "-r", _parent(repository, identity), identity)
        with Attributes(repository, identity) as attributes:
            return _read(repository, None, listed, attributes)
    top = work_tree(repository)
    if top is None:
        raise GitError(f"{repository.path} has no work tree to compare. Name a commit whose changes count.")
    at_top = Repository(top, repository.name)
    base = _head(at_top) if since is None else _merge_base(at_top, since)
    # A file marked as intended to be added is not part of the index yet.
    options = ("--cached", "--ita-invisible-in-index") if staged else ()
    listed = _list(at_top, "diff-index", *options, base)
    if not staged:
        _add_others(at_top, listed)
    with Attributes(at_top) as attributes:
        return _read(at_top, None if staged else top, listed, attributes)


def _resolve(repository: Repository, revision: str) -> str:
    done = repository.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode:
        advice = "Try a branch, a tag or a commit such as HEAD~1."
        if shallow_commits(repository):
            advice = "The clone is shallow: `git fetch --unshallow` gets its older commits."
        raise GitError(f"{revision!r} names no commit in {repository.path}. {advice}")
    return done.stdout.decode().strip()


def _head(repository: Repository) -> str:
    """Return the commit of HEAD, or the empty tree if there is no commit yet."""
    done = repository.attempt("rev-parse", "--verify", "--quiet", "HEAD")
    return _empty_tree(repository) if done.returncode else done.stdout.decode().strip()


def _empty_tree(repository: Repository) -> str:
    # git knows this object even where it is not stored; its id depends on the hash function of the repository.
    return repository.run("hash-object", "-t", "tree", "--stdin").decode().strip()


def _merge_base(repository: Repository, since: str) -> str:
    revision = _resolve(repository, since)
    done = repository.attempt("merge-base", revision, "HEAD")
    if done.returncode:
        advice = "Give a revision from which the current branch was made."
        if shallow_commits(repository):
            advice = "The clone is shallow: `git fetch --unshallow` gets its older commits."
        raise GitError(f"{since!r} and HEAD have no common commit in {repository.path}. {advice}")
    return done.stdout.decode().split()[0]


def _parent(repository: Repository, identity: str) -> str:
    """Return the first parent of a commit, or the empty tree if it has none."""
    parents = repository.run("rev-list", "--no-walk", "--parents", identity).decode().split()[1:]
    if parents:
        return parents[0]
    if identity in shallow_commits(repository):
        raise GitError(
            f"the clone {repository.path} is shallow and does not hold the commit before {identity[:12]}. "
            "`git fetch --unshallow` gets it."
        )
    return _empty_tree(repository)


def _list(repository: Repository, command: str, *arguments: str) -> list[_Listed]:
    options = (command, "--raw", "-z", "--no-abbrev", _LIMIT)
    done = repository.attempt(*options, "-M", *arguments, "--")
    if not done.returncode:
        return list(_parse(done.stdout))
    # If a blob is missing, git can find only the renames that need no comparison of contents.
    return list(_parse(repository.run(*options, "-M100%", *arguments, "--")))


def _parse(raw: bytes) -> Iterator[_Listed]:
    fields = iter(raw.split(b"\0"))
    for facts in fields:
        if not facts:
            return
        mode_before, mode_after, old, new, status = facts.removeprefix(b":").split(b" ")
        before = now = decode(next(fields))
        if status[:1] in b"RC":
            now = decode(next(fields))
        yield _Listed(status[:1].decode(), (mode_before, mode_after), old, new, before, now)


def _add_others(repository: Repository, listed: list[_Listed]) -> None:
    """Add the untracked files and, because git does not list all of them as such, the unmerged files."""
    raw = repository.run("ls-files", "-z", "-t", "--unmerged", "--others", "--exclude-standard")
    for line in raw.split(b"\0")[:-1]:
        if line.startswith(b"? "):
            # A repository inside this one is listed as a folder.
            path, mode, status = line[2:], _SUBMODULE if line.endswith(b"/") else b"100644", "A"
        else:
            path, mode, status = line.partition(b"\t")[2], b"000000", "U"
        listed.append(_Listed(status, (b"000000", mode), b"0", b"0", decode(path), decode(path)))


def _read(repository: Repository, top: Path | None, listed: list[_Listed], attributes: Attributes) -> Changes:
    """Read the listed files; those that are neither committed nor staged are in the work tree `top`."""
    changes = Changes()
    unmerged = {one.path for one in listed if one.status == "U"}
    if unmerged:
        changes.skipped["unmerged"] = len(unmerged)
    # git lists an unmerged file once more if its work tree file differs, possibly as the source of a rename.
    merged = [one for one in listed if not unmerged & {one.path, one.path_before}]
    sides = _Sides(repository, top, merged, attributes)
    try:
        for one in merged:
            found = _kind(one) or sides.read(one)
            if isinstance(found, ChangedFile):
                changes.files.append(found)
            elif found:
                changes.skipped[found] += 1
    finally:
        sides.close()
    changes.files.sort(key=lambda file: file.path)
    return changes


def _kind(listed: _Listed) -> str | None:
    """Return the reason to skip an entry that is not a change of one regular file."""
    if _SUBMODULE in listed.modes:
        return "submodule"
    if listed.status in "AC":
        return "new"
    if listed.status == "D":
        return "deleted"
    return "link" if _LINK in listed.modes else None


class _Sides:
    """A reader of both versions of listed files, from blobs and, if `top` is given, from the work tree."""

    def __init__(self, repository: Repository, top: Path | None, listed: list[_Listed], attributes: Attributes) -> None:
        self._top = top
        self._attributes = attributes
        needed = {identity for one in listed if not _kind(one) for identity in (one.old, one.new)}
        self._existing = existing(repository, (identity for identity in needed if identity.strip(b"0")))
        self._blobs = Blobs(repository, MAX_TEXT_BYTES)

    def close(self) -> None:
        self._blobs.close()

    def read(self, listed: _Listed) -> ChangedFile | str | None:
        """Return the changed file, the reason to skip it, or None if its bytes are the same."""
        if listed.old == listed.new:
            return None
        reason = self._reason(listed)
        if reason and listed.has_new_identity:
            return reason
        before, after = self._blob(listed.old), self._after(listed)
        if before == after and isinstance(before, bytes):
            return None
        if reason or not isinstance(before, bytes) or not isinstance(after, bytes):
            return reason or next(side for side in (before, after) if isinstance(side, str))
        before = _with_line_ends(before, after)
        return None if before == after else _reason_by_text(before, after) or ChangedFile(listed.path, before, after)

    def _reason(self, listed: _Listed) -> str | None:
        paths = {listed.path_before, listed.path}
        if any(is_vendored(path) for path in paths):
            return "vendored"
        if any(is_generated_name(path) for path in paths):
            return "generated"
        # Before the attributes: where blobs are missing, those of the attributes may be missing too.
        if not self._existing.issuperset((listed.old,) if self._top else (listed.old, listed.new)):
            return "missing"
        return "filtered" if any(self._attributes.is_filtered(path) for path in paths) else None

    def _blob(self, identity: bytes) -> bytes | str:
        return self._blobs.look_up(identity) if identity in self._existing else "missing"

    def _after(self, listed: _Listed) -> bytes | str:
        """Return the bytes now, or the reason why they cannot be read."""
        if self._top is None:
            return self._blob(listed.new)
        file = self._top / listed.path
        try:
            status = file.lstat()
            if S_ISLNK(status.st_mode) or not file.resolve().is_relative_to(self._top):
                return "link"
            if not S_ISREG(status.st_mode):
                return "special"
            return "too large" if status.st_size > MAX_TEXT_BYTES else file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            # In a sparse checkout, the index holds files that are not in the work tree.
            return self._blob(listed.new) if listed.has_new_identity else "deleted"
        except OSError:
            return "unreadable"


def _with_line_ends(before: bytes, after: bytes) -> bytes:
    """Return `before` with the line ends of `after` if all its lines end in the other way (core.autocrlf)."""
    old, new = FileText(before), FileText(after)
    if "utf-16" in old.codec or "utf-16" in new.codec or old.has_crlf == new.has_crlf:
        return before
    if new.has_crlf:
        return before if b"\r\n" in before else before.replace(b"\n", b"\r\n")
    is_uniform = before.count(b"\r\n") == before.count(b"\n")
    return before.replace(b"\r\n", b"\n") if is_uniform else before


def _reason_by_text(*versions: bytes) -> str | None:
    if any(b"\0" in FileText(data).utf8 for data in versions):
        return "binary"
    if any(is_lfs_pointer(data) for data in versions):
        return "filtered"
    return "generated" if any(is_generated_text(data) for data in versions) else None
