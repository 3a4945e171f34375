"""`editvec reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from editvec.cli.options import Number

if TYPE_CHECKING:
    from editvec.reproduction import Artifacts, Table


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE…]")
@click.option(
    "--data", envvar="EDITVEC_DATA", type=click.Path(path_type=Path), help="The data folder; or $EDITVEC_DATA."
)
@click.option(
    "-o",
    "--out",
    default="reproduction",
    show_default=True,
    type=click.Path(path_type=Path),
    help="The folder for models, results and the report.",
)
@click.option(
    "--fraction",
    default=1.0,
    show_default=True,
    type=Number(0, 1, min_open=True),
    help="Of all edits. Up to 0.05, only to see that everything runs: the models are small.",
)
@click.option("--epochs", type=click.IntRange(1), help="Of every training.  [default: 12; 1 for fractions up to 0.05]")
@click.option("--limit", type=click.IntRange(1), help="Take the first so many edits of a test set, or of an index.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of every model; see editvec train."
)
@click.option("--budget", "only_budget", is_flag=True, help="Only say what is to be trained and how long it takes.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def reproduce(
    tables: tuple[str, ...],
    data: Path | None,
    out: Path,
    fraction: float,
    epochs: int | None,
    limit: int | None,
    settings: tuple[str, ...],
    only_budget: bool,
    as_json: bool,
) -> None:
    """Make the paper's tables and figures again: train what is missing, reuse what is there, compare.

    TABLE is statistics, editors, transfer, fixers, map, sizes, clusters or ratings, or its place in the paper (table4,
    figure4 …); all of them if none is named. Interrupted, the same command goes on where it was. Models of your own
    count when they are put in OUT/models under the name that --budget prints.

    \b
    editvec reproduce --budget --data data
    editvec reproduce editors transfer --data data
    editvec reproduce --data data --fraction 0.02     # everything in some minutes, only to see that it runs
    """
    from editvec.cli.terminal import print_json
    from editvec.cli.train import setting, watching
    from editvec.core.errors import StoppedError, UserError
    from editvec.data.extras import require

    for module in ("torch", "pyarrow", "sklearn"):
        require(module, extra="all", what="Reproductions of the paper")
    from editvec.reproduction import TABLES, Artifacts, budget, make
    from editvec.reproduction.artifacts import describe_time
    from editvec.reproduction.tables import as_json as table_as_json
    from editvec.reproduction.tables import named

    names = list(dict.fromkeys(named(name) for name in tables or TABLES))
    if data is None or not data.is_dir():
        raise UserError("say where the data is with --data FOLDER or $EDITVEC_DATA.")
    chosen = dict(setting(text) for text in settings)
    done: list[Table] = []
    with watching() as (watch, notice):
        artifacts = Artifacts(out, data, fraction, epochs, limit, chosen, notice, watch)
        to_train = budget(artifacts, names)
        for name, seconds in to_train:
            notice(f"to train: {name}, about {describe_time(seconds)}")
        if to_train:
            notice(f"in all about {describe_time(sum(seconds for _, seconds in to_train))} of training")
        if only_budget:
            return
        out.mkdir(parents=True, exist_ok=True)
        try:
            for name in names:
                done.append(make(artifacts, name))
                _write(done, artifacts, out)
        except KeyboardInterrupt:
            raise StoppedError("stopped. The same command goes on from here.") from None
    if as_json:
        print_json([table_as_json(table) for table in done])
        return
    _print(done)
    click.echo(f"Report  {out / 'report.html'}  {out / 'report.md'}")


def _write(done: list[Table], artifacts: Artifacts, out: Path) -> None:
    """The report, after each table: what is done is there to be read."""
    from editvec.core.files import write_atomically
    from editvec.reproduction import pages

    limit = f", the first {artifacts.limit:,} test edits" if artifacts.limit else ""
    head = f"Trained on {artifacts.fraction:.0%} of the training sets, at most {artifacts.num_epochs} epochs{limit}."
    if artifacts.is_smoke:
        head += " Small models that have hardly learned anything: this shows that it runs; the numbers say nothing."
    write_atomically(out / "report.md", pages.markdown(done, head=head).encode("utf-8", "replace"))
    write_atomically(out / "report.html", pages.html(done, head=head, folder=out).encode("utf-8", "replace"))


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
