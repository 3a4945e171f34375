"""The whole of mining: commits → batches on all cores → the repository's store → dedup → one file."""

from __future__ import annotations

import gc
import os
import signal
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, compress, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

from editvec.core.about import __version__
from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.data import edit_files, native
from editvec.data.progress import Advance, ignore
from editvec.data.store import DamagedStoreError, LostCommitError, MinedCommit, Store
from editvec.mining.batch import CommitReader, MinedBatch, MiningTask
from editvec.mining.dedup import Deduplicator, Digests, digest
from editvec.vcs import git
from editvec.vcs.objects import Attributes

BATCH_COMMITS = 64
_EXTRACTION = 2
"""Counted up when the same commits give other edits than before: edits of then and now do not go together."""
_MARK = struct.Struct("<QQQ")
_TRIES = 3


@dataclass(slots=True)
class MiningReport:
    """What a run of mining did."""

    commits: int = 0
    mined_now: int = 0
    """Commits that were not in the store yet."""
    files: int = 0
    hunks: int = 0
    edits: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """Filter → how many hunks, edits or, for `unreadable`, commits it dropped."""
    languages: Counter[str] = field(default_factory=Counter)
    repository: str = ""
    recipe: str = ""
    out: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "repository": self.repository,
            "out": self.out,
            "recipe": self.recipe,
            "commits": self.commits,
            "mined_now": self.mined_now,
            "files": self.files,
            "hunks": self.hunks,
            "edits": self.edits,
            "languages": dict(self.languages.most_common()),
            "dropped": dict(self.dropped.most_common()),
        }


@dataclass(frozen=True, slots=True)
class MiningRequest:
    """What to mine: which commits, with how many processes, and whether to use what earlier runs left."""

    task: MiningTask
    revisions: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    workers: int = 0
    """0 for one a core."""
    resume: bool = True
    """Use the store and add to it; without it the run starts from nothing and leaves nothing."""


def mine_to(request: MiningRequest, target: Path, progress: Advance = ignore) -> MiningReport:
    """Mine a repository into an edit file."""
    report = MiningReport()
    edit_files.check_target(target)
    mined = lines(request, report, progress)
    # All is mined before the file is begun, so a run that is killed meanwhile leaves nothing beside it.
    mined = chain(list(islice(mined, 1)), mined)
    if edit_files.is_native(target):
        with edit_files.lines_to(target) as out:
            for line in mined:
                out.write(line + b"\n")
    else:
        edit_files.write(target, map(native.load, mined))
    return report


def edits(request: MiningRequest, report: MiningReport, progress: Advance = ignore) -> Iterator[Edit]:
    """Yield the mined edits in the order of history; the report is complete after the last."""
    yield from map(native.load, lines(request, report, progress))


def lines(request: MiningRequest, report: MiningReport, progress: Advance = ignore) -> Iterator[bytes]:
    """Yield the mined edits as native lines, in the order of history; the report is complete after the last."""
    commits = git.list_commits(
        request.task.repository, revisions=request.revisions, since=request.since, until=request.until
    )
    with _store(request) as store:
        given = 0
        for attempt in range(_TRIES):
            try:
                for line in islice(_mined(store, request, commits, report, progress), given, None):
                    given += 1
                    yield line
                return
            except DamagedStoreError as error:
                # Mined again, the same commits give the same edits: what was given already is passed over.
                if attempt == _TRIES - 1:
                    raise UserError(f"the cache {store.path} cannot be read ({error}). Use --fresh.") from None
                if not isinstance(error, LostCommitError):
                    store.begin_anew()


@contextmanager
def _store(request: MiningRequest) -> Iterator[Store]:
    if request.resume:
        with Store.of(request.task.repository.path) as store:
            yield store
        return
    with tempfile.TemporaryDirectory(prefix="editvec-") as folder, Store(Path(folder) / "mined.sqlite") as store:
        yield store


def settings_of(task: MiningTask) -> str:
    """Return all that the edits of a commit depend on but the commit, as text."""
    recipe = task.recipe
    # A set has another order in each process.
    kept = f"{replace(recipe, kept=frozenset())} {sorted(recipe.kept)}"
    version = f"{__version__} {_EXTRACTION} {native.SCHEMA_VERSION}"
    return f"{version} {task.repository.name} {kept} {task.languages} {task.paths}"


