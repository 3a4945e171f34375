"""`editvec train`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from editvec.training import Progress

_PLAIN_EVERY = 30.0


@click.command()
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="Folder of the run.")
@click.option("--train", type=click.Path(path_type=Path), help="File of edits to train on.")
@click.option(
    "--dev",
    type=click.Path(path_type=Path),
    help="File of edits to measure progress on.  [default: one of twenty edits is held out]",
)
@click.option("--encoder", help="Encoder: sequence, graph, bag or none.")
@click.option("--editor", help="Editor: seq2seq or graph2tree.")
@click.option("--recipe", default="default", show_default=True, help="Settings to start from: default or iclr19.")
@click.option("--config", type=click.Path(path_type=Path), help="TOML file with settings, instead of a recipe.")
@click.option("--init", help="Model to start from (a folder, or packaged); sizes and tokens stay, pieces can be added.")
@click.option("--resume", is_flag=True, help="Continue the run in the folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def train(out: Path, as_json: bool, **options: Any) -> None:
    r"""Train an encoder and an editor on a file of edits. Needs editvec[train].

    The folder of the run is a usable model after the first epoch. Ctrl-C saves the state, and --resume continues
    exactly there, also after a crash (at most a minute is lost). KEY=VALUE are settings; the run's config.toml lists
    them all. With --init and another --editor, a new editor is trained. If it is trained with editor_only=true into the
    folder editors/NAME of a model, that model uses it as a second editor when it edits by example.

    \b
    editvec train --train train.jsonl.gz --dev dev.jsonl.gz -o runs/mine
    editvec train --train edits.jsonl.gz -o runs/bag --encoder bag --recipe iclr19 epochs=10 fraction=0.2
    editvec train -o runs/mine --resume
    editvec train --init packaged --train edits.jsonl.gz -o runs/ours epochs=3
    editvec train --init runs/ours --editor graph2tree --train edits.jsonl.gz -o runs/ours/editors/graph2tree \
        editor_only=true
    torchrun --nproc-per-node 2 -m editvec train --train train.jsonl.gz -o runs/two
    """
    from editvec.cli.terminal import print_json
    from editvec.core.errors import StoppedError
    from editvec.training.training import require_extra
    from editvec.training.training import train as run

    require_extra()
    from editvec.training import CHECKPOINT, OtherFailedError, leads

    try:
        with watching() as (watch, notice):
            state = run(out=out, watch=watch, notice=notice, **options)
    except OtherFailedError as error:
        raise click.exceptions.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        saved = (out / CHECKPOINT).exists()
        how = "stopped and saved. Use --resume to continue." if saved else "stopped before the training began."
        raise StoppedError(how) from None
    if not leads():
        return
    if as_json:
        print_json({"folder": str(out), "best_epoch": state.best_epoch, "metrics": state.metrics})
    elif state.best is not None:
        click.echo(f"{out}: dev perplexity {state.best:.4f} after epoch {state.best_epoch} of {state.epoch}")


@contextmanager
def watching() -> Iterator[tuple[Callable[[Progress], None], Callable[[str], None]]]:
    """Yield functions that show progress and messages: a live line on a terminal, otherwise a line every 30 seconds."""
    import time

    def notice(text: str) -> None:
        click.echo(text, err=True)

    if sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
            yield (lambda progress: live.update(Text(_line(progress)))), notice
        return
    last = 0.0

    def plain(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= _PLAIN_EVERY:
            last = time.monotonic()
            notice(_line(progress))

    yield plain, notice


def _line(progress: Progress) -> str:
    left = int(progress.seconds_left)
    best = "" if progress.best is None else f"  dev ppl {progress.best:.4f} (best; stalled {progress.stalled})"
    return (
        f"epoch {progress.epoch}/{progress.epochs}  {progress.done / max(1, progress.total):4.0%}  "
        f"loss {progress.loss:.3f}  ppl {progress.perplexity:.4f}{best}  "
        f"{progress.edits_per_second:.0f} edits/s  {left // 60}:{left % 60:02d} left in this epoch"
    )
