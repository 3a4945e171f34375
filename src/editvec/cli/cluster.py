"""`editvec cluster`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from editvec.core.edit import Edit
    from editvec.vectors.clusters import Group, Grouping


@click.command()
@click.argument("folder", metavar="INDEX", type=click.Path(path_type=Path))
@click.option(
    "--method", type=click.Choice(["hdbscan", "kmeans"]), help="How to group.  [default: hdbscan; with -k kmeans]"
)
@click.option(
    "-k", "number", type=click.IntRange(1), help="How many groups (k-means); chosen by silhouette if not given."
)
@click.option("--min-size", default=5, show_default=True, type=click.IntRange(2), help="Of a group (HDBSCAN).")
@click.option("-n", "--show", "shown", default=20, show_default=True, type=click.IntRange(0), help="Groups to show.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write all groups with their members, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def cluster(
    folder: Path, method: str | None, number: int | None, min_size: int, shown: int, out: Path | None, as_json: bool
) -> None:
    """Group the edits of an index by their vectors.

    hdbscan finds the dense groups and leaves the other edits alone; kmeans puts every edit into one of k groups.
    Each group is shown with its size, the tokens that tell it from the others, and examples from its middle outwards.

    \b
    editvec cluster edits.index
    editvec cluster edits.index -k 50 -o groups.json
    """
    import orjson

    from editvec.cli.terminal import print_json
    from editvec.core.errors import UserError
    from editvec.core.files import check_place, write_atomically
    from editvec.vectors import clusters
    from editvec.vectors.index import open_index

    method = method or ("hdbscan" if number is None else "kmeans")
    if number is not None and method != "kmeans":
        raise UserError("-k is for --method kmeans; HDBSCAN finds out by itself. See --min-size.")
    if out is not None:
        check_place(out)
    index = open_index(folder)
    if not len(index):
        raise UserError(f"{folder} holds no edits, so there is nothing to group.")
    grouping = clusters.group(index.units, method=method, k=number, min_size=min_size)
    found, edits = clusters.describe_index(index, grouping)
    document = {
        "method": method,
        "criterion": grouping.criterion,
        "edits": len(index),
        "in_no_group": int((grouping.labels == clusters.NO_GROUP).sum()),
        "groups": clusters.as_json(found, edits),
    }
    if out is not None:
        write_atomically(out, orjson.dumps(document, option=orjson.OPT_INDENT_2))
    if as_json:
        print_json(document)
    else:
        _print(grouping, found[:shown], edits, document)


def _print(grouping: Grouping, found: list[Group], edits: list[Edit], document: dict[str, Any]) -> None:
    from rich.text import Text

    from editvec.cli.terminal import console, describe, printable, word_diff

    out = console()
    alone = f", {describe(document['in_no_group'])} edits in none" if document["in_no_group"] else ""
    out.print(
        f"{describe(grouping.num_groups)} groups of {describe(document['edits'])} edits{alone} "
        f"({grouping.method}; {grouping.criterion})\n"
    )
    for each in found:
        head = Text(f"group {each.number}", "bold").append(f"  {describe(len(each))} edits  ", "cyan")
        out.print(head.append(printable("  ".join(each.tokens)), "dim"))
        for row in each.examples:
            out.print(Text(f"  {printable(edits[row].id)}", "dim"))
            for line in word_diff(edits[row]):
                out.print(line)
        out.print()
