"""`editvec evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.evaluation.decoding import EvaluationReport


@click.command()
@click.argument("folder", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE")
@click.option("-k", "beam", default=5, show_default=True, type=click.IntRange(1), help="Candidates an edit.")
@click.option("--limit", type=click.IntRange(1), help="Take the first so many edits only.")
@click.option("--out", type=click.Path(path_type=Path), help="Write every edit's candidates and rank, as JSON lines.")
@click.option("--pruned", is_flag=True, help="Also count as the paper's code does, which does not see operators (C#).")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def evaluate(
    folder: Path, file: str, beam: int, limit: int | None, out: Path | None, pruned: bool, as_json: bool
) -> None:
    """Measure how often a model, shown an edit's vector and its before, writes its after.

    Right is right token by token. Perplexity is the paper's: the mean over edits of the negative log-likelihood a
    token. "unseen" leaves out the edits that occur, token by token, in the training set. --pruned also counts as the
    original code does, on trees without operators, predefined types, modifiers, ref and out: an answer that differs in
    these alone is right there.

    \b
    editvec evaluate runs/mine test.jsonl.gz
    editvec evaluate runs/mine test.jsonl.gz --out answers.jsonl --json
    editvec evaluate runs/paper test.jsonl.gz --pruned
    """
    from contextlib import nullcontext
    from itertools import islice

    import orjson

    from editvec.cli.terminal import counted, print_json
    from editvec.core.errors import UserError
    from editvec.core.files import atomic
    from editvec.data import edit_files
    from editvec.data.digests import TrainingDigests
    from editvec.evaluation.decoding import EvaluationReport, answer_all
    from editvec.neural.model import TRAINING_DIGESTS, folder_of, load, needs_trees

    model, folder = load(folder), folder_of(folder)
    seen = TrainingDigests.load(folder / TRAINING_DIGESTS) if (folder / TRAINING_DIGESTS).exists() else None
    report = EvaluationReport()
    edits = counted(
        islice(edit_files.read(file, trees=needs_trees(model.config)), limit),
        f"Evaluating {file}",
        limit or edit_files.count(file),
    )
    with atomic(out) if out else nullcontext() as stream:
        for answer in answer_all(model, edits, report, k=beam, seen=seen):
            if stream is not None:
                stream.write(orjson.dumps(answer.as_json()) + b"\n")
    if not report.all.ranks:
        raise UserError(f"{file} has no edit that this model can read.")
    if as_json:
        print_json(
            {
                "all": report.all.as_json(beam, pruned=pruned),
                "unseen": report.unseen.as_json(beam, pruned=pruned) if seen is not None else None,
                "too_long": report.too_long,
                "no_tree": report.no_tree,
            }
        )
    else:
        _print(report, beam, known=seen is not None, pruned=pruned)


def _print(report: EvaluationReport, beam: int, *, known: bool, pruned: bool) -> None:
    from rich.table import Table

    from editvec.cli.terminal import console, describe

    out = console()
    sides = [("all", report.all)] + ([("unseen", report.unseen)] if known else [])
    table = Table(box=None, padding=(0, 3), header_style="bold")
    table.add_column("")
    for name, scores in sides:
        table.add_column(f"{name} ({describe(len(scores.ranks))})")
    rows = [
        ("Acc@1", [scores.accuracy for _, scores in sides]),
        (f"Recall@{beam}", [scores.recall(beam) for _, scores in sides]),
    ]
    if pruned:
        rows.append(("Acc@1, pruned", [scores.pruned_accuracy for _, scores in sides]))
        rows.append((f"Recall@{beam}, pruned", [scores.pruned_recall(beam) for _, scores in sides]))
    for title, estimates in rows:
        table.add_row(
            title,
            *(f"{each.value:.2%} ({each.low:.1%} – {each.high:.1%})" for each in estimates),
        )
    table.add_row("perplexity", *(f"{scores.perplexity:.4f}" for _, scores in sides))
    table.add_row("can be written", *(f"{scores.ceiling:.2%}" for _, scores in sides))
    out.print(table)
    if not known:
        out.print("  The model's folder does not say what it was trained on, so seen edits are not told apart.")
    if report.no_tree:
        out.print(f"  {describe(report.no_tree)} edits have no tree that the model knows, and count as wrong.")
    if report.too_long:
        out.print(f"  {describe(report.too_long)} edits are longer than the model reads and were left out.")
