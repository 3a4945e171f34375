"""The current files: those of the work tree or, in a bare repository, those of HEAD."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from editvec.core.errors import UserError
from editvec.core.text import FileText
from editvec.syntax.languages import language_of
from editvec.syntax.token import decode, encode
from editvec.vcs.filters import is_generated_name, is_generated_text, is_lfs_pointer, is_vendored, without_ignored
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
    paths: Sequence[str] = (),
    covers: Callable[[str], bool] | None = None,
    tally: Counter[str] | None = None,
) -> Iterator[File]:
    """Yield the files in the given languages that people wrote, sorted by path.

    With `endings`, files in no known language are yielded, too, if their names end so; the ending is their language.

    The files are those of the work tree. If a revision is given, or if there is no work tree, they are those of that
    revision (HEAD by default). With `since`, only files that differ from the revision `since` are yielded. Vendored and
    generated files are skipped. `paths` are files and folders, relative to the top; with them, only files there are
    yielded. `covers` says of a path whether its file is to be read. Files that a git filter rewrites (Git LFS,
    git-crypt) are skipped, and counted as "filtered" in `tally`.

    Raises:
        GitError: git cannot list or read the files.
    """
    tally = Counter() if tally is None else tally
    top = work_tree(repository) if revision is None else None
    if top is None:
        yield from _committed(repository, languages, endings, since, revision or "HEAD", paths, covers, tally)
        return
    at_top = Repository(top, repository.name)
    for path, language in worktree_paths(at_top, languages, endings, since, tally, paths=paths, covers=covers):
        file = read_file(top, path, language)
        if file is not None:
            yield file


def worktree_paths(
    at_top: Repository,
    languages: Collection[str],
    endings: Collection[str],
    since: str | None,
    tally: Counter[str],
    *,
    paths: Sequence[str] = (),
    covers: Callable[[str], bool] | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield the path and the language of the files that `worktree_files` would read; `at_top` has a work tree."""
    command = ["diff", *_QUIET, since, "--"] if since else ["ls-files", "-z", "--"]
    limits = [f":(literal){path}" for path in paths]
    listed = at_top.run(*command, *limits)
    listed += at_top.run("ls-files", "-z", "--others", "--exclude-standard", "--", *limits)
    with Attributes(at_top) as attributes:
        yield from _wanted(listed, languages, endings, attributes, covers, tally, at_top.path)


def read_file(top: Path, path: str, language: str) -> File | None:
    """Return a file of the work tree `top`; None if it is no text that a person wrote."""
    file = top / path
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_TEXT_BYTES:
        return None
    data = FileText(file.read_bytes()).utf8
    return File(path, language, data) if _is_written(data) else None


def below_top(repository: Repository, paths: Iterable[str | Path]) -> list[str]:
    """Return files and folders as paths relative to the top of the work tree.

    Raises:
        UserError: A path does not exist, or is not in the work tree.
    """
    paths = list(paths)
    top = work_tree(repository) if paths else None
    found = []
    for path in paths:
        if not Path(path).exists():
            raise UserError(f"{path} does not exist. Give files or folders.")
        plain = Path(os.path.normpath(Path(path).absolute()))
        # The last part is resolved only if need be, because a link is a file of its own.
        places = (plain.parent.resolve() / plain.name, plain.resolve())
        inside = next((place for place in places if top is not None and place.is_relative_to(top)), None)
        if inside is None or top is None:
            raise UserError(f"{path} is not in the work tree of {repository.path}. Give files or folders in it.")
        found.append(inside.relative_to(top).as_posix())
    return found


def _committed(
    repository: Repository,
    languages: Collection[str],
    endings: Collection[str],
    since: str | None,
    revision: str,
    paths: Sequence[str],
    covers: Callable[[str], bool] | None,
    tally: Counter[str],
) -> Iterator[File]:
    limits = [f":(literal){path}" for path in paths]
    if since:
        listed = repository.run("diff", *_QUIET, since, revision, "--", *limits)
    else:
        listed = repository.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", revision, "--", *paths)
    blobs = Blobs(repository, MAX_TEXT_BYTES)
    try:
        with Attributes(repository, revision) as attributes:
            for path, language in _wanted(listed, languages, endings, attributes, covers, tally):
                data = None if "\n" in path else blobs.read(encode(f"{revision}:{path}"))
                text = None if data is None else FileText(data).utf8
                if text is not None and _is_written(text):
                    yield File(path, language, text)
    finally:
        blobs.close()


def _wanted(
    listed: bytes,
    languages: Collection[str],
    endings: Collection[str],
    attributes: Attributes,
    covers: Callable[[str], bool] | None,
    tally: Counter[str],
    top: Path | None = None,
) -> Iterator[tuple[str, str]]:
    paths = set(decode(listed).split("\0"))
    for path in sorted(paths if top is None else without_ignored(top, paths)):
        language = language_of(path) if path else None
        name = ending_of(path) if language is None else language.name
        if name not in (endings if language is None else languages) or is_vendored(path) or is_generated_name(path):
            continue
        if covers is not None and not covers(path):
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
