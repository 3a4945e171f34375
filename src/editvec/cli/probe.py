"""`editvec probe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import label_option

if TYPE_CHECKING:
    from editvec.evaluation.probe import Probe


@click.command()
@click.argument("file", metavar="EDITS")
@click.argument("models", metavar="MODEL...", nargs=-1, required=True)
@label_option
@click.option("-k", default=10, show_default=True, type=click.IntRange(1), help="Neighbours that count for R@k.")
@click.option(
    "--sample", default=10_000, show_default=True, type=click.IntRange(2), help="Maximum number of edits, at random."
)
@click.option("--by-label", is_flag=True, help="Also show each label, and what it is confused with.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def probe(file: str, models: tuple[str, ...], k: int, by_label: bool, as_json: bool, **options: Any) -> None:
    """Measure what vectors know about labelled edits: does the nearest edit have the same label?

    MODEL is the folder of a trained model, packaged, tfidf or diff. Verbatim copies of an edit never count as its
    neighbours; "distinct" also takes each edit only once. R@k is the share of the k nearest that have the label, of as
    many as could have it; MAP is mean average precision; silhouette is that of the labels, by cosine; Rand and V
    compare the labels with as many k-means clusters.

    \b
    editvec probe csharp_fixers.jsonl.gz runs/mine tfidf diff
    editvec probe csharp_fixers.jsonl.gz runs/mine --by-label
    """
    from editvec.cli.terminal import console, print_json, progress
    from editvec.evaluation.probe import probe as run

    found = run(file, models, k=k, progress=progress, **options)
    if as_json:
        print_json([each.as_json(k) for each in found])
        return
    out = console()
    _print(found, k)
    if by_label:
        for each in found:
            _print_labels(each)
    for each in found:
        if each.unread:
            out.print(f"  {each.name}: {each.unread:,} edits that it cannot read are left out.")


def _print(found: list[Probe], number: int) -> None:
    from rich.table import Table

    from editvec.cli.terminal import console, printable

    for side in ("all", "distinct"):
        table = Table(box=None, padding=(0, 1), header_style="bold")
        table.add_column(f"{side} ({getattr(found[0], side).edits:,})")
        for name in ("nearest %", "macro", f"R@{number}", "MAP", "silhouette", "Rand", "V"):
            table.add_column(name, justify="right", no_wrap=True)
        for each in found:
            row = getattr(each, side)
            half = 50 * (row.accuracy.high - row.accuracy.low)
            table.add_row(
                printable(each.name),
                f"{100 * row.accuracy.value:.2f} ± {half:.1f}",
                f"{100 * row.macro:.2f}",
                f"{100 * row.recall:.2f}",
                f"{100 * row.precision:.2f}",
                f"{row.silhouette:.3f}",
                f"{row.rand:.3f}",
                f"{row.v_measure:.3f}",
            )
        console().print(table)


def _print_labels(each: Probe) -> None:
    from rich.table import Table

    from editvec.cli.terminal import console, printable

    table = Table(box=None, padding=(0, 2), header_style="bold")
    for name in (printable(each.name), "nearest %", "taken for"):
        table.add_column(name)
    for label, value in each.distinct.by_label.items():
        wrong = [f"{other} ×{count}" for one, other, count in each.distinct.confused if one == label]
        table.add_row(printable(label), f"{100 * value:.1f}", printable(", ".join(wrong[:4])))
    console().print(table)
