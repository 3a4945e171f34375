"""`editvec cluster`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from editvec.vectors.cluster import Clustering


@click.command()
@click.argument("index", type=click.Path(path_type=Path))
@click.option(
    "--method", type=click.Choice(["hdbscan", "kmeans"]), help="Clustering method.  [default: hdbscan; with -k kmeans]"
)
@click.option(
    "-k", type=click.IntRange(1), help="Number of clusters (kmeans).  [default: the one with the best silhouette]"
)
@click.option(
    "--min-size", default=5, show_default=True, type=click.IntRange(2), help="Minimum edits per cluster (hdbscan)."
)
@click.option("-n", "--show", default=20, show_default=True, type=click.IntRange(0), help="Number of clusters to show.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="File for all clusters with their members, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def cluster(index: Path, show: int, as_json: bool, **options: Any) -> None:
    r"""Cluster the edits of an index by their vectors.

    hdbscan finds dense clusters and leaves the other edits without a cluster; kmeans puts every edit into one of k
    clusters. Each cluster is shown with its size, its distinctive tokens, and examples from its centre outwards.

    \b
    editvec cluster edits.index
    editvec cluster edits.index -k 50 -o clusters.json
    """
    from editvec.cli.terminal import print_json
    from editvec.vectors.cluster import cluster as run

    clustering = run(index, **options)
    if as_json:
        print_json(clustering.as_json())
    else:
        _print(clustering, show)


def _print(clustering: Clustering, show: int) -> None:
    from rich.text import Text

    from editvec.cli.terminal import console, describe, printable, word_diff

    out, grouping, edits = console(), clustering.grouping, clustering.edits
    alone = f", {describe(clustering.num_alone)} edits in no cluster" if clustering.num_alone else ""
    out.print(
        f"{describe(grouping.num_groups)} clusters of {describe(len(edits))} edits{alone} "
        f"({grouping.method}; {grouping.criterion})\n"
    )
    for each in clustering.clusters[:show]:
        head = Text(f"cluster {each.number}", "bold").append(f"  {describe(len(each))} edits  ", "cyan")
        out.print(head.append(printable("  ".join(each.tokens)), "dim"))
        for row in each.examples:
            out.print(Text(f"  {printable(edits[row].id)}", "dim"))
            for line in word_diff(edits[row]):
                out.print(line)
        out.print()
