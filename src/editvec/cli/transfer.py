"""`editvec transfer`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import label_option

if TYPE_CHECKING:
    from editvec.evaluation.metrics import Estimate
    from editvec.evaluation.transfer import Summary


@click.command()
@click.argument("model")
@click.argument("file", metavar="EDITS")
@click.option(
    "--protocol", default="iclr19", show_default=True, type=click.Choice(["iclr19", "all-pairs"]), help="Protocol."
)
@label_option
@click.option("--seeds", default=10, show_default=True, type=click.IntRange(1), help="Seed edits per label (iclr19).")
@click.option(
    "--pairs", type=click.IntRange(1), help="Maximum number of pairs per label, chosen at random (all-pairs)."
)
@click.option("--seed", default=0, show_default=True, help="Random seed for the choice of seed edits and pairs.")
@click.option("-k", default=5, show_default=True, type=click.IntRange(1), help="Candidates per edit.")
@click.option("--plain", is_flag=True, help="Rank by the editor's probability alone, as the paper does.")
@click.option("--journal", type=click.Path(path_type=Path), help="File for the answers.  [default: in the cache]")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def transfer(model: str, file: str, k: int, as_json: bool, **options: Any) -> None:
    r"""Measure how well an edit that was shown once is applied to other edits of the same label.

    iclr19 is the paper's protocol: 10 random seed edits per label are each applied to all edits of the label (the seed
    included), only the best seed counts, and labels are averaged. all-pairs is stricter: every edit is the seed of
    every other edit of its label; --pairs limits the pairs per label. Gold uses each edit's own vector and is the upper
    bound. Unless --plain is given, candidates are encoded again, and the one most similar to the seed edit comes first.
    Answers are saved as they are computed: after an interruption, the same command continues.

    \b
    editvec transfer runs/mine csharp_fixers.jsonl.gz --plain
    editvec transfer runs/mine csharp_fixers.jsonl.gz --protocol all-pairs --pairs 300
    """
    from editvec.cli.terminal import print_json, progress
    from editvec.core.errors import StoppedError
    from editvec.evaluation.transfer import transfer as run

    try:
        summary = run(model, file, k=k, progress=progress, **options)
    except KeyboardInterrupt:
        raise StoppedError("stopped. Run the same command again to continue.") from None
    if as_json:
        print_json(summary.as_json())
    else:
        _print(summary, k)


def _print(summary: Summary, beam: int) -> None:
    from rich.table import Table

    from editvec.cli.terminal import console, describe, printable

    table = Table(box=None, padding=(0, 2), header_style="bold")
    for name in ("label", "edits", "pairs"):
        table.add_column(name, justify="left" if name == "label" else "right")
    for name in ("Acc", "Acc gold", f"Recall@{beam}", f"Recall@{beam} gold"):
        table.add_column(f"{name} %", justify="right")
    for each in summary.labels:
        scores = (each.score.accuracy, each.gold.accuracy, each.score.recall, each.gold.recall)
        counts = (describe(each.edits), describe(each.pairs))
        table.add_row(printable(each.label), *counts, *(f"{100 * score.value:.1f}" for score in scores))
    out = console()
    out.print(table)
    sides = [("macro", summary.macro)] + ([("micro", summary.micro)] if summary.micro else [])
    for name, side in [*sides, ("macro, gold", summary.gold)]:
        out.print(f"  {name:12} Acc {_shown(side.accuracy)}   Recall@{beam} {_shown(side.recall)}")


def _shown(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.2f} ({100 * estimate.low:.1f} – {100 * estimate.high:.1f})"
