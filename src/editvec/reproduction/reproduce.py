"""Reproduce the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from editvec.core.errors import UserError
from editvec.core.files import write_atomically
from editvec.reproduction import pages
from editvec.reproduction.artifacts import Artifacts, describe_time
from editvec.reproduction.tables import TABLES, Table, budget, make, named
from editvec.reproduction.tables import as_json as table_as_json
from editvec.training import Progress
from editvec.training.training import setting


@dataclass(slots=True)
class Reproduced:
    """The tables that were made, and the HTML report with them."""

    tables: list[Table] = field(default_factory=list)
    report: Path | None = None

    def as_json(self) -> list[dict[str, Any]]:
        """Return the tables as JSON values."""
        return [table_as_json(table) for table in self.tables]


def reproduce(
    tables: Sequence[str] = (),
    *,
    data: Path | None = None,
    out: Path = Path("reproduction"),
    fraction: float = 1.0,
    epochs: int | None = None,
    limit: int | None = None,
    set: Sequence[str] = (),
    budget_only: bool = False,
    watch: Callable[[Progress], None] = lambda progress: None,
    notice: Callable[[str], None] = lambda text: None,
) -> Reproduced:
    """Reproduce the paper's tables and figures: train missing models, reuse existing ones, compare the numbers.

    `tables` are names, or numbers in the paper such as "table4"; the default is all of them. Only the given `fraction`
    of all edits is used; up to 0.05, models are small, which only tests that everything runs. With `budget_only`,
    nothing is made; `notice` is called with the models to train and the time that they need. An interrupted call is
    continued by calling it again.

    Raises:
        UserError: A table or the data does not exist.

    Examples:
        >>> import editvec
        >>> editvec.reproduce(["editors"], data=Path("data"), budget_only=True, notice=print)
        to train: ...
    """
    names = list(dict.fromkeys(named(name) for name in tables or TABLES))
    if data is None or not data.is_dir():
        raise UserError("the data folder is missing. Give it with --data FOLDER or $EDITVEC_DATA.")
    artifacts = Artifacts(out, data, fraction, epochs, limit, dict(map(setting, set)), notice, watch)
    to_train = budget(artifacts, names)
    for name, seconds in to_train:
        notice(f"to train: {name}, about {describe_time(seconds)}")
    if to_train:
        notice(f"total training time: about {describe_time(sum(seconds for _, seconds in to_train))}")
    done = Reproduced()
    if budget_only:
        return done
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        done.tables.append(make(artifacts, name))
        done.report = _write(done.tables, artifacts, out)
    return done


def _write(done: list[Table], artifacts: Artifacts, out: Path) -> Path:
    """Write the report with the tables so far, and return the HTML file."""
    limit = f", the first {artifacts.limit:,} test edits" if artifacts.limit else ""
    head = f"Trained on {artifacts.fraction:.0%} of the training sets, at most {artifacts.num_epochs} epochs{limit}."
    if artifacts.is_smoke:
        head += (
            " The models are small and hardly trained: this run only tests that everything works. Ignore the numbers."
        )
    write_atomically(out / "report.md", pages.markdown(done, head=head).encode("utf-8", "replace"))
    write_atomically(out / "report.html", pages.html(done, head=head, folder=out).encode("utf-8", "replace"))
    return out / "report.html"
