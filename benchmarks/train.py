"""Measure the speed and the memory of training for several models, in one table.

The results are compared with the limit of the machine: the time that only the matrix products take at the speed of
torch's matrix multiplication and LSTM, measured in the same run. The baseline is the original code with the sizes of
the paper and batches of 32, on a machine of this kind: 25.1 edits/s (seq2seq) and 17.4 edits/s (graph2tree), 47.1 and
29.9 edits/s with its pointer layer repaired, and 5 GB of memory.

    python benchmarks/train.py --data data/githubedits/train.jsonl.gz
    python benchmarks/train.py --data train.parquet --profile graph2tree+graph
    python benchmarks/train.py --data train.parquet seq2seq+sequence recipe=default head_size=2000
    python benchmarks/train.py --data train.parquet --init runs/seq2seq

The last command continues with the weights of a run. A model that has learned what to copy needs its generator for few
tokens, so later epochs are faster than the first steps, which the other commands measure.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import click
import torch
from msgspec import structs
from torch.profiler import ProfilerActivity, profile

from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.neural import vocab
from editvec.neural.batch import EDGE_TYPES, Batch
from editvec.neural.config import ModelConfig
from editvec.neural.examples import Example, Exampler, NoTreeError, TooLongError
from editvec.neural.grammar import UnseenError, edit_trees, learn
from editvec.neural.layers.packing import Edges, Ints, Wiring
from editvec.neural.model import EditModel, load, needs_trees
from editvec.neural.vocab import PAD
from editvec.syntax.tree import Tree
from editvec.training import config
from editvec.training.config import Config
from editvec.training.corpus import Corpus, Lesson, build_corpus, epoch_batches
from editvec.training.loop import Trainer
from wall import lstm_flops, lstm_gflops, matmul_gflops

ORIGINAL = {"seq2seq": 25.1, "graph2tree": 17.4}
PAIRS = (
    "seq2seq+sequence",
    "seq2seq+graph",
    "seq2seq+bag",
    "graph2tree+sequence",
    "graph2tree+graph",
    "graph2tree+bag",
)


class Speed(NamedTuple):
    edits: float
    """A second."""
    wall: float
    """Edits a second if only the matrix products took time."""
    examples: float
    """Made of edits, a second."""
    peak: int
    """Bytes."""
    profile: str


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path), help="Edits to train on.")
@click.option("--edits", default=6_000, show_default=True, help="Number of edits to use.")
@click.option("--steps", default=60, show_default=True, help="Number of steps to measure.")
@click.option(
    "--init",
    type=click.Path(exists=True, path_type=Path),
    help="Continue with the model of a run, with the recipe iclr19.",
)
@click.option("--profile", "profiled", is_flag=True, help="Print a profile of the time.")
@click.argument("what", nargs=-1, metavar="[EDITOR+ENCODER]... [KEY=VALUE]...")
def main(data: Path, edits: int, steps: int, init: Path | None, profiled: bool, what: tuple[str, ...]) -> None:
    """Measure the speed and the memory of training steps for each model, and print one table."""
    settings = dict(each.split("=", 1) for each in what if "=" in each)
    pairs = [each for each in what if "=" not in each] or PAIRS
    if init is not None:
        made = config.load(init / "config.toml").model
        pairs = [f"{made.editor}+{made.encoder}"]
    click.echo(f"{' '.join(f'{key}={value}' for key, value in settings.items()) or 'recipe=iclr19'}")
    click.echo("| model | edits/s | of the wall | × original | examples/s | peak |\n|---|---|---|---|---|---|")
    for pair in pairs:
        editor, _, encoder = pair.partition("+")
        # A process each, for a peak of its own.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            chosen = settings | {"editor": editor, "encoder": encoder}
            found = pool.submit(_measure, data, edits, steps, chosen, init, profiled).result()
        click.echo(
            f"| {pair} | {found.edits:.0f} | {found.edits / found.wall:.0%} of {found.wall:.0f} "
            f"| {found.edits / ORIGINAL[editor]:.1f} | {found.examples:.0f} | {found.peak / 1e6:.0f} MB |"
        )
        if profiled:
            click.echo(found.profile)


def _measure(data: Path, edits: int, steps: int, settings: dict[str, str], init: Path | None, profiled: bool) -> Speed:
    recipe = config.with_settings(config.recipe(settings.pop("recipe", "iclr19")), settings)
    with tempfile.TemporaryDirectory() as folder:
        trainer, examples = _trainer(recipe, init, data, edits, Path(folder))
        speed, wall = _time(trainer, steps)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Speed(speed, wall, examples, memory, _profile(trainer, min(steps, 10)) if profiled else "")


def _trainer(made: Config, init: Path | None, data: Path, number: int, folder: Path) -> tuple[Trainer, float]:
    """A trainer on the file's first edits, and how fast its examples were made."""
    model = _new(made.model, data, number) if init is None else load(init)
    edits = list(islice(edit_files.read(data, trees=needs_trees(model.config)), number))
    start = time.perf_counter()
    exampler = replace(model.exampler, signatures=made.training.vector_swap > 0)
    corpus = build_corpus(folder / "train.arrow", _examples(exampler, iter(edits)))
    speed = number / (time.perf_counter() - start)
    return Trainer(model, structs.replace(made, model=model.config), corpus, corpus, folder), speed


