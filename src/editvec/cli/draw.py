"""`editvec draw`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("file")
@click.argument("edit")
@click.option(
    "-o",
    "--out",
    default="edit.svg",
    show_default=True,
    type=click.Path(path_type=Path),
    help="File for the picture (.svg).",
)
def draw(file: str, edit: str, out: Path) -> None:
    r"""Draw the trees of an edit, before and after. Copied subtrees have the same colour on both sides.

    EDIT is an edit's id, the beginning of one, or its number in the file (#3).

    \b
    editvec draw edits.jsonl.gz '#3' -o edit.svg
    """
    from editvec.ui.draw import draw as run

    drawn = run(file, edit, out)
    click.echo(f"{out}: {drawn.num_before} nodes before, {drawn.num_after} after, {drawn.num_actions} actions")
