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
@click.option("-k", default=10, show_default=True, type=click.IntRange(1), help="Number of neighbours for R@k.")
@click.option(
    "--sample",
    default=10_000,
    show_default=True,
    type=click.IntRange(2),
    help="Maximum number of edits, chosen at random.",
)
@click.option(
    "--by-label", is_flag=True, help="Also print the accuracy of each label, and the labels it is confused with."
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def probe(file: str, models: tuple[str, ...], k: int, by_label: bool, as_json: bool, **options: Any) -> None:
    r"""Measure how well vectors predict the labels of edits.

    The main result is the share of edits whose nearest neighbour has the same label (nearest %).

    MODEL is the folder of a trained model, packaged, tfidf or diff. Verbatim copies of an edit never count as its
    neighbours; "distinct" also uses each edit only once. R@k is the number of the k nearest edits with the same label,
    divided by the largest possible number. MAP is mean average precision. Silhouette is measured for the labels, by
    cosine. Rand (adjusted) and V (V-measure) compare the labels with as many k-means clusters.

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
            out.print(f"  {each.name}: {each.unread:,} edits were skipped because the model cannot read them.")


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
