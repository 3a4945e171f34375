"""`editvec transfer`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from editvec.cli.options import label_option

if TYPE_CHECKING:
    from editvec.evaluation.metrics import Estimate
    from editvec.evaluation.transfer import Summary


@click.command()
@click.argument("folder", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("file", metavar="EDITS")
@click.option("--protocol", default="iclr19", show_default=True, type=click.Choice(["iclr19", "all-pairs"]))
@label_option
@click.option("--seeds", default=10, show_default=True, type=click.IntRange(1), help="Seed edits a label (iclr19).")
@click.option("--pairs", type=click.IntRange(1), help="At most so many pairs a label, at random (all-pairs).")
@click.option("--seed", default=0, show_default=True, help="For the choice of seeds and pairs.")
@click.option("-k", "beam", default=5, show_default=True, type=click.IntRange(1), help="Candidates an edit.")
@click.option("--plain", is_flag=True, help="Take the editor by its word, as the paper does.")
@click.option("--journal", type=click.Path(path_type=Path), help="Keep the answers here instead of in the cache.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def transfer(
    folder: Path,
    file: str,
    protocol: str,
    how: str,
    seeds: int,
    pairs: int | None,
    seed: int,
    beam: int,
    plain: bool,
    journal: Path | None,
    as_json: bool,
) -> None:
    """Measure how well an edit that was shown once is applied to other edits of the same label.

    iclr19 is the paper's protocol: 10 random seed edits a label, each applied to all edits of the label (itself
    included), the best seed counts, averaged over labels. all-pairs is stricter: every edit is the seed of every other
    (itself excluded); --pairs takes so many a label at random. Gold is each edit with its own vector: the upper bound.
    What the editor writes is read back by the encoder, and the answer most like the edit shown comes first; not so with
    --plain. Answers are kept as they come; interrupted, the same command goes on.

    \b
    editvec transfer runs/mine csharp_fixers.jsonl.gz --plain
    editvec transfer runs/mine csharp_fixers.jsonl.gz --protocol all-pairs --pairs 300
    """
    from editvec.cli.terminal import print_json, progress
    from editvec.core.errors import StoppedError, UserError
    from editvec.data import edit_files
    from editvec.data.labels import label_of
    from editvec.data.splits import token_hash
    from editvec.evaluation.journal import PairJournal
    from editvec.evaluation.transfer import answer_pairs, plan, summarise
    from editvec.suggest.few_shot import SETTINGS
    from editvec.vectors.vectorisers import Trained

    trained = Trained.load(folder)
    labelled = [(edit, label_of(edit, how)) for edit in edit_files.read(file, trees=trained.needs_trees)]
    edits = [edit for edit, label in labelled if label]
    if not edits:
        raise UserError(f"no edit of {file} has a label (--label {how}).")
    labels = [label for _, label in labelled if label]
    alike = trained.model.config.encoder == "none"
    made = plan(labels, protocol, num_seeds=seeds, max_pairs=pairs, alike=alike, seed=seed)
    content = [(edit.id, token_hash(edit), edit.model_context) for edit in edits]
    reading_back = None if plain else (SETTINGS, trained.second_digest)
    about = (trained.digest, content, protocol, seeds, pairs, seed, beam, reading_back)
    kept = PairJournal(journal, about) if journal else PairJournal.in_cache(about)
    try:
        with progress(f"{protocol}", "pairs") as watch:
            ranks = answer_pairs(trained.model, edits, made, k=beam, plain=plain, journal=kept, watch=watch)
    except KeyboardInterrupt:
        raise StoppedError("stopped. The same command goes on from here.") from None
    summary = summarise(made, ranks, k=beam)
    if as_json:
        print_json(summary.as_json())
    else:
        _print(summary, beam)


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
