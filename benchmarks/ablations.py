"""Compare variants of the model, all trained on the same share of the training set and evaluated on the same test set.

The baseline is the variant "as it is", the recipe itself. Each variant is a run in its own folder: finished runs are
not repeated, and interrupted runs are resumed. Only numbers of the same table are comparable.

    python benchmarks/ablations.py --data data/githubedits --runs runs/ablations
    python benchmarks/ablations.py --data data/githubedits --runs runs/ablations --recipe iclr19 bag none
    python benchmarks/ablations.py --data data/githubedits --runs runs/ablations vocab_size=20000 "no context"
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from editvec.data import edit_files
from editvec.data.digests import TrainingDigests
from editvec.evaluation.decoding import EvaluationReport, answer_all
from editvec.neural import model
from editvec.neural.model import TRAINING_DIGESTS
from editvec.training import Files, config, resume, train
from editvec.training.loop import CHECKPOINT

OURS: Mapping[str, Any] = {"residual": True, "tied": True, "changed_only": True, "head_size": 2_000}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "no context": {"context": False},
    "context not in the initial state": {"context_start": False},
    "no copying": {"copy": False},
    "separate readers": {"shared_reader": False},
    "bag": {"encoder": "bag"},
    "none": {"encoder": "none"},
    "changed tokens only": {"changed_only": True},
    "tied": {"tied": True},
    "residual": {"residual": True},
    "residual, tied": {"residual": True, "tied": True},
    "residual, tied, changed tokens only": {"residual": True, "tied": True, "changed_only": True},
    "residual, tied, changed tokens only, head of 2,000": OURS,
    "the same, token_skip of 4": {**OURS, "token_skip": 4},
    "the same, token_skip of 4, vector_swap": {**OURS, "token_skip": 4, "vector_swap": 0.4},
    "the same, token_skip of 4, vector_swap, transfer_layer": {
        **OURS,
        "token_skip": 4,
        "vector_swap": 0.4,
        "transfer_layer": True,
    },
    "graph2tree": {"editor": "graph2tree"},
    "graph2tree, graph": {"editor": "graph2tree", "encoder": "graph"},
    "graph2tree, bag": {"editor": "graph2tree", "encoder": "bag"},
    "graph2tree, none": {"editor": "graph2tree", "encoder": "none"},
    "graph": {"encoder": "graph"},
    "graph2tree, residual, tied, changed tokens only, head of 2,000": {**OURS, "editor": "graph2tree"},
    "graph2tree, the same, token_skip of 4": {**OURS, "editor": "graph2tree", "token_skip": 4},
    "trees of tree-sitter": {"editor": "graph2tree", "trees": "parsed"},
    "slots for unknown tokens": {"unknown_slots": 32},
    "head of 2,000": {"head_size": 2_000},
    "head of 2,000, vocabulary of 40,000": {"head_size": 2_000, "vocab_size": 40_000, "min_count": 1},
    "the same, tied": {"head_size": 2_000, "vocab_size": 40_000, "min_count": 1, "tied": True},
    "embedding dropout": {"embed_dropout": 0.2},
    "bfloat16": {"precision": "bfloat16"},
    "batches of 64": {"batch_edits": 64, "batch_tokens": 8_192},
}


@click.command()
@click.argument("what", nargs=-1, metavar="[VARIANT]... [KEY=VALUE]...")
@click.option(
    "--data", required=True, type=click.Path(exists=True, path_type=Path), help="Folder with train, dev and test."
)
@click.option("--ending", default="jsonl.gz", show_default=True, help="Ending of the three files.")
@click.option("--runs", required=True, type=click.Path(path_type=Path), help="Folder for the runs.")
@click.option("--recipe", default="default", show_default=True, help="Recipe that the variants change.")
@click.option("--fraction", default=0.2, show_default=True, help="Share of the training set.")
@click.option("--epochs", default=8, show_default=True, help="Epochs per run.")
def main(what: tuple[str, ...], data: Path, ending: str, runs: Path, recipe: str, fraction: float, epochs: int) -> None:
    """Train and evaluate all variants, or the named ones, and print one table."""
    names = [each for each in what if "=" not in each] or list(VARIANTS)
    for name in names:
        if name not in VARIANTS:
            raise click.BadParameter(f"no variant {name!r}. Choose one of: {', '.join(VARIANTS)}.")
    shared = {"fraction": fraction, "epochs": epochs, "schedule": "linear", "warmup_steps": 200}
    shared |= dict(each.split("=", 1) for each in what if "=" in each)
    rows = []
    for name in names:
        folder = runs / name.replace(" ", "-").replace(",", "")
        result = folder / "result.json"
        if not result.exists():
            click.echo(f"{name} …", err=True)
            settings = config.with_settings(config.recipe(recipe), {**shared, **VARIANTS[name]})
            files = Files(data / f"train.{ending}", data / f"dev.{ending}")
            if (folder / CHECKPOINT).exists():
                resume(folder)
            elif not (folder / model.WEIGHTS).exists():
                train(folder, files, settings)
            result.write_text(json.dumps(_measure(folder, data / f"test.{ending}")))
        rows.append((name, json.loads(result.read_text())))
    click.echo("| variant | Acc@1 | Recall@5 | PPL | Acc@1 unseen | can be written | minutes |")
    click.echo("|---|---|---|---|---|---|---|")
    for name, found in rows:
        every, unseen = found["all"], found["unseen"]
        low, value, high = (100 * every["accuracy"][key] for key in ("low", "value", "high"))
        click.echo(
            f"| {name} | {value:.2f} ({low:.1f} – {high:.1f}) | {100 * every['recall@5']['value']:.2f} "
            f"| {every['perplexity']:.4f} | {100 * unseen['accuracy']['value']:.2f} | {100 * every['ceiling']:.1f} "
            f"| {math.ceil(found['seconds'] / 60)} |"
        )


def _measure(folder: Path, test: Path) -> dict[str, Any]:
    report = EvaluationReport()
    trained = model.load(folder)
    trees = model.needs_trees(trained.config)
    for _ in answer_all(
        trained, edit_files.read(test, trees=trees), report, seen=TrainingDigests.load(folder / TRAINING_DIGESTS)
    ):
        pass
    *_, last = (json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines())
    return {"all": report.all.as_json(5), "unseen": report.unseen.as_json(5), "seconds": last["seconds"]}


if __name__ == "__main__":
    main()
