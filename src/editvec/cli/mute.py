"""`editvec mute`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("pattern")
@click.option("--path", metavar="GLOB", help="Files in which it is muted, as in .gitignore.  [default: all]")
@click.option("--reason", default="", help="Reason for readers of the settings.")
@click.option("-C", "--repo", default=".", show_default=True, help="Repository whose settings are changed.")
@click.option("--patterns", type=click.Path(path_type=Path), help="Folder of patterns.  [default: .editvec in REPO]")
@click.option("--config", type=click.Path(path_type=Path), help="File of settings to change.  [default: the nearest]")
def mute(pattern: str, **options: Any) -> None:
    r"""Suggest no more places for a pattern.

    PATTERN is a number, a name or an id of editvec learn, or the id of an edit in editvec finish --json. An entry is
    added to the nearest file of settings; without one, editvec.toml is made at the top of the work tree. Comments in
    the file stay. To silence a single place, write a comment such as "# editvec: ignore[NAME]" there.

    \b
    editvec mute 3
    editvec mute add-is --path 'tests/' --reason 'the tests compare on purpose'
    """
    from editvec.cli.terminal import printable
    from editvec.patterns.mute import mute as run

    done = run(pattern, **options)
    said = "muted" if done.is_new else "was muted before"
    click.echo(f"{printable(pattern)} ({done.pattern}) {said} in {printable(str(done.path))}")
