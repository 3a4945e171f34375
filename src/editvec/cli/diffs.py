"""Print diffs: coloured and with control characters escaped on a terminal, byte for byte elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from editvec.core.splice import TextEdit

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
