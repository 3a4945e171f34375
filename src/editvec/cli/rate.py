"""`editvec rate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.evaluation.ratings import RatingReport


@click.command()
@click.argument("folder", metavar="RATINGS", type=click.Path(path_type=Path))
@click.argument("indexes", metavar="[INDEX…]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--queries", default=200, show_default=True, type=click.IntRange(1), help="Edits to find neighbours of.")
@click.option("-k", "number", default=3, show_default=True, type=click.IntRange(1), help="Neighbours of each system.")
@click.option("--seed", default=0, show_default=True, help="For the choice of edits and the order of neighbours.")
@click.option("--rater", default="me", show_default=True, help="Who rates.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Of the page; any free one if not given.")
@click.option("--report", "as_report", is_flag=True, help="Print what came of it.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def rate(
    folder: Path,
    indexes: tuple[Path, ...],
    queries: int,
    number: int,
    seed: int,
    rater: str,
    port: int,
    as_report: bool,
    as_json: bool,
) -> None:
    """Rate neighbours by hand on a local page: 0 unrelated, 1 similar, 2 the same edit; blind and shuffled.

    With INDEX…, RATINGS is made: random edits with their neighbours in each index. Without, rating goes on. Every
    rating is saved at once. --report gives DCG, NDCG and Acc@1 of each system, and how far raters agree.

    \b
    editvec rate ratings edits.index words.index
    editvec rate ratings --rater ada
    editvec rate ratings --report
    """
    from editvec.cli.terminal import describe, print_json
    from editvec.core.errors import UserError
    from editvec.evaluation.ratings import TASK, Ratings, RatingTask, make_task, read_all, report
    from editvec.ui.rating import rating_server
    from editvec.vectors.index import open_index

    if indexes:
        if (folder / TASK).exists():
            raise UserError(f"{folder} already holds something to rate. Leave the indexes out to go on with it.")
        names = [index.name for index in indexes]
        if len(set(names)) < len(names):
            raise UserError("two indexes have the same name. Rename a folder: systems are told apart by it.")
        opened = dict(zip(names, map(open_index, indexes), strict=True))
        make_task(opened, num_queries=queries, k=number, seed=seed).save(folder)
    task = RatingTask.load(folder)
    if as_report or as_json:
        found = report(task, read_all(folder))
        if as_json:
            print_json(found.as_json())
        else:
            _print(found)
        return
    ratings = Ratings(folder, rater)
    server = rating_server(task, ratings, port=port)
    total = sum(len(query.candidates) for query in task.queries)
    click.echo(f"{describe(len(ratings.values))} of {describe(total)} rated. Open  {server.address}")
    click.echo("Ctrl-C ends; every rating is saved at once.")
    try:
        server.run()
    except KeyboardInterrupt:
        click.echo(f"\n{describe(len(ratings.values))} of {describe(total)} rated: {ratings.path}")


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
