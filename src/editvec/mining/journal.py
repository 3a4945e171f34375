"""The journal: what batches of commits gave, on disk, so that no commit is ever mined twice with the same settings.

A run that was interrupted goes on after its last whole batch, and a run on a history that grew mines only what is
new, or could not be read before. A batch's file appears when it is whole; one that is damaged is thrown away and mined
again. Rows are edits in the native schema with their digests beside them, so that the dedup and the final file need no
edit to be rebuilt.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from editvec.core.about import __version__
from editvec.core.files import atomic
from editvec.data import edit_files
from editvec.mining.batch import MinedBatch, MiningTask
from editvec.mining.dedup import Digests, digest

if TYPE_CHECKING:
    import pyarrow as pa

_CUT = 2
"""Counted up when the same commits give other edits than before: batches of then and now do not go together."""
_META = b"editvec.batch"
_SUFFIX = ".arrow"
_OPEN_BATCHES = 4
_OLD_SECONDS = 3600


def cache_home() -> Path:
    """Where caches live: $XDG_CACHE_HOME, ~/Library/Caches or ~/.cache."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "editvec"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "editvec"


def journal_for(task: MiningTask) -> Path:
    """The folder for one repository mined with one set of settings by one version of editvec."""
    repository, recipe = task.repository, task.recipe
    settings = f"{__version__} {_CUT} {edit_files.SCHEMA_VERSION} {repository.path} {repository.name} "
    # A set has another order in each process.
    settings += f"{replace(recipe, kept=frozenset())} {sorted(recipe.kept)} {task.languages} {task.paths}"
    return cache_home() / "mine" / blake2b(settings.encode("utf-8", "replace"), digest_size=12).hexdigest()


def write_batch(folder: Path, batch: MinedBatch) -> Path:
    """Puts a batch on disk."""
    import pyarrow as pa

    name = blake2b("".join(batch.commits).encode(), digest_size=12).hexdigest()
    file = folder / f"{name}{_SUFFIX}"
    rows = edit_files.table_of(batch.edits)
    marks = [digest(edit) for edit in batch.edits]
    for field in Digests._fields:
        rows = rows.append_column(field, pa.array([getattr(mark, field) for mark in marks], pa.uint64()))
    meta = orjson.dumps({"commits": batch.commits, "tallies": batch.tallies, "rows": len(marks)})
    with atomic(file) as stream:
        rows = rows.replace_schema_metadata({_META: meta})
        with pa.ipc.new_file(stream, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(rows)
    return file


class Journal:
    """A folder of batches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.where: dict[str, Path] = {}
        """Commit → the file that holds its edits."""
        self._unreadable: set[str] = set()
        self._files: dict[Path, tuple[int, Counter[str]]] = {}
        """File → how many commits it holds, and what was dropped why in all of them."""
        for leftover in folder.glob(".*.partial"):
            if _is_old(leftover):
                leftover.unlink(missing_ok=True)
        for file in sorted(folder.glob(f"*{_SUFFIX}")):
            self.take_in(file)

    def take_in(self, file: Path) -> tuple[int, int]:
        """Counts a batch's file among the journal's; how many commits and candidates it holds."""
        import pyarrow as pa

        try:
            meta = _read_meta(file)
            commits, tallies, rows = meta["commits"], meta["tallies"], meta["rows"]
        except (pa.ArrowInvalid, OSError, orjson.JSONDecodeError, KeyError, TypeError):
            file.unlink(missing_ok=True)
            return 0, 0
        self._files[file] = len(commits), sum(map(Counter, tallies.values()), Counter())
        for commit in commits:
            readable = "unreadable" not in tallies.get(commit, ())
            # Of two batches with a commit, the one that could read it counts.
            if readable or commit not in self.where:
                self.where[commit] = file
                (self._unreadable.discard if readable else self._unreadable.add)(commit)
        return len(commits), rows

    def missing(self, commits: Sequence[str]) -> list[str]:
        """Those of the commits that were not mined yet, or had objects missing."""
        return [commit for commit in commits if commit not in self.where or commit in self._unreadable]

    def candidates(self, commits: Sequence[str]) -> Iterator[tuple[pa.Table, list[tuple[str, Digests]]]]:
        """The candidates of the commits, in the commits' order: tables, and what the deduplication needs of each row.

        Only a few batches are in memory at a time.
        """
        opened: OrderedDict[Path, _Loaded] = OrderedDict()
        for file, run in groupby(commits, key=self.where.__getitem__):
            if file not in opened:
                opened[file] = _Loaded(file)
                if len(opened) > _OPEN_BATCHES:
                    opened.popitem(last=False)
            opened.move_to_end(file)
            loaded = opened[file]
            numbers = [number for commit in run for number in loaded.numbers.get(commit, ())]
            if not numbers:
                continue
            if numbers == list(range(len(loaded.marks))):
                yield loaded.rows, loaded.marks
            else:
                yield loaded.rows.take(numbers), [loaded.marks[number] for number in numbers]

    def tally(self, commits: Sequence[str]) -> Counter[str]:
        """What was dropped why in the commits."""
        total: Counter[str] = Counter()
        wanted = set(commits)
        for file, count in Counter(self.where[commit] for commit in wanted).items():
            size, of_all = self._files[file]
            if count == size:
                total.update(of_all)
                continue
            for commit, tally in _read_meta(file)["tallies"].items():
                if commit in wanted and self.where[commit] == file:
                    total.update(tally)
        return total


def _read_meta(file: Path) -> dict[str, Any]:
    """A batch's commits, its number of rows, and commit → what was dropped why."""
    import pyarrow as pa

    with pa.memory_map(str(file)) as stream:
        meta: dict[str, Any] = orjson.loads(pa.ipc.open_file(stream).schema.metadata[_META])
    return meta


def _is_old(file: Path) -> bool:
    """Whether a file that is not whole belongs to a run that is over: another one may be writing right now."""
    with suppress(FileNotFoundError):
        return time.time() - file.stat().st_mtime > _OLD_SECONDS
    return False


class _Loaded:
    """A batch in memory."""

    def __init__(self, file: Path) -> None:
        import pyarrow as pa

        with pa.OSFile(str(file)) as stream:
            table = pa.ipc.open_file(stream).read_all()
        self.rows = table.select(edit_files.schema().names).replace_schema_metadata(edit_files.schema().metadata)
        commits = table["commit"].to_pylist()
        digests = zip(*(table[field].to_pylist() for field in Digests._fields), strict=True)
        self.marks = [(commit, Digests(*mark)) for commit, mark in zip(commits, digests, strict=True)]
        self.numbers: dict[str, list[int]] = {}
        for number, commit in enumerate(commits):
            self.numbers.setdefault(commit, []).append(number)
