"""The journal: what batches of commits gave, on disk, so that no commit is ever mined twice with the same settings.

A run that was interrupted goes on after its last whole batch, and a run on a history that grew mines only what is
new. A batch's file appears when it is whole; one that cannot be read is thrown away and mined again.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import orjson

from editvec import __version__, store
from editvec.edit import Edit
from editvec.errors import BadInputError
from editvec.mining.batch import Batch, Task

_META = b"editvec.batch"
_OPEN_BATCHES = 4


def cache_home() -> Path:
    """Where caches live: $XDG_CACHE_HOME, ~/Library/Caches or ~/.cache."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "editvec"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "editvec"


def journal_for(task: Task) -> Path:
    """The folder for one repository mined with one set of settings by one version of editvec."""
    settings = (__version__, store.SCHEMA_VERSION, str(task.repository.path), task.repository.name)
    settings += (repr(task.recipe), task.languages, task.paths)  # type: ignore[assignment]
    return cache_home() / "mine" / blake2b(repr(settings).encode(), digest_size=12).hexdigest()


class Journal:
    """A folder of batches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.where: dict[str, Path] = {}
        """Commit → the file that holds its edits."""
        self.tallies: dict[Path, Counter[str]] = {}
        for leftover in folder.glob(".*.partial"):
            leftover.unlink(missing_ok=True)
        for file in sorted(folder.glob("*.parquet")):
            self._take_in(file)

    def _take_in(self, file: Path) -> None:
        try:
            meta = orjson.loads(store.metadata(file, _META) or b"null")
            commits, tally = meta["commits"], Counter(meta["tally"])
        except (BadInputError, orjson.JSONDecodeError, KeyError, TypeError):
            file.unlink(missing_ok=True)
            return
        self.tallies[file] = tally
        self.where.update(dict.fromkeys(commits, file))

    def missing(self, commits: Sequence[str]) -> list[str]:
        """Those of the commits that were not mined yet."""
        return [commit for commit in commits if commit not in self.where]

    def add(self, batch: Batch) -> None:
        """Puts a batch on disk."""
        name = blake2b("".join(batch.commits).encode(), digest_size=12).hexdigest()
        file = self.folder / f"{name}.parquet"
        meta = orjson.dumps({"commits": batch.commits, "tally": batch.tally})
        with store.ParquetWriter(file, {_META: meta}) as writer:
            for start in range(0, len(batch.edits), store.BATCH):
                writer.add(batch.edits[start : start + store.BATCH])
        self._take_in(file)

    def edits(self, commits: Sequence[str]) -> Iterator[tuple[str, list[Edit]]]:
        """The candidates of the commits, in the commits' order; only a few batches are in memory at a time."""
        opened: OrderedDict[Path, dict[str, list[Edit]]] = OrderedDict()
        for commit in commits:
            file = self.where[commit]
            if file not in opened:
                opened[file] = _by_commit(file)
                if len(opened) > _OPEN_BATCHES:
                    opened.popitem(last=False)
            opened.move_to_end(file)
            yield commit, opened[file].get(commit, [])

    def tally(self, commits: Sequence[str]) -> Counter[str]:
        """What was dropped why, over the batches that hold the commits."""
        total: Counter[str] = Counter()
        for file in {self.where[commit] for commit in commits}:
            total.update(self.tallies[file])
        return total

    def clear(self) -> None:
        """Forgets everything."""
        for file in self.folder.glob("*.parquet"):
            file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()
        self.where.clear()
        self.tallies.clear()


def _by_commit(file: Path) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = {}
    for edit in store.read(file):
        assert edit.source is not None
        found.setdefault(edit.source.commit, []).append(edit)
    return found
