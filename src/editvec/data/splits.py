"""Splits of an edit file into train, dev and test, and the leak between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.core.files import make_folder
from editvec.data import edit_files

NAMES = ("train", "dev", "test")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER = datetime.max.replace(tzinfo=UTC)


def group_key(by: str) -> Callable[[Edit], str]:
    """What must not be on two sides: an edit's commit, or its project."""

    def key(edit: Edit) -> str:
        if edit.source is None:
            raise UserError(
                f"edit {edit.id} has no source, so there is nothing to split by. Mine it, or use --by edit."
            )
        return f"{edit.source.repository} {edit.source.commit}" if by == "commit" else edit.source.repository

    return (lambda edit: edit.id) if by == "edit" else key


def assign_by_group(by: str, shares: Sequence[float], seed: int) -> Callable[[Edit], int]:
    """Which side an edit goes to, by a hash of its group: the same group always goes to the same side."""
    key = group_key(by)
    bounds = [sum(shares[: at + 1]) / sum(shares) for at in range(len(shares))]

    def assign(edit: Edit) -> int:
        digest = blake2b(f"{seed} {key(edit)}".encode("utf-8", "replace"), digest_size=8).digest()
        place = int.from_bytes(digest) / 2**64
        return next((at for at, bound in enumerate(bounds) if place < bound), len(bounds) - 1)

    return assign


def assign_by_time(edits: Iterable[Edit], shares: Sequence[float]) -> Callable[[Edit], int]:
    """Which side an edit goes to, by its date: the oldest ones train. Edits of one moment stay together."""
    dates = sorted(_date(edit) for edit in edits)
    if not dates:
        return lambda edit: 0
    bounds = []
    for at in range(len(shares) - 1):
        place = int(sum(shares[: at + 1]) / sum(shares) * len(dates))
        bounds.append(dates[place] if place < len(dates) else _NEVER)
    return lambda edit: sum(_date(edit) >= bound for bound in bounds)


def _date(edit: Edit) -> datetime:
    if edit.source is None or edit.source.author_date is None:
        raise UserError(f"edit {edit.id} has no date. Split by commit or project instead.")
    return max(edit.source.author_date, _EPOCH)


def token_hash(edit: Edit) -> int:
    """What makes two edits verbatim the same to a model: a digest of the tokens before and after."""
    return int.from_bytes(
        blake2b(repr((edit.model_before, edit.model_after)).encode("utf-8", "replace"), digest_size=8).digest()
    )


@dataclass(slots=True)
class Leak:
    """How many edits of a side occur verbatim in an earlier side (train, then dev)."""

    counts: Counter[str]
    leaked: Counter[str]

    def share(self, name: str) -> float:
        """The leaked part of a side."""
        return self.leaked[name] / self.counts[name] if self.counts[name] else 0.0


def mark_leaks(sides: Sequence[tuple[str, Callable[[], Iterable[Edit]]]]) -> tuple[Leak, dict[str, set[int]]]:
    """The leak between sides, and for each side the forms that an earlier side holds."""
    leak = Leak(Counter(), Counter())
    seen: set[int] = set()
    found: dict[str, set[int]] = {}
    for name, edits in sides:
        own: set[int] = set()
        shared: set[int] = set()
        for edit in edits():
            form = token_hash(edit)
            leak.counts[name] += 1
            if form in seen:
                leak.leaked[name] += 1
                shared.add(form)
            own.add(form)
        seen |= own
        found[name] = shared
    return leak, found


def without(edits: Iterable[Edit], forms: set[int]) -> Iterator[Edit]:
    """The edits whose form is not among those given."""
    return (edit for edit in edits if token_hash(edit) not in forms)


@dataclass(frozen=True, slots=True)
class Split:
    """What a split wrote: a file and a count per side, and the leak between the sides before any was removed."""

    files: dict[str, Path]
    written: dict[str, int]
    leak: Leak
    shares: tuple[float, ...]
    """The shares that were asked for, in all 1."""
    removed: bool
    """Whether the leak was removed."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        leak = {name: self.leak.leaked[name] for name in self.leak.counts}
        return {"files": self.written, "leak": leak, "removed": self.removed}


def parse_shares(text: str) -> tuple[float, ...]:
    """Return `80,10,10` as numbers; UserError unless there are three of them."""
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        shares = ()
    if len(shares) != len(NAMES) or min(shares) < 0 or not 0 < sum(shares) < float("inf"):
        raise UserError(f"--shares {text}: give three parts for train, dev and test, such as 80,10,10.")
    return shares


def split(
    file: str | Path,
    out: str | Path = ".",
    *,
    by: str = "commit",
    shares: str = "80,10,10",
    seed: int = 0,
    format: str = "jsonl.gz",
    remove_leak: bool = False,
) -> Split:
    """Split an edit file into train, dev and test in a folder, and measure what leaks between them.

    What `by` names stays together: a "commit", a "project", an "edit"; with "time" the oldest edits train. With
    `remove_leak`, dev and test lose the edits that an earlier side holds verbatim. The file is read a few times, never
    held in memory.

    Raises:
        UserError: The shares make no sense, or the file would be overwritten.

    Example:
        >>> import editvec
        >>> editvec.split("edits.jsonl.gz", "data", by="time", remove_leak=True).written
    """
    wanted = parse_shares(shares)
    folder = Path(out)
    make_folder(folder)
    targets = {name: folder / f"{name}.{format}" for name in NAMES}
    if any(target.exists() and target.samefile(file) for target in targets.values()):
        raise UserError(f"{file} would be overwritten by its own split. Choose another folder with -o.")
    assign = assign_by_time(edit_files.read(file), wanted) if by == "time" else assign_by_group(by, wanted, seed)

    def side(number: int) -> Iterator[Edit]:
        return (edit for edit in edit_files.read(file) if assign(edit) == number)

    leak, hashes = mark_leaks([(name, partial(side, at)) for at, name in enumerate(NAMES)])
    written = {}
    for at, (name, target) in enumerate(targets.items()):
        edits = without(side(at), hashes[name]) if remove_leak else side(at)
        written[name] = edit_files.write(target, edits)
    return Split(targets, written, leak, tuple(share / sum(wanted) for share in wanted), remove_leak)
