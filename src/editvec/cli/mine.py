"""`editvec mine`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from editvec.mining.run import MiningReport


@click.command()
@click.argument("repo", default=".")
@click.option(
    "-o",
    "--out",
    default="edits.jsonl.gz",
    show_default=True,
    help="File for the edits (.jsonl.gz, .jsonl, .parquet, .tsv).",
)
@click.option("--language", multiple=True, help="Language to mine; may be repeated.  [default: all]")
@click.option(
    "--recipe",
    type=click.Choice(["default", "iclr19", "prose"]),
    default="default",
    show_default=True,
    help="What counts as an edit: any statement or member; the paper's extraction (iclr19); sentences (prose).",
)
@click.option("--since", help="Mine only commits after this date (2023-01-01, '2 years ago', ...).")
@click.option("--until", help="Mine only commits before this date.")
@click.option("--range", help="Mine only these commits, such as v1.0..HEAD or a branch.")
@click.option("--paths", multiple=True, help="Mine only files below this path; may be repeated.")
@click.option("--max-lines", type=click.IntRange(1, 100), help="Maximum changed lines.  [default: 3; prose 10]")
@click.option("--max-tokens", type=click.IntRange(2, 2000), help="Maximum tokens per side.  [default: 100]")
@click.option("--max-per-commit", type=click.IntRange(1), help="Maximum edits from one commit.  [default: 50]")
@click.option("--max-repeats", type=click.IntRange(1), help="Maximum copies of one edit.  [default: 30]")
@click.option("--keep", multiple=True, metavar="FILTER", help="Filter to turn off; may be repeated.")
@click.option("--workers", type=click.IntRange(0), default=0, show_default=True, help="Processes; 0 is one per core.")
@click.option(
    "--resume/--fresh",
    default=True,
    show_default=True,
    help="Reuse the results of earlier runs with the same settings, or ignore them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def mine(repo: str, out: str, as_json: bool, **options: Any) -> None:
    r"""Mine the edits of a git history into a file.

    REPO is a clone, a bare repository or an address that git can clone; the default is the current folder. Nothing is
    checked out, and no code of the repository is executed. After an interruption, the same
    command continues where it stopped. A later run mines only the new commits.

    \b
    editvec mine . -o edits.jsonl.gz
    editvec mine ~/src/django --language python --since '1 year ago'
    editvec mine https://github.com/pallets/flask -o flask.jsonl.gz
    editvec mine ~/src/book --recipe prose
    """
    from editvec.cli.terminal import print_json, progress, stopwatch
    from editvec.core.errors import StoppedError
    from editvec.mining.mine import mine as run

    try:
        with stopwatch() as seconds:
            report = run(repo, out, progress=progress, **options)
    except KeyboardInterrupt:
        raise StoppedError("stopped. The mined edits are kept. Run the same command again to continue.") from None
    if as_json:
        print_json({**report.as_json(), "seconds": round(seconds(), 2)})
    else:
        _print_report(report, seconds())


def _print_report(report: MiningReport, seconds: float) -> None:
    from rich.table import Table

    from editvec.cli.terminal import console, describe, printable
    from editvec.mining.recipes import FILTERS, SWITCHABLE

    screen, name, out = console(), report.repository, report.out
    new = "" if report.mined_now == report.commits else f" ({describe(report.mined_now)} new)"
    screen.print(
        f"{printable(name)}: {describe(report.commits)} commits{new}, {describe(report.files)} changed files, "
        f"{describe(report.hunks)} hunks → {describe(report.edits)} edits in {seconds:.1f} s"
    )
    if report.languages:
        screen.print("  " + ", ".join(f"{key} {describe(count)}" for key, count in report.languages.most_common()))
    if report.dropped:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("dropped", justify="right")
        table.add_column("filter")
        table.add_column("meaning")
        for reason, count in report.dropped.most_common():
            table.add_row(describe(count), reason + (" *" if reason in SWITCHABLE else ""), FILTERS.get(reason, ""))
        screen.print(table)
        screen.print("  * turn this filter off with --keep FILTER")
    if report.edits:
        screen.print(
            f"\nWrote {printable(out)}    Next  editvec show {printable(out)}    editvec stats {printable(out)}"
        )
    elif not report.commits:
        screen.print(f"\nNo commits to mine. Wrote an empty {printable(out)}.")
    else:
        hint = "Check --paths." if not report.files else "Try another --recipe or a larger --max-lines."
        screen.print(f"\nNo edits. Wrote an empty {printable(out)}. {hint}")
