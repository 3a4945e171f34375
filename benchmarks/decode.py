"""Measure how fast trained models encode edits and decode them with a beam, in edits per second.

The results are compared with the limit of the machine: the time that only the matrix products of a full beam take at
the speed of torch's matrix multiplication, measured in the same run. A search that drops hypotheses can exceed this
limit. The baseline is the original code with a beam of 5: 14.7 edits/s (seq2seq) and 8.4 edits/s (graph2tree).

    python benchmarks/decode.py runs/seq2seq runs/graph2tree --data data/githubedits/test.jsonl.gz
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import click

from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.evaluation import metrics
from editvec.neural import model
from editvec.neural.candidate import Candidate
from editvec.neural.examples import Example, NoTreeError, TooLongError
from editvec.neural.model import EditModel
from editvec.neural.vocab import PAD
from wall import lstm_flops, matmul_gflops

ORIGINAL = {"seq2seq": 14.7, "graph2tree": 8.4}


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path), help="Edits to decode.")
@click.option("--edits", default=2048, show_default=True, help="Number of edits to use.")
@click.option("-k", "beam", default=5, show_default=True, help="Width of the beam.")
def main(folders: tuple[Path, ...], data: Path, edits: int, beam: int) -> None:
    """Measure the speed of encoding and decoding for each model, and print one table."""
    click.echo(
        f"| model | encoding, edits/s | margin | beam {beam}, edits/s | of the wall | × original | Acc@1 "
        f"| Recall@{beam} |\n|---|---|---|---|---|---|---|---|"
    )
    for folder in folders:
        trained = model.load(folder)
        made = trained.config
        pairs = list(_examples(trained, islice(edit_files.read(data, trees=model.needs_trees(made)), edits)))
        examples = [example for _, example in pairs]
        trained.encode_examples(examples[:256])
        start = time.perf_counter()
        vectors = trained.encode_examples(examples)
        encoding = len(examples) / (time.perf_counter() - start)
        for margin in (math.inf, model.MARGIN):
            trained.write(examples[:64], vectors[:64], k=beam, margin=margin)
            start = time.perf_counter()
            answers = trained.write(examples, vectors, k=beam, margin=margin)
            speed = len(examples) / (time.perf_counter() - start)
            wall = matmul_gflops() * 1e9 / _decoding_flops(trained, examples, beam)
            click.echo(
                f"| {folder.name}: {made.editor}+{made.encoder} | {encoding:.0f} | {margin:g} | {speed:.0f} "
                f"| {speed / wall:.0%} of {wall:.0f} | {speed / ORIGINAL[made.editor]:.1f} "
                f"| {_right([edit for edit, _ in pairs], answers, beam)} |"
            )


def _examples(trained: EditModel, edits: islice[Edit]) -> list[tuple[Edit, Example]]:
    found = []
    for edit in edits:
        try:
            found.append((edit, trained.exampler(edit)))
        except (TooLongError, NoTreeError):
            continue
    return found


def _right(edits: Sequence[Edit], answers: Sequence[Sequence[Candidate]], beam: int) -> str:
    ranks = [
        metrics.rank_of(edit.model_after, [candidate.tokens for candidate in found])
        for edit, found in zip(edits, answers, strict=True)
    ]
    return f"{metrics.hits(ranks, 1).mean():.2%} | {metrics.hits(ranks, beam).mean():.2%}"


def _decoding_flops(trained: EditModel, examples: Sequence[Example], beam: int) -> float:
    """An edit, on average, with a full beam at every step."""
    made = trained.config
    width = made.embed_dim if made.tied else made.hidden_dim
    generator = 2 * width * (made.head_size or len(trained.vocab))
    total = 0.0
    for example in examples:
        if example.steps is None:
            total += len(example.after) * (generator + lstm_flops(made.embed_dim, made.hidden_dim))
        else:
            labels = 2 * width * len(trained.grammar.labels if trained.grammar else ())
            step = labels + lstm_flops(made.embed_dim + made.tag_dim + made.hidden_dim, made.hidden_dim)
            total += len(example.steps.slots) * step + int((example.steps.texts != PAD).sum()) * generator
    return beam * total / len(examples)


if __name__ == "__main__":
    main()
