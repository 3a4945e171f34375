"""Train a model on a file of edits, or resume a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from editvec.core.errors import UserError
from editvec.data.extras import require
from editvec.neural.model import load
from editvec.training import config as configuration

if TYPE_CHECKING:
    from editvec.training.checkpoint import RunState
    from editvec.training.loop import Progress


def train(
    settings: Sequence[str] = (),
    *,
    out: Path,
    train: Path | None = None,
    dev: Path | None = None,
    encoder: str | None = None,
    editor: str | None = None,
    recipe: str = "default",
    config: Path | None = None,
    init: str | Path | None = None,
    resume: bool = False,
    watch: Callable[[Progress], None] = lambda progress: None,
    notice: Callable[[str], None] = lambda text: None,
) -> RunState:
    """Train an encoder and an editor on a file of edits; `out` holds a model after the first epoch.

    Settings such as "epochs=3" change the recipe, or the TOML file `config`. Without `dev`, one edit in twenty is held
    out. With `init`, training begins with the weights of another model. `resume` continues an interrupted run exactly
    where it stopped. `watch` is called with the progress, and `notice` with messages for the user.

    Raises:
        UserError: A setting is invalid, the folder already holds a run or a model, or the extra `train` is missing.

    Examples:
        >>> import editvec
        >>> state = editvec.train(out=Path("runs/mine"), train=Path("labelled.jsonl.gz"), config=Path("small.toml"))
        >>> state.best_epoch
        1
    """
    require_extra()
    from editvec.training.run import Files
    from editvec.training.run import resume as go_on
    from editvec.training.run import train as begin

    if resume:
        if settings or train or dev or encoder or editor or config or init:
            raise UserError("--resume continues the run with its own settings and files. Do not give any others.")
        return go_on(out, watch=watch)
    if train is None:
        raise UserError("no training edits. Give a file with --train.")
    chosen = dict(setting(text) for text in settings)
    chosen |= {key: value for key, value in (("encoder", encoder), ("editor", editor)) if value}
    base = configuration.load(config) if config else configuration.recipe(recipe)
    whole = configuration.with_settings(base, chosen)
    start = load(init) if init else None
    return begin(out, Files(train, dev), whole, init=start, editor=editor, watch=watch, notice=notice)


def require_extra() -> None:
    """Check that the packages of the extra `train` are installed.

    Raises:
        UserError: One of them is missing; the message has the pip command.
    """
    for module in ("torch", "pyarrow"):
        require(module, extra="train", what="Trainings")


def setting(text: str) -> tuple[str, str]:
    """Return the key and the value of a setting such as "epochs=3".

    Raises:
        UserError: The text has no equals sign.
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"{text!r} is not a setting. Write KEY=VALUE, for example epochs=10.")
    return key.strip(), value.strip()