def _new(settings: ModelConfig, data: Path, number: int) -> EditModel:
    """A model with a vocabulary of the full size."""
    counts = vocab.count_tokens(islice(edit_files.read(data, trees=False), 8 * number))
    words = vocab.build(counts, size=settings.vocab_size, min_count=1)
    grammar = None
    if needs_trees(settings):
        grammar = learn(_trees(islice(edit_files.read(data), number), settings.trees == "parsed"))
    model = EditModel(settings, words, grammar)
    model.network.initialise(0)
    return model


def _trees(edits: Iterable[Edit], parsed: bool) -> list[Tree]:
    found: list[Tree] = []
    for edit in edits:
        try:
            found += edit_trees(edit, parsed=parsed)
        except UnseenError:
            continue
    return found


def _examples(exampler: Exampler, edits: Iterator[Edit]) -> Iterator[Example]:
    for edit in edits:
        try:
            yield exampler(edit)
        except (TooLongError, NoTreeError):
            continue


def _batches(trainer: Trainer, corpus: Corpus) -> Iterator[Lesson]:
    settings = trainer.settings
    return epoch_batches(
        corpus,
        seed=0,
        epoch=0,
        batch_edits=settings.batch_edits,
        batch_tokens=settings.batch_tokens,
        vector_swap=settings.vector_swap,
    )


def _time(trainer: Trainer, steps: int) -> tuple[float, float]:
    """Edits a second, and at the wall; in ten parts, with the machine's speed measured between them."""
    torch.set_flush_denormal(True)
    batches = _batches(trainer, trainer.corpus)
    for lesson in islice(batches, 5):
        trainer._step(trainer.learner, lesson)
    taken = walled = 0.0
    seen = 0
    for _ in range(10):
        some = list(islice(batches, steps // 10))
        start = time.perf_counter()
        for lesson in some:
            trainer._step(trainer.learner, lesson)
        taken += time.perf_counter() - start
        seen += sum(len(lesson.edits) for lesson in some)
        products, recurrent = matmul_gflops(), lstm_gflops()
        for lesson in some:
            dense, loops = _flops(
                trainer.model, trainer.model.collate(lesson.edits), again=lesson.demonstrations is not None
            )
            walled += (dense / products + loops / recurrent) / 1e9
    return seen / taken, seen / walled


def _flops(model: EditModel, batch: Batch, *, again: bool) -> tuple[float, float]:
    """Of a training step: the large matrix products, and the LSTMs. What padding costs is not counted. `again` is for
    edits whose vectors are others', so that both versions of those are read too (about as long)."""
    made = model.config
    embed, hidden, edit = made.embed_dim, made.hidden_dim, model.edit_dim
    read, after = int(batch.source.before.lengths.sum()), int(batch.target.after.lengths.sum())
    if made.context:
        read += int(batch.source.context.lengths.sum())
    dense, loops = 0.0, 0.0
    steps = batch.target.steps
    if made.editor == "seq2seq":
        written = batch.target.after.ids[batch.target.after.mask]
        loops += after * lstm_flops(embed + edit, hidden)
    else:
        assert steps is not None and batch.source.graph is not None
        written = steps.written.ids[steps.written.ids != PAD]
        actions = int(steps.slots.lengths.sum())
        loops += actions * lstm_flops(embed + made.tag_dim + hidden + edit, hidden)
        dense += _graph_flops(made, batch.source.graph.kinds, batch.source.graph.edges)
        dense += 2.0 * actions * hidden * (len(model.grammar.labels) if model.grammar else 0)
    if made.encoder in ("sequence", "graph"):
        read += after + (int(batch.source.before.lengths.sum()) if again else 0)
    if made.encoder == "sequence":
        loops += 2 * int(batch.alignment.tags.lengths.sum()) * lstm_flops(made.tag_dim + 2 * embed, edit // 2)
    elif made.encoder == "graph":
        assert batch.graph is not None
        dense += _graph_flops(made, batch.graph.kinds, batch.graph.edges)
    loops += 2 * read * lstm_flops(embed, embed // 2)
    known = len(model.vocab)
    width = embed if made.tied else hidden
    head = made.head_size or known
    rare = int(((written >= head) & (written < known)).sum()) if made.head_size else 0
    dense += 2.0 * len(written) * width * head + 2.0 * rare * made.tail_dim * (known - head)
    return 3 * dense, 3.0 * loops


def _graph_flops(made: ModelConfig, nodes: Ints, edges: Edges) -> float:
    """Of all rounds: a message for each relay, and a GRU."""
    relays = sum(Wiring.of(edges, len(nodes), len(EDGE_TYPES)).sizes)
    return made.graph_layers * made.graph_steps * 2.0 * made.embed_dim**2 * (relays + 6 * len(nodes))


def _profile(trainer: Trainer, steps: int) -> str:
    with profile(activities=[ProfilerActivity.CPU]) as found:
        for lesson in islice(_batches(trainer, trainer.corpus), steps):
            trainer._step(trainer.learner, lesson)
    return str(found.key_averages().table(sort_by="self_cpu_time_total", row_limit=16, max_name_column_width=36))


if __name__ == "__main__":
    main()
