"""Splits of an edit file into train, dev and test, and the leak between these splits."""

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
    """Return the function that gives the group of an edit: its commit, its project, or the edit itself.

    All edits of a group go to the same split.
    """

    def key(edit: Edit) -> str:
        if edit.source is None:
            raise UserError(
                f"edit {edit.id} has no source, so it cannot be split by {by}. Mine the edits, or use --by edit."
            )
        return f"{edit.source.repository} {edit.source.commit}" if by == "commit" else edit.source.repository

    return (lambda edit: edit.id) if by == "edit" else key


def assign_by_group(by: str, shares: Sequence[float], seed: int) -> Callable[[Edit], int]:
    """Return the function that assigns an edit to a split by a hash of its group, so that groups stay together."""
    key = group_key(by)
    bounds = [sum(shares[: at + 1]) / sum(shares) for at in range(len(shares))]

    def assign(edit: Edit) -> int:
        digest = blake2b(f"{seed} {key(edit)}".encode("utf-8", "replace"), digest_size=8).digest()
        place = int.from_bytes(digest) / 2**64
        return next((at for at, bound in enumerate(bounds) if place < bound), len(bounds) - 1)

    return assign


def assign_by_time(edits: Iterable[Edit], shares: Sequence[float]) -> Callable[[Edit], int]:
    """Return the function that assigns an edit to a split by its date; the oldest edits are the training data.

    Edits with the same date stay together.
    """
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
        raise UserError(f"edit {edit.id} has no date. Use --by commit or --by project.")
    return max(edit.source.author_date, _EPOCH)


def token_hash(edit: Edit) -> int:
    """Return a digest of the tokens before and after; edits with equal digests are verbatim the same to a model."""
    return int.from_bytes(
        blake2b(repr((edit.model_before, edit.model_after)).encode("utf-8", "replace"), digest_size=8).digest()
    )


@dataclass(slots=True)
class Leak:
    """The number of edits of each split that occur verbatim in an earlier split (train, then dev)."""

    counts: Counter[str]
    leaked: Counter[str]

    def share(self, name: str) -> float:
        """Return the share of a split that occurs in an earlier split."""
        return self.leaked[name] / self.counts[name] if self.counts[name] else 0.0


def mark_leaks(sides: Sequence[tuple[str, Callable[[], Iterable[Edit]]]]) -> tuple[Leak, dict[str, set[int]]]:
    """Return the leak between splits, and for each split the token hashes that also occur in an earlier split."""
    leak = Leak(Counter(), Counter())
    seen: set[int] = set()
    found: dict[str, set[int]] = {}
    for name, edits in sides:
        own: set[int] = set()
        shared: set[int] = set()
        for edit in edits():
            number = token_hash(edit)
            leak.counts[name] += 1
            if number in seen:
                leak.leaked[name] += 1
                shared.add(number)
            own.add(number)
        seen |= own
        found[name] = shared
    return leak, found


def without(edits: Iterable[Edit], hashes: set[int]) -> Iterator[Edit]:
    """Return the edits whose token hash is not in `hashes`."""
    return (edit for edit in edits if token_hash(edit) not in hashes)


@dataclass(frozen=True, slots=True)
class Split:
    """The result of a split: a file and a count per split, and the leak before any was removed."""

    files: dict[str, Path]
    written: dict[str, int]
    leak: Leak
    shares: tuple[float, ...]
    """The requested shares, normalised so that their sum is 1."""
    removed: bool
    """Whether leaked edits were removed."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        leak = {name: self.leak.leaked[name] for name in self.leak.counts}
        return {"files": self.written, "leak": leak, "removed": self.removed}


def parse_shares(text: str) -> tuple[float, ...]:
    """Parse shares such as `80,10,10`.

    Raises:
        UserError: The text is not three non-negative numbers with a positive sum.
    """
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        shares = ()
    if len(shares) != len(NAMES) or min(shares) < 0 or not 0 < sum(shares) < float("inf"):
        raise UserError(f"--shares {text}: give three numbers for train, dev and test, such as 80,10,10.")
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
    """Split an edit file into train, dev and test files in a folder, and measure the leak between them.

    `by` is "commit", "project" or "edit", the unit that is kept together, or "time": then the oldest edits are the
    training data. With `remove_leak`, edits that occur verbatim in an earlier split are removed from dev and test. The
    file is streamed several times and never held in memory.

    Raises:
        UserError: The shares are invalid, or the file would be overwritten.

    Examples:
        >>> import editvec
        >>> editvec.split("edits.jsonl.gz", "data", by="time", remove_leak=True).written["train"]
        43
    """
    wanted = parse_shares(shares)
    folder = Path(out)
    make_folder(folder)
    targets = {name: folder / f"{name}.{format}" for name in NAMES}
    if any(target.exists() and target.samefile(file) for target in targets.values()):
        raise UserError(f"the split would overwrite {file}. Choose another folder with -o.")
    assign = assign_by_time(edit_files.read(file), wanted) if by == "time" else assign_by_group(by, wanted, seed)

    def side(number: int) -> Iterator[Edit]:
        return (edit for edit in edit_files.read(file) if assign(edit) == number)

    leak, hashes = mark_leaks([(name, partial(side, at)) for at, name in enumerate(NAMES)])
    written = {}
    for at, (name, target) in enumerate(targets.items()):
        edits = without(side(at), hashes[name]) if remove_leak else side(at)
        written[name] = edit_files.write(target, edits)
    return Split(targets, written, leak, tuple(share / sum(wanted) for share in wanted), remove_leak)
