"""Draw the edits of an index as a map."""

from __future__ import annotations

from pathlib import Path

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.core.files import check_place, write_atomically
from editvec.data.labels import label_of
from editvec.ui.report.map import map_page, map_picture
from editvec.vectors import clusters
from editvec.vectors.index import Index, open_index
from editvec.vectors.projection import choose, project

COLOURS = ("label", "group", "project", "language")
ENDINGS = ("html", "png", "svg")


def map(
    index: Path,
    out: Path = Path("map.html"),
    *,
    colour: str | None = None,
    label: str = "id",
    most: int | None = None,
    least: int = 1,
    limit: int = 50_000,
    perplexity: float = 30.0,
    seed: int = 0,
) -> int:
    """Draw the edits of an index as a map on which similar edits are close (t-SNE); return how many were drawn.

    An HTML file contains everything it needs, so it works without a network; PNG and SVG are for papers. `colour` is
    "label", "group", "project" or "language". At most `most` edits per label and `limit` edits in all are drawn, chosen
    at random; labels with fewer than `least` edits are left out.

    Raises:
        UserError: The index is empty, nothing is left to draw, or the name of `out` has another ending.

    Examples:
        >>> import editvec
        >>> editvec.map(Path("edits.index"), Path("map.html"))
        54
    """
    ending = out.suffix.lower().lstrip(".")
    if ending not in ENDINGS:
        raise UserError(f"{out}: the file name must end in .html, .png or .svg.")
    check_place(out)
    opened = open_index(index)
    if not len(opened):
        raise UserError(f"{index} contains no edits, so there is nothing to draw.")
    edits = list(opened.all_edits())
    labels = [label_of(edit, label) for edit in edits]
    rows = choose(labels, most=most, least=least, limit=limit, seed=seed)
    if not len(rows):
        raise UserError(f"no label has {least} edits, so nothing is left to draw. Lower --least.")
    kept = [edits[row] for row in rows]
    # A picture has only one colour scheme, so the other schemes are not computed.
    first = colour or ("label" if ending != "html" and any(labels[row] for row in rows) else None)
    schemes = _schemes(opened, kept, [labels[row] for row in rows], rows.tolist(), first, only=ending != "html")
    places = project(opened.vectors[rows], perplexity=perplexity, seed=seed)
    if ending == "html":
        title = f"{len(kept):,} edits of {index.name}"
        write_atomically(out, map_page(kept, places, schemes, title=title).encode("utf-8", "replace"))
    else:
        write_atomically(out, map_picture(places, next(iter(schemes.values())), ending=ending))
    return len(kept)


def _schemes(
    index: Index, edits: list[Edit], labels: list[str], rows: list[int], first: str | None, *, only: bool
) -> dict[str, list[str]]:
    """Return the colour schemes: the chosen one first, or alone; schemes with a single colour are left out."""
    if only and first == "label":
        return {"label": labels}
    found = clusters.group(index.vectors[rows])
    described = clusters.describe(found, index.units[rows], index.token_hashes[rows], edits)
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
