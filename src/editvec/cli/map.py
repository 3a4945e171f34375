"""`editvec map`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from editvec.cli.options import Number, label_option


@click.command("map")
@click.argument("index", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    default="map.html",
    show_default=True,
    type=click.Path(path_type=Path),
    help="File for the map (.html, .png, .svg).",
)
@click.option(
    "--colour",
    type=click.Choice(["label", "group", "project", "language"]),
    help="Meaning of the colours.  [default: labels, or groups if there are none]",
)
@label_option
@click.option("--most", type=click.IntRange(1), help="Maximum edits per label, chosen at random.")
@click.option("--least", default=1, show_default=True, help="Minimum edits per label.")
@click.option(
    "--limit",
    default=50_000,
    show_default=True,
    type=click.IntRange(2),
    help="Maximum number of edits, chosen at random.",
)
@click.option("--perplexity", default=30.0, show_default=True, type=Number(2), help="Perplexity of t-SNE.")
@click.option("--seed", default=0, show_default=True, help="Random seed for the choice of edits and for t-SNE.")
def draw_map(index: Path, out: Path, **options: Any) -> None:
    r"""Draw the edits of an index as a map (t-SNE).

    Similar edits are close to each other on the map. The HTML file needs no network and no other file. You can zoom,
    search and choose the colours, and the edit under the pointer is shown as a word diff. PNG and SVG are for papers.

    \b
    editvec map edits.index -o map.html
    editvec map fixers.index -o fixers.png --most 100 --least 40
    """
    from editvec.cli.terminal import describe
    from editvec.ui.map import map as run

    click.echo(f"{out}: {describe(run(index, out, **options))} edits")
