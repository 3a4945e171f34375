"""The current files: those of the work tree or, in a bare repository, those of HEAD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from editvec.core.text import FileText
from editvec.syntax.languages import language_of
from editvec.syntax.token import decode, encode
from editvec.vcs.filters import is_generated_name, is_generated_text, is_lfs_pointer, is_vendored
from editvec.vcs.git import MAX_TEXT_BYTES, Repository, work_tree
from editvec.vcs.objects import Attributes, Blobs

_QUIET = ("--name-only", "-z", "--diff-filter=d", "--end-of-options")


class File(NamedTuple):
    """A file in a known language; `data` is its text as UTF-8, whatever the encoding of the file is."""

    path: str
    language: str
    data: bytes


def worktree_files(
    repository: Repository,
    languages: Collection[str],
    *,
    endings: Collection[str] = (),
    since: str | None = None,
    revision: str | None = None,
    tally: Counter[str] | None = None,
) -> Iterator[File]:
    """Yield the files in the given languages that people wrote, sorted by path.

    With `endings`, files in no known language are yielded, too, if their names end so; the ending is their language.

    The files are those of the work tree. If a revision is given, or if there is no work tree, they are those of that
    revision (HEAD by default). With `since`, only files that differ from the revision `since` are yielded. Vendored
    and generated files are skipped. Files that a git filter rewrites (Git LFS, git-crypt) are skipped, and counted as
    "filtered" in `tally`.

    Raises:
        GitError: git cannot list or read the files.
    """
    tally = Counter() if tally is None else tally
    top = work_tree(repository) if revision is None else None
    if top is None:
        yield from _committed(repository, languages, endings, since, revision or "HEAD", tally)
        return
    for path, language in worktree_paths(Repository(top, repository.name), languages, endings, since, tally):
        file = read_file(top, path, language)
        if file is not None:
            yield file


def worktree_paths(
    at_top: Repository,
    languages: Collection[str],
    endings: Collection[str],
    since: str | None,
    tally: Counter[str],
) -> Iterator[tuple[str, str]]:
    """Yield the path and the language of the files that `worktree_files` would read; `at_top` has a work tree."""
    command = ["diff", *_QUIET, since, "--"] if since else ["ls-files", "-z"]
    listed = at_top.run(*command) + at_top.run("ls-files", "-z", "--others", "--exclude-standard")
    with Attributes(at_top) as attributes:
        yield from _wanted(listed, languages, endings, attributes, tally)


def read_file(top: Path, path: str, language: str) -> File | None:
    """Return a file of the work tree `top`; None if it is no text that a person wrote."""
    file = top / path
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_TEXT_BYTES:
        return None
    data = FileText(file.read_bytes()).utf8
    return File(path, language, data) if _is_written(data) else None


def _committed(
    repository: Repository,
    languages: Collection[str],
    endings: Collection[str],
    since: str | None,
    revision: str,
    tally: Counter[str],
) -> Iterator[File]:
    if since:
        listed = repository.run("diff", *_QUIET, since, revision, "--")
    else:
        listed = repository.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", revision)
    blobs = Blobs(repository, MAX_TEXT_BYTES)
    try:
        with Attributes(repository, revision) as attributes:
            for path, language in _wanted(listed, languages, endings, attributes, tally):
                data = None if "\n" in path else blobs.read(encode(f"{revision}:{path}"))
                text = None if data is None else FileText(data).utf8
                if text is not None and _is_written(text):
                    yield File(path, language, text)
    finally:
        blobs.close()


def _wanted(
    listed: bytes, languages: Collection[str], endings: Collection[str], attributes: Attributes, tally: Counter[str]
) -> Iterator[tuple[str, str]]:
    for path in sorted(set(decode(listed).split("\0"))):
        language = language_of(path) if path else None
        name = ending_of(path) if language is None else language.name
        if name not in (endings if language is None else languages) or is_vendored(path) or is_generated_name(path):
            continue
        if attributes.is_filtered(path):
            tally["filtered"] += 1
        else:
            yield path, name


def ending_of(path: str) -> str:
    """Return the ending of a file's name with its dot, or the whole name if it has none."""
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else name


def _is_written(data: bytes) -> bool:
    """Return whether the file is text that a person wrote."""
    return b"\0" not in data and not is_generated_text(data) and not is_lfs_pointer(data)
