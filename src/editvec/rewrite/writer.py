"""Find the files of a tree that a rule may change, and write a file without changing anything else about it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from editvec.core.errors import GitError, UserError
from editvec.core.files import atomic
from editvec.core.splice import TextEdit
from editvec.rewrite.journal import Journal, top_of_files
from editvec.syntax.languages import language_of
from editvec.vcs import git
from editvec.vcs.filters import is_generated_name, is_generated_text, is_vendored
from editvec.vcs.objects import Attributes

MAX_BYTES = git.MAX_TEXT_BYTES


def find_files(paths: Sequence[Path], names: Collection[str], tally: Counter[str] | None = None) -> Iterator[Path]:
    """Yield the files that are given, and the files of the given languages below the folders that are given.

    Below a folder, files that git ignores, vendored files and generated files are left out. Files that a filter of git
    rewrites are left out, too, and counted in `tally`.

    Raises:
        UserError: A path does not exist.
    """
    seen: set[Path] = set()
    for path in paths:
        if path.is_dir():
            found: Iterable[Path] = _below(path, names, Counter() if tally is None else tally)
        elif path.exists():
            found = [path]
        else:
            raise UserError(f"{path} does not exist. Give files or folders.")
        for file in found:
            if (real := file.resolve()) not in seen:
                seen.add(real)
                yield file


def _below(folder: Path, names: Collection[str], tally: Counter[str]) -> Iterator[Path]:
    repository = git.Repository(folder.resolve(), folder.name)
    listed = _tracked(repository)
    with ExitStack() as stack:
        attributes = None if listed is None else stack.enter_context(Attributes(repository))
        for name in sorted(_walk(folder) if listed is None else listed):
            language = language_of(name)
            if language is None or language.name not in names or is_vendored(name) or is_generated_name(name):
                continue
            file = folder / name
            # The target of a link is either listed under its own name or not part of this tree.
            if file.is_symlink() or not file.is_file() or not leads_nowhere_else(file, folder):
                continue
            if attributes is not None and attributes.is_filtered(name):
                tally["filtered"] += 1
                continue
            yield file


def _tracked(repository: git.Repository) -> list[str] | None:
    """Return the files below a folder that git tracks or does not ignore; None outside a work tree."""
    try:
        if git.work_tree(repository) is None:
            return None
    except FileNotFoundError:
        return None
    listed = repository.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return list(dict.fromkeys(os.fsdecode(name) for name in listed.split(b"\0") if name))


def _walk(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in files:
            yield str((Path(place) / name).relative_to(folder))


def leads_nowhere_else(file: Path, folder: Path) -> bool:
    """Return whether a file is really below a folder once all links are resolved."""
    return file.resolve().is_relative_to(folder.resolve())


def is_worth_reading(data: bytes) -> bool:
    """Return whether a text is not too large and, as far as its head shows, written by a person."""
    return len(data) <= MAX_BYTES and not is_generated_text(data)


def dirty_files(files: Sequence[Path]) -> list[Path]:
    """Return the files with changes that are not committed, according to git's index.

    Return no files outside a work tree.
    """
    by_folder: dict[Path, list[Path]] = {}
    for file in files:
        by_folder.setdefault(file.parent.resolve(), []).append(file)
    found: list[Path] = []
    for folder, members in by_folder.items():
        changed: set[str] = set()
        for command in (("diff-files",), ("diff-index", "--cached", "HEAD")):
            try:
                repository = git.Repository(folder, folder.name)
                if git.work_tree(repository) is None:
                    return []
                done = repository.attempt(*command[:1], "--name-only", "--relative", "-z", *command[1:])
            except (FileNotFoundError, GitError):
                return []
            changed |= {os.fsdecode(name) for name in done.stdout.split(b"\0")}
        found += [file for file in members if file.name in changed]
    return found


def write_file(
    file: Path,
    before: bytes,
    after: bytes,
    journal: Journal | None = None,
    edits: Sequence[TextEdit] | None = None,
) -> None:
    """Replace the bytes of a file in one step.

    The mode and, where permitted, the owner and extended attributes stay the same. A link stays a link. With
    `journal`, the write is recorded first, so that it can be undone. `edits`, which turn `before` into `after`, let it
    be undone place by place.

    Raises:
        UserError: The file has changed since it was read, is a link out of its work tree or has other hard links, or
            the journal cannot be written.
    """
    target = file.resolve()
    if file.is_symlink() and (top := top_of_files(file.parent.resolve())) and not target.is_relative_to(top):
        raise UserError(f"{file} is a link to {target}, outside its work tree. Give that file itself.")
    if target.stat().st_nlink > 1:
        raise UserError(f"{file} has other hard links, which would keep the old text. Copy it to a file of its own.")
    if target.read_bytes() != before:
        raise UserError(f"{file} has changed since it was read. Run the command again.")
    if journal is not None:
        journal.record(target, before, after, edits)
    with atomic(target, like=target.stat()) as stream:
        stream.write(after)
