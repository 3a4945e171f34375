"""Make the paper's tables and figures again."""

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
    """The tables that were made."""

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
    """Make the paper's tables and figures again: train what is missing, reuse what is there, compare.

    `tables` are names or places in the paper such as "table4"; all by default. `fraction` of all edits is used; up to
    0.05, models are small, only to see that everything runs. With `budget_only`, `notice` is told what is to be trained
    and how long it takes, and nothing is made. Interrupted, the same call goes on.

    Raises:
        UserError: There is no such table, or no data.
    """
    names = list(dict.fromkeys(named(name) for name in tables or TABLES))
    if data is None or not data.is_dir():
        raise UserError("say where the data is with --data FOLDER or $EDITVEC_DATA.")
    artifacts = Artifacts(out, data, fraction, epochs, limit, dict(map(setting, set)), notice, watch)
    to_train = budget(artifacts, names)
    for name, seconds in to_train:
        notice(f"to train: {name}, about {describe_time(seconds)}")
    if to_train:
        notice(f"in all about {describe_time(sum(seconds for _, seconds in to_train))} of training")
    done = Reproduced()
    if budget_only:
        return done
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        done.tables.append(make(artifacts, name))
        done.report = _write(done.tables, artifacts, out)
    return done


def _write(done: list[Table], artifacts: Artifacts, out: Path) -> Path:
    """Write the report after each table, so that what is done can be read."""
    limit = f", the first {artifacts.limit:,} test edits" if artifacts.limit else ""
    head = f"Trained on {artifacts.fraction:.0%} of the training sets, at most {artifacts.num_epochs} epochs{limit}."
    if artifacts.is_smoke:
        head += " Small models that have hardly learned anything: this shows that it runs; the numbers say nothing."
    write_atomically(out / "report.md", pages.markdown(done, head=head).encode("utf-8", "replace"))
    write_atomically(out / "report.html", pages.html(done, head=head, folder=out).encode("utf-8", "replace"))
    return out / "report.html"
