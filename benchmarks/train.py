"""How fast and in how much memory training runs, and how far from the machine's wall.

The wall is the time that the matrix products alone would take at the speeds of torch's matrix multiplication and LSTM,
measured in the same run. The peer is the original code: 25.1 edits/s and 4.9 GB at the paper's sizes and batches of 32
on a machine of this kind (47.1 edits/s with its pointer layer mended).

    python benchmarks/train.py --data data/githubedits/train.jsonl.gz
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click
import torch
from torch.profiler import ProfilerActivity, profile

from editvec import config, store, vocab
from editvec.config import Config
from editvec.edit import Edit
from editvec.model import EditModel
from editvec.tensors.batch import Batch
from editvec.tensors.corpus import Corpus, build_corpus, epoch_batches
from editvec.tensors.example import Example, TooLongError
from editvec.training.loop import Trainer
from wall import lstm_flops, lstm_gflops, matmul_gflops

ORIGINAL = 25.1
MENDED = 47.1


class Speed(NamedTuple):
    edits: float
    """A second."""
    wall: float
    """Edits a second if only the matrix products took time."""


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path), help="Edits to train on.")
@click.option("--edits", default=12_000, show_default=True, help="How many of them to take.")
@click.option("--steps", default=120, show_default=True, help="Steps to time.")
@click.option("--recipe", default="iclr19", show_default=True)
@click.option("--encoder", type=click.Choice(["sequence", "bag", "none"]), default="sequence", show_default=True)
@click.option("--profile", "profiled", is_flag=True, help="Say where the time goes.")
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
def main(
    data: Path,
    edits: int,
    steps: int,
    recipe: str,
    encoder: str,
    profiled: bool,
    settings: tuple[str, ...],
) -> None:
    """Time training steps."""
    chosen = {"encoder": encoder} | dict(setting.split("=", 1) for setting in settings)
    made = config.with_settings(config.recipe(recipe), chosen)
    with tempfile.TemporaryDirectory() as folder:
        trainer = _trainer(made, data, edits, Path(folder))
        speed = _time(trainer, steps)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        name = f"seq2seq + {encoder}, {recipe} {' '.join(settings)}"
        click.echo(
            f"{name}: {speed.edits:.0f} edits/s = {speed.edits / speed.wall:.0%} of the wall ({speed.wall:.0f}), "
            f"{speed.edits / ORIGINAL:.1f} × the original code, {speed.edits / MENDED:.1f} × mended; "
            f"peak {memory / 1e6:.0f} MB"
        )
        if profiled:
            _profile(trainer, min(steps, 30))


def _trainer(made: Config, data: Path, number: int, folder: Path) -> Trainer:
    """A trainer on the file's first edits, with a vocabulary of the full size."""
    settings = made.model
    counts = vocab.count_tokens(islice(store.read(data, trees=False), number))
    words = vocab.build(counts, size=settings.vocab_size, min_count=1)
    torch.manual_seed(0)
    model = EditModel(settings, words)
    corpus = build_corpus(folder / "train.arrow", _examples(model, islice(store.read(data, trees=False), number)))
    return Trainer(model, made, corpus, corpus, folder)


def _examples(model: EditModel, edits: Iterator[Edit]) -> Iterator[Example]:
    for edit in edits:
        try:
            yield model.exampler(edit)
        except TooLongError:
            continue


def _batches(trainer: Trainer, corpus: Corpus) -> Iterator[list[Example]]:
    settings = trainer.settings
    return epoch_batches(corpus, seed=0, epoch=0, batch_edits=settings.batch_edits, batch_tokens=settings.batch_tokens)


def _time(trainer: Trainer, steps: int) -> Speed:
    """Steps in ten parts, with the machine's speed measured between them."""
    torch.set_flush_denormal(True)
    batches = _batches(trainer, trainer.corpus)
    for examples in islice(batches, 5):
        trainer._step(trainer.model.network, examples)
    taken = walled = 0.0
    seen = 0
    for _ in range(10):
        some = list(islice(batches, steps // 10))
        start = time.perf_counter()
        for examples in some:
            trainer._step(trainer.model.network, examples)
        taken += time.perf_counter() - start
        seen += sum(map(len, some))
        products, recurrent = matmul_gflops(), lstm_gflops()
        for examples in some:
            dense, loops = _flops(trainer.model, trainer.model.collate(examples))
            walled += (dense / products + loops / recurrent) / 1e9
    return Speed(seen / taken, seen / walled)


def _flops(model: EditModel, batch: Batch) -> tuple[float, float]:
    """Of a training step: the large matrix products, and the LSTMs. What padding costs is not counted."""
    made = model.config
    embed, hidden, edit = made.embed_dim, made.hidden_dim, model.edit_dim
    read = int(batch.source.before.lengths.sum())
    targets = int(batch.target.after.lengths.sum())
    if made.context:
        read += int(batch.source.context.lengths.sum())
    loops = targets * lstm_flops(embed + edit, hidden)
    if made.encoder == "sequence":
        read += targets
        loops += 2 * int(batch.alignment.tags.lengths.sum()) * lstm_flops(made.tag_dim + 2 * embed, edit // 2)
    loops += 2 * read * lstm_flops(embed, embed // 2)
    known = len(model.vocab)
    width = embed if made.tied else hidden
    head = made.head_size or known
    rare = int(((batch.target.after.ids >= head) & (batch.target.after.ids < known)).sum()) if made.head_size else 0
    dense = 2.0 * targets * width * head + 2.0 * rare * made.tail_dim * (known - head)
    return 3 * dense, 3.0 * loops


def _profile(trainer: Trainer, steps: int) -> None:
    with profile(activities=[ProfilerActivity.CPU]) as found:
        for examples in islice(_batches(trainer, trainer.corpus), steps):
            trainer._step(trainer.model.network, examples)
    click.echo(found.key_averages().table(sort_by="self_cpu_time_total", row_limit=14, max_name_column_width=36))


if __name__ == "__main__":
    main()
