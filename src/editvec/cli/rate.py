"""`editvec rate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from editvec.evaluation.ratings import RatingReport
    from editvec.ui.rate import Rating


@click.command()
@click.argument("ratings", type=click.Path(path_type=Path))
@click.argument("indexes", metavar="[INDEX]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--queries",
    default=200,
    show_default=True,
    type=click.IntRange(1),
    help="Number of edits whose neighbours are rated.",
)
@click.option("-k", default=3, show_default=True, type=click.IntRange(1), help="Neighbours from each index.")
@click.option("--seed", default=0, show_default=True, help="Random seed for the edits and the order of neighbours.")
@click.option("--rater", default="me", show_default=True, help="Name of the rater.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port of the page; 0 takes a free one.")
@click.option("--report", is_flag=True, help="Print the scores instead of rating.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def rate(ratings: Path, indexes: tuple[Path, ...], report: bool, as_json: bool, **options: Any) -> None:
    r"""Rate neighbours by hand on a local page: 0 unrelated, 1 similar, 2 the same edit.

    With INDEX..., a rating task is written to the folder RATINGS: random edits with their neighbours in each index, in
    random order and without the names of the indexes. Without INDEX, the rating of an existing task continues. Every
    rating is saved at once. --report prints DCG, NDCG and Acc@1 of each index, and the agreement of the raters.

    \b
    editvec rate ratings edits.index words.index
    editvec rate ratings --rater ada
    editvec rate ratings --report
    """
    from editvec.cli.terminal import describe, print_json
    from editvec.evaluation.ratings import RatingReport
    from editvec.ui.rate import rate as run

    done = run(ratings, indexes, report=report or as_json, ready=_tell, **options)
    if not isinstance(done, RatingReport):
        click.echo(f"\n{describe(done.num_rated)} of {describe(done.num_candidates)} rated: {done.path}")
    elif as_json:
        print_json(done.as_json())
    else:
        _print(done)


def _tell(rating: Rating) -> None:
    from editvec.cli.terminal import describe

    click.echo(
        f"{describe(rating.num_rated)} of {describe(rating.num_candidates)} rated. Open  {rating.address}\n"
        "Press Ctrl-C to stop. Every rating is saved at once."
    )


def _print(found: RatingReport) -> None:
    from rich.table import Table

    from editvec.cli.terminal import console, describe, printable

    table = Table(box=None, padding=(0, 2), header_style="bold")
    sizes = list(found.systems[0].dcg_by_size) if found.systems else []
    names = ("system", "queries", f"DCG@{found.k}", f"NDCG@{found.k} %", "Acc@1 %")
    for name in (*names, *(f"DCG, size {size}" for size in sizes)):
        table.add_column(name, justify="left" if name == "system" else "right", no_wrap=True)
    for each in found.systems:
        table.add_row(
            printable(each.system),
            describe(each.queries),
            f"{each.dcg.value:.2f} ({each.dcg.low:.2f} – {each.dcg.high:.2f})",
            f"{100 * each.ndcg.value:.1f} ({100 * each.ndcg.low:.1f} – {100 * each.ndcg.high:.1f})",
            f"{100 * each.accuracy.value:.1f} ({100 * each.accuracy.low:.1f} – {100 * each.accuracy.high:.1f})",
            *(f"{each.dcg_by_size[size]:.2f}" for size in sizes),
        )
    out = console()
    out.print(table)
    kappa = f", Fleiss' kappa {found.kappa:.2f}" if len(found.raters) > 1 else ""
    out.print(f"  {describe(found.ratings)} ratings by {printable(', '.join(found.raters))}{kappa}")
