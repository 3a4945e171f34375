"""`editvec evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from editvec.evaluation.decoding import EvaluationReport


@click.command()
@click.argument("model")
@click.argument("file")
@click.option("-k", default=5, show_default=True, type=click.IntRange(1), help="Candidates per edit.")
@click.option("--limit", type=click.IntRange(1), help="Maximum number of edits, from the start of the file.")
@click.option("--out", type=click.Path(path_type=Path), help="File for each edit's candidates and rank, as JSON lines.")
@click.option("--pruned", is_flag=True, help="Also score as the paper's code does, which ignores operators (C#).")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def evaluate(model: str, file: str, k: int, pruned: bool, as_json: bool, **options: Any) -> None:
    r"""Measure how often a model writes an edit's after, given the edit's vector and its before.

    A candidate is right if all of its tokens are equal to those of the true text. Perplexity is defined as in the
    paper: the exponential of the mean over edits of the negative log-likelihood per token. "unseen" leaves out the
    edits that the training set contains, compared token by token. --pruned also scores as the paper's code does, on
    trees without operators, predefined types, modifiers, ref and out: a candidate that differs only in these counts as
    right.

    \b
    editvec evaluate runs/mine test.jsonl.gz
    editvec evaluate runs/mine test.jsonl.gz --out answers.jsonl --json
    editvec evaluate runs/paper test.jsonl.gz --pruned
    """
    from editvec.cli.terminal import print_json, progress
    from editvec.evaluation.evaluate import evaluate as run

    report = run(model, file, k=k, progress=progress, **options)
    if as_json:
        print_json(report.as_json(k, pruned=pruned))
    else:
        _print(report, k, pruned=pruned)


def _print(report: EvaluationReport, beam: int, *, pruned: bool) -> None:
    from rich.table import Table

    from editvec.cli.terminal import console, describe

    out = console()
    sides = [("all", report.all)] + ([("unseen", report.unseen)] if report.knows_seen else [])
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
    if not report.knows_seen:
        out.print(
            "  The model's folder has no record of its training set, so edits seen in training cannot be left out."
        )
    if report.no_tree:
        out.print(f"  {describe(report.no_tree)} edits have no tree that the model knows; they count as wrong.")
    if report.too_long:
        out.print(f"  {describe(report.too_long)} edits are longer than the model reads; they were skipped.")
