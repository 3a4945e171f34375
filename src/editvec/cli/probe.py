"""`editvec probe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from editvec.cli.options import label_option

if TYPE_CHECKING:
    from editvec.evaluation.probe import Probe


@click.command()
@click.argument("file", metavar="EDITS")
@click.argument("models", metavar="MODEL…", nargs=-1, required=True)
@label_option
@click.option(
    "-k", "number", default=10, show_default=True, type=click.IntRange(1), help="For recall among the k nearest."
)
@click.option(
    "--sample", default=10_000, show_default=True, type=click.IntRange(2), help="Take at most so many edits, at random."
)
@click.option("--by-label", is_flag=True, help="Also show each label, and what it is taken for.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def probe(
    file: str, models: tuple[str, ...], how: str, number: int, sample: int, by_label: bool, as_json: bool
) -> None:
    """Measure what vectors know about labelled edits: is the nearest edit one of the same label?

    MODEL is the folder of a trained model, packaged, tfidf or diff. Verbatim copies of an edit never count as its
    neighbours; "distinct" also takes each edit once. R@k: of the k nearest, how many have the label, of as many as
    could; MAP: mean average precision; silhouette: of the labels, by cosine; Rand and V: k-means with as many groups as
    labels.

    \b
    editvec probe csharp_fixers.jsonl.gz runs/mine tfidf diff
    editvec probe csharp_fixers.jsonl.gz runs/mine --by-label
    """
    from editvec.cli.terminal import console, print_json
    from editvec.core.errors import UserError
    from editvec.data import edit_files
    from editvec.data.labels import label_of
    from editvec.data.sampling import select
    from editvec.evaluation import probe as probing
    from editvec.vectors import vectorisers

    chosen = [edit for _, edit in select(edit_files.read(file), number=sample, seed=0)]
    labelled = [(edit, label) for edit in chosen if (label := label_of(edit, how))]
    if not labelled:
        raise UserError(f"no edit of {file} has a label (--label {how}).")
    edits = [edit for edit, _ in labelled]
    found = []
    for name in models:
        vectoriser = vectorisers.make(name, edits)
        unread: list[int] = []
        vectors = vectoriser.encode(edits, unread=unread)
        skipped = set(unread)
        kept = [pair for place, pair in enumerate(labelled) if place not in skipped]
        sides = [edit for edit, _ in kept], [label for _, label in kept]
        found.append(probing.probe(_short(name), vectors, *sides, k=number, unread=len(unread)))
    if as_json:
        print_json([each.as_json(number) for each in found])
        return
    out = console()
    _print(found, number)
    if by_label:
        for each in found:
            _print_labels(each)
    for each in found:
        if each.unread:
            out.print(f"  {each.name}: {each.unread:,} edits that it cannot read are left out.")


def _short(name: str) -> str:
    """The last part of a path, which is what tells models apart in a table."""
    from pathlib import Path

    return Path(name).name or name


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
