"""How fast a trained model encodes edits and decodes them with a beam, and how far from the machine's wall.

The wall is what the matrix products of a full beam take alone at the speed of torch's matrix multiplication, measured
in the same run; a search that drops hypotheses can pass it. The peer is the original code: 14.7 edits/s with beam 5.

    python benchmarks/decode.py runs/mine --data data/githubedits/test.jsonl.gz
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import click

from editvec import model, store
from editvec.edit import Edit
from editvec.evaluation import metrics
from editvec.model import Candidate, EditModel
from editvec.tensors.example import Example, TooLongError
from wall import lstm_flops, matmul_gflops

ORIGINAL = 14.7


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path), help="Edits to decode.")
@click.option("--edits", default=2048, show_default=True, help="How many of them to take.")
@click.option("-k", "beam", default=5, show_default=True)
def main(folder: Path, data: Path, edits: int, beam: int) -> None:
    """Time encoding and decoding."""
    trained = model.load(folder)
    if model.needs_trees(trained.config):
        raise click.UsageError("the walls of models that read trees are not worked out yet. Give a seq2seq model.")
    pairs = list(_examples(trained, islice(store.read(data, trees=False), edits)))
    examples = [example for _, example in pairs]
    trained.encode_examples(examples[:256])
    start = time.perf_counter()
    vectors = trained.encode_examples(examples)
    encoding = len(examples) / (time.perf_counter() - start)
    wall = matmul_gflops() * 1e9 / _encoding_flops(trained, examples)
    click.echo(f"encoding: {encoding:.0f} edits/s = {encoding / wall:.0%} of the wall ({wall:.0f})")
    for margin in (math.inf, model.MARGIN):
        trained.write(examples[:64], vectors[:64], k=beam, margin=margin)
        start = time.perf_counter()
        answers = trained.write(examples, vectors, k=beam, margin=margin)
        speed = len(examples) / (time.perf_counter() - start)
        wall = matmul_gflops() * 1e9 / _decoding_flops(trained, examples, beam)
        right = _right([edit for edit, _ in pairs], answers, beam)
        click.echo(
            f"beam {beam}, margin {margin:g}: {speed:.0f} edits/s = {speed / wall:.0%} of the wall ({wall:.0f}), "
            f"{speed / ORIGINAL:.1f} × the original code; {right}"
        )


def _examples(trained: EditModel, edits: islice[Edit]) -> list[tuple[Edit, Example]]:
    found = []
    for edit in edits:
        try:
            found.append((edit, trained.exampler(edit)))
        except TooLongError:
            continue
    return found


def _right(edits: Sequence[Edit], answers: Sequence[Sequence[Candidate]], beam: int) -> str:
    ranks = [
        metrics.rank_of(edit.model_after, [candidate.tokens for candidate in found])
        for edit, found in zip(edits, answers, strict=True)
    ]
    return f"Acc@1 {metrics.hits(ranks, 1).mean():.2%}, Recall@{beam} {metrics.hits(ranks, beam).mean():.2%}"


def _encoding_flops(trained: EditModel, examples: Sequence[Example]) -> float:
    """An edit, on average."""
    made = trained.config
    if made.encoder != "sequence":
        return math.nan
    tokens = sum(len(example.before) + len(example.after) for example in examples)
    places = sum(max(1, (example.tags != 0).sum() if made.changed_only else len(example.tags)) for example in examples)
    total = 2 * tokens * lstm_flops(made.embed_dim, made.embed_dim // 2)
    total += 2 * places * lstm_flops(made.tag_dim + 2 * made.embed_dim, made.edit_dim // 2)
    return float(total / len(examples))


def _decoding_flops(trained: EditModel, examples: Sequence[Example], beam: int) -> float:
    """An edit, on average, with a full beam at every step."""
    made = trained.config
    steps = sum(len(example.after) for example in examples) / len(examples)
    width = made.embed_dim if made.tied else made.hidden_dim
    generator = 2 * width * (made.head_size or len(trained.vocab))
    return beam * steps * (generator + lstm_flops(made.embed_dim, made.hidden_dim))


if __name__ == "__main__":
    main()
