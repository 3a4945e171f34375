"""`editvec reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import Number

if TYPE_CHECKING:
    from editvec.reproduction import Table


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option(
    "--data", envvar="EDITVEC_DATA", type=click.Path(path_type=Path), help="Data folder.  [default: $EDITVEC_DATA]"
)
@click.option(
    "-o",
    "--out",
    default="reproduction",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for models, results and the report.",
)
@click.option(
    "--fraction",
    default=1.0,
    show_default=True,
    type=Number(0, 1, min_open=True),
    help="Share of all edits to use. Up to 0.05, models are small; this only tests that everything runs.",
)
@click.option(
    "--epochs", type=click.IntRange(1), help="Epochs per training.  [default: 12; 1 for fractions up to 0.05]"
)
@click.option("--limit", type=click.IntRange(1), help="Maximum number of edits of a test set or an index.")
@click.option("--set", multiple=True, metavar="KEY=VALUE", help="Setting of every model, as for editvec train.")
@click.option(
    "--budget", "budget_only", is_flag=True, help="Only print the models to train and an estimate of the time."
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def reproduce(tables: tuple[str, ...], out: Path, budget_only: bool, as_json: bool, **options: Any) -> None:
    r"""Reproduce the paper's tables and figures: train missing models, reuse existing ones, compare the numbers.

    TABLE is statistics, editors, transfer, fixers, map, sizes, clusters or ratings, or its number in the paper (table4,
    figure4, ...); the default is all of them. After an interruption, the same command continues where it stopped.
    Models of your own are used if they are in OUT/models under the name that --budget prints. Needs editvec[all].

    \b
    editvec reproduce --budget --data data
    editvec reproduce editors transfer --data data
    editvec reproduce --data data --fraction 0.02     # everything in a few minutes, to test that it runs
    """
    from editvec.cli.terminal import print_json
    from editvec.cli.train import watching
    from editvec.core.errors import StoppedError
    from editvec.data.extras import require

    for module in ("torch", "pyarrow", "sklearn"):
        require(module, extra="all", what="Reproductions of the paper")
    from editvec.reproduction.reproduce import reproduce as run

    try:
        with watching() as (watch, notice):
            done = run(tables, out=out, budget_only=budget_only, watch=watch, notice=notice, **options)
    except KeyboardInterrupt:
        raise StoppedError("stopped. Run the same command again to continue.") from None
    if budget_only:
        return
    if as_json:
        print_json(done.as_json())
        return
    _print(done.tables)
    click.echo(f"Report  {done.report}  {out / 'report.md'}")


def _print(done: list[Table]) -> None:
    from rich.table import Table as Grid

    from editvec.cli.terminal import console, printable
    from editvec.reproduction.pages import cells

    out = console()
    for table in done:
        grid = Grid(box=None, padding=(0, 2), header_style="bold", title=printable(table.title), title_justify="left")
        for name in ("", " ", "paper", "ours", "difference"):
            grid.add_column(
                name, justify="right" if name.strip() else "left", no_wrap=bool(name.strip()), overflow="fold"
            )
        for row in table.rows:
            grid.add_row(*(printable(cell) for cell in cells(row)))
        out.print(grid)
        for note in (*table.notes, *([f"picture: {table.picture}"] if table.picture else [])):
            out.print(f"  {printable(note)}", style="dim")
        out.print()