def _mined(
    store: Store, request: MiningRequest, commits: Sequence[str], report: MiningReport, progress: Advance
) -> Iterator[bytes]:
    """Mine what the store lacks; yield the lines of the commits, without copies, and fill the report."""
    task = request.task
    settings = store.settings(settings_of(task))
    todo = store.missing(settings, commits)
    report.commits, report.mined_now, report.edits = len(commits), len(todo), 0
    report.languages.clear()
    _fill(store, settings, task, todo, request.workers, len(commits), progress)
    tally: Counter[str] = Counter()
    dedup = Deduplicator(task.recipe, tally)
    with Attributes(task.repository, "HEAD") as attributes:
        for mined in store.commits(settings, commits):
            tally.update(mined.tally)
            if len(mined.marks) != len(mined.heads) * _MARK.size:
                raise DamagedStoreError(f"the digests of {mined.commit} are damaged")
            plain = [not attributes.is_filtered(path) for _, path in mined.heads]
            tally["filtered"] += plain.count(False)
            marks = map(Digests._make, _MARK.iter_unpack(mined.marks))
            kept = [each and dedup.keeps(mined.commit, mark) for each, mark in zip(plain, marks, strict=True)]
            if any(kept):
                report.edits += sum(kept)
                report.languages.update(language for language, _ in compress(mined.heads, kept))
                yield from compress(mined.lines, kept)
    report.files, report.hunks = tally.pop("files", 0), tally.pop("hunks", 0)
    report.dropped = +tally


def _fill(
    store: Store,
    settings: int,
    task: MiningTask,
    todo: Sequence[str],
    workers: int,
    total: int,
    progress: Advance,
) -> None:
    """Mine what is missing, batch by batch; each batch is in the store as soon as it is there."""
    chunks = [todo[start : start + BATCH_COMMITS] for start in range(0, len(todo), BATCH_COMMITS)]
    done, found = total - len(todo), 0
    progress(done, total, found)
    for batch in _run(task, chunks, min(workers or os.cpu_count() or 1, len(chunks))):
        store.add(settings, batch)
        done += len(batch)
        found += sum(len(mined.heads) for mined in batch)
        progress(done, total, found)


def _packed(batch: MinedBatch) -> list[MinedCommit]:
    """Return a batch as the store keeps it."""
    edits_of: dict[str, list[Edit]] = {}
    for edit in batch.edits:
        assert edit.source is not None
        edits_of.setdefault(edit.source.commit, []).append(edit)
    packed = []
    for commit in batch.commits:
        tally, edits = batch.tallies.get(commit, Counter[str]()), edits_of.get(commit, [])
        packed.append(
            MinedCommit(
                commit,
                dict(tally),
                complete="unreadable" not in tally,
                heads=tuple((edit.language, edit.source.path) for edit in edits if edit.source),
                marks=b"".join(_MARK.pack(*digest(edit)) for edit in edits),
                block=native.pack(map(native.dump, edits)) if edits else b"",
            )
        )
    return packed


def _work(task: MiningTask, commits: Sequence[str]) -> list[MinedCommit]:
    """Mine one batch; in a worker process."""
    return _packed(_reader(task).run(commits))


@cache
def _reader(task: MiningTask) -> CommitReader:
    """The reader of this worker process: it ends with it."""
    return CommitReader(task)


def _run(task: MiningTask, chunks: Sequence[Sequence[str]], workers: int) -> Iterator[list[MinedCommit]]:
    if workers <= 1:
        with CommitReader(task) as reader:
            for chunk in chunks:
                yield _packed(reader.run(chunk))
        return
    context = get_context("spawn")
    lifeline, held = context.Pipe(duplex=False)
    with lifeline, held, ProcessPoolExecutor(workers, context, _prepare_worker, (lifeline,)) as pool:
        running: set[Future[list[MinedCommit]]] = set()
        try:
            # Only a few batches are under way at a time: memory stays bounded however long the history.
            for chunk in chunks:
                with _interrupts_held():
                    running.add(pool.submit(_work, task, chunk))
                if len(running) >= 2 * workers:
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in finished)
            while running:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in finished)
        except BrokenProcessPool:
            raise UserError(
                "a worker process died (out of memory, or killed). Run the same command again: it goes on from there; "
                "--workers 1 needs less memory."
            ) from None
        except BaseException:
            held.close()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until this is over. A process started meanwhile never gets it: it is the parent's business."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare_worker(lifeline: Connection) -> None:
    """A worker ends with its parent, however that ends. And few objects here live in cycles."""
    Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _end_with(lifeline: Connection) -> None:
    """Ends this process at once when the other end is closed; a batch that is not whole is not in the store."""
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)
