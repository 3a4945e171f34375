"""`editvec train`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.training import Progress

_PLAIN_EVERY = 30.0


@click.command()
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("-o", "--out", "folder", required=True, type=click.Path(path_type=Path), help="The run's folder.")
@click.option("--train", "train_file", type=click.Path(path_type=Path), help="The edits to learn from.")
@click.option(
    "--dev",
    "dev_file",
    type=click.Path(path_type=Path),
    help="The edits to measure progress with; without it, one edit in twenty is held out.",
)
@click.option("--encoder", help="sequence, graph, bag or none.")
@click.option("--editor", help="seq2seq or graph2tree.")
@click.option("--recipe", default="default", show_default=True, help="Settings to start from: default or iclr19.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Settings from a TOML file instead.")
@click.option("--init", help="Begin as this model (a folder, or packaged) and learn on; its sizes and vocabulary stay.")
@click.option("--resume", "resuming", is_flag=True, help="Go on with the run in the folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def train(
    settings: tuple[str, ...],
    folder: Path,
    train_file: Path | None,
    dev_file: Path | None,
    encoder: str | None,
    editor: str | None,
    recipe: str,
    config_file: Path | None,
    init: str | None,
    resuming: bool,
    as_json: bool,
) -> None:
    """Train an encoder and an editor on a file of edits.

    The run's folder is a model as soon as one epoch is over. Ctrl-C saves where it is; --resume goes on exactly there,
    also after a crash (at most a minute is lost). Settings are those of config.toml. With --init and another --editor,
    that editor is new; in the folder second of a model, trained with editor_only=true, it writes beside the model's own
    wherever an edit is made like others.

    \b
    editvec train --train train.jsonl.gz --dev dev.jsonl.gz -o runs/mine
    editvec train --train edits.jsonl.gz -o runs/bag --encoder bag --recipe iclr19 epochs=10 fraction=0.2
    editvec train -o runs/mine --resume
    editvec train --init packaged --train edits.jsonl.gz -o runs/ours epochs=3
    editvec train --init runs/ours --editor graph2tree --train edits.jsonl.gz -o runs/ours/second editor_only=true
    torchrun --nproc-per-node 2 -m editvec train --train train.jsonl.gz -o runs/two
    """
    from editvec.cli.terminal import print_json
    from editvec.core.errors import StoppedError, UserError
    from editvec.data.extras import require

    for module in ("torch", "pyarrow"):
        require(module, extra="train", what="Training runs")
    from editvec.neural import config as configuration
    from editvec.neural.model import load
    from editvec.training import CHECKPOINT, Files, OtherFailedError, leads, resume
    from editvec.training import train as start

    if resuming and (settings or train_file or dev_file or encoder or editor or config_file or init):
        raise UserError("--resume goes on with the run as it was begun: leave its settings and files out.")
    if train_file is None and not resuming:
        raise UserError("give the edits to learn from with --train FILE.")
    config = configuration.load(config_file) if config_file else configuration.recipe(recipe)
    chosen = dict(setting(text) for text in settings)
    chosen |= {key: value for key, value in (("encoder", encoder), ("editor", editor)) if value}
    config = configuration.with_settings(config, chosen)
    try:
        with watching() as (watch, notice):
            if train_file is None:
                state = resume(folder, watch=watch)
            else:
                begin = load(init) if init else None
                files = Files(train_file, dev_file)
                state = start(folder, files, config, init=begin, editor=editor, watch=watch, notice=notice)
    except OtherFailedError as error:
        raise click.exceptions.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        saved = (folder / CHECKPOINT).exists()
        how = "stopped and saved. --resume goes on exactly from there." if saved else "stopped before training began."
        raise StoppedError(how) from None
    if not leads():
        return
    if as_json:
        print_json({"folder": str(folder), "best_epoch": state.best_epoch, "metrics": state.metrics})
    elif state.best is not None:
        click.echo(f"{folder}: dev perplexity {state.best:.4f} after epoch {state.best_epoch} of {state.epoch}")


def setting(text: str) -> tuple[str, str]:
    """A setting as the command line has it."""
    from editvec.core.errors import UserError

    key, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"{text!r} is no setting. Write KEY=VALUE, such as epochs=10.")
    return key.strip(), value.strip()


@contextmanager
def watching() -> Iterator[tuple[Callable[[Progress], None], Callable[[str], None]]]:
    """A live line on a terminal; elsewhere a plain one now and then."""
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
