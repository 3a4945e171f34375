"""`editvec map`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from editvec.cli.options import Number, label_option

if TYPE_CHECKING:
    from editvec.core.edit import Edit
    from editvec.vectors.index import Index

_COLOURS = ("label", "group", "project", "language")


@click.command("map")
@click.argument("folder", metavar="INDEX", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", default="map.html", show_default=True, type=click.Path(path_type=Path), help="HTML, PNG or SVG."
)
@click.option(
    "--colour",
    type=click.Choice(_COLOURS),
    help="What colours mean (first); by default labels, or groups where there are none.",
)
@label_option
@click.option("--most", type=click.IntRange(1), help="At most so many edits of a label, at random.")
@click.option("--least", default=1, show_default=True, help="Leave out labels with fewer edits.")
@click.option(
    "--limit", default=50_000, show_default=True, type=click.IntRange(2), help="At most so many edits, at random."
)
@click.option("--perplexity", default=30.0, show_default=True, type=Number(2), help="How many neighbours count.")
@click.option("--seed", default=0, show_default=True, help="For the choice of edits, and for their places.")
def draw_map(
    folder: Path,
    out: Path,
    colour: str | None,
    how: str,
    most: int | None,
    least: int,
    limit: int,
    perplexity: float,
    seed: int,
) -> None:
    """Draw the edits of an index as a map on which similar edits are near each other (t-SNE).

    The HTML file holds everything and needs no network: zoom, search, colours, and the edit under the pointer as a
    word diff. A PNG or SVG is for papers.

    \b
    editvec map edits.index -o map.html
    editvec map fixers.index -o fixers.png --most 100 --least 40
    """
    from editvec.cli.terminal import describe
    from editvec.core.errors import UserError
    from editvec.core.files import check_place, write_atomically
    from editvec.data.labels import label_of
    from editvec.ui.report.map import map_page, map_picture
    from editvec.vectors.index import open_index
    from editvec.vectors.projection import choose, project

    ending = out.suffix.lower().lstrip(".")
    if ending not in ("html", "png", "svg"):
        raise UserError(f"{out}: name it .html, .png or .svg.")
    check_place(out)
    index = open_index(folder)
    if not len(index):
        raise UserError(f"{folder} holds no edits, so there is nothing to draw.")
    edits = list(index.all_edits())
    labels = [label_of(edit, how) for edit in edits]
    rows = choose(labels, most=most, least=least, limit=limit, seed=seed)
    if not len(rows):
        raise UserError(f"no label has {least} edits, so nothing is left to draw. Lower --least.")
    kept = [edits[row] for row in rows]
    # A picture has one way to colour, so what is not it need not be worked out.
    first = colour or ("label" if ending != "html" and any(labels[row] for row in rows) else None)
    schemes = _schemes(index, kept, [labels[row] for row in rows], rows.tolist(), first, only=ending != "html")
    places = project(index.vectors[rows], perplexity=perplexity, seed=seed)
    if ending == "html":
        title = f"{describe(len(kept))} edits of {folder.name}"
        write_atomically(out, map_page(kept, places, schemes, title=title).encode("utf-8", "replace"))
    else:
        write_atomically(out, map_picture(places, next(iter(schemes.values())), ending=ending))
    click.echo(f"{out}: {describe(len(kept))} edits")


def _schemes(
    index: Index, edits: list[Edit], labels: list[str], rows: list[int], first: str | None, *, only: bool
) -> dict[str, list[str]]:
    """What edits can be coloured by, the wanted way first (or only); ways that say nothing are left out."""
    from editvec.vectors import clusters

    if only and first == "label":
        return {"label": labels}
    found = clusters.group(index.vectors[rows])
    described = clusters.describe(found, index.units[rows], index.forms[rows], edits)
    named = [f"{each.number}: {' '.join(each.tokens[:3])}" for each in described]
    ways = {
        "label": labels,
        "group": [named[number] if number >= 0 else "" for number in found.labels.tolist()],
        "project": [edit.source.repository if edit.source else "" for edit in edits],
        "language": [edit.language for edit in edits],
    }
    order = sorted(ways, key=lambda way: way != first)
    telling = {way: ways[way] for way in order if way == first or len(set(ways[way])) > 1}
    return telling or {"language": ways["language"]}
