"""Print diffs: coloured and with control characters escaped on a terminal, byte for byte elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.core.splice import TextEdit
    from editvec.rewrite.plan import FilePlan
    from editvec.suggest.finish import WriteTally

_COLOURS = {"-": "red", "+": "green", "@": "cyan"}


def print_diff(path: Path | None, before: bytes, edits: Sequence[TextEdit], base: Path) -> None:
    """Print the diff of a file, with its name relative to `base`."""
    from editvec.cli.terminal import console, printable
    from editvec.rewrite.patch import unified_diff

    assert path is not None
    text = unified_diff(_name(path, base), before, edits)
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
        return
    out = console()
    for line in text.decode(errors="replace").split("\n")[:-1]:
        style = "bold" if line.startswith(("--- ", "+++ ")) else _COLOURS.get(line[:1])
        out.print(printable(line.removesuffix("\r")), style=style)


def print_patch(plans: Iterable[FilePlan], top: Path) -> None:
    """Print plans as one patch for `git apply`; what cannot be written is named on stderr."""
    from editvec.cli.terminal import printable

    for plan in plans:
        if plan.problem:
            click.echo(f"editvec: {printable(str(plan.path))}: left out: {plan.problem}.", err=True)
        else:
            print_diff(plan.path, plan.before, plan.all_edits, top)


def print_written(done: WriteTally) -> None:
    """Print what was written, and what could not be."""
    from editvec.cli.terminal import describe, printable

    for problem in done.problems:
        click.echo(f"editvec: {printable(problem)}", err=True)
    places = "1 place" if done.num_written == 1 else f"{describe(done.num_written)} places"
    files = "1 file" if len(done.written) == 1 else f"{describe(len(done.written))} files"
    click.echo(f"{places} in {files} written." + (" editvec undo takes them back." if done.num_written else ""))


def base_of(paths: Sequence[Path]) -> Path:
    """Return the folder that names in a diff are relative to.

    It is the current folder, or the top of the work tree if a path is outside of the current folder.
    """
    from editvec.core.errors import UserError
    from editvec.vcs.git import open_repository, top_of

    here = Path.cwd()
    outside = [path for path in paths if not _absolute(path).is_relative_to(here)]
    if not outside:
        return here
    try:
        return top_of(open_repository(outside[0] if outside[0].is_dir() else outside[0].parent))
    except UserError:
        return here


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(Path.cwd() / path))


def _name(path: Path, base: Path) -> bytes:
    absolute = _absolute(path)
    shown = absolute.relative_to(base) if absolute.is_relative_to(base) else absolute
    return os.fsencode(shown.as_posix().lstrip("/"))
