"""The mining pipeline: commits in batches on all cores, the repository's store, deduplication, an edit file."""

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
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
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
_EXTRACTION = 3
"""Version of the extraction; incremented when the same commits yield other edits, to invalidate stored ones."""
_MARK = struct.Struct("<QQQ")
_TRIES = 3


@dataclass(slots=True)
class MiningReport:
    """The report of a mining run."""

    commits: int = 0
    mined_now: int = 0
    """Number of commits that were not in the store before."""
    files: int = 0
    hunks: int = 0
    edits: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """Number of hunks, edits or (for `unreadable`) commits that each filter dropped."""
    languages: Counter[str] = field(default_factory=Counter)
    repository: str = ""
    recipe: str = ""
    out: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
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
    """A request to mine: the commits, the number of processes, and whether to use the store."""

    task: MiningTask
    revisions: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    newest: int | None = None
    """Maximum number of commits; the newest ones are mined."""
    workers: int = 0
    """Number of worker processes; 0 means one per core."""
    resume: bool = True
    """Whether to use the store and add to it; if not, everything is mined again and nothing is stored."""


def mine_to(request: MiningRequest, target: Path, progress: Advance = ignore) -> MiningReport:
    """Mine a repository into an edit file.

    Raises:
        GitError: The repository cannot be read.
        UserError: The file cannot be written, or the cache cannot be read.
    """
    report = MiningReport()
    edit_files.check_target(target)
    mined = lines(request, report, progress)
    # The first line is available only when all commits are mined. The file is opened after that, so a run that is
    # killed while it mines leaves no partial file.
    mined = chain(list(islice(mined, 1)), mined)
    if edit_files.is_native(target):
        with edit_files.lines_to(target) as out:
            for line in mined:
                out.write(line + b"\n")
    else:
        edit_files.write(target, map(native.load, mined))
    return report


def edits(request: MiningRequest, report: MiningReport, progress: Advance = ignore) -> Iterator[Edit]:
    """Yield the mined edits in the order of history; the report is complete after the last one."""
    yield from map(native.load, lines(request, report, progress))


def lines(request: MiningRequest, report: MiningReport, progress: Advance = ignore) -> Iterator[bytes]:
    """Yield the mined edits as native lines in the order of history; the report is complete after the last one."""
    commits = git.list_commits(
        request.task.repository,
        revisions=request.revisions,
        since=request.since,
        until=request.until,
        newest=request.newest,
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
                # Mining is deterministic, so lines that were already yielded are skipped in the next attempt.
                if attempt == _TRIES - 1:
                    raise UserError(
                        f"the cache {store.path} cannot be read ({error}). Use --fresh to mine without it."
                    ) from None
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
    """Return a text of everything, except the commit, that the edits of a commit depend on."""
    recipe = task.recipe
    # Sorted, because the order of a set differs between processes.
    kept = f"{replace(recipe, kept=frozenset())} {sorted(recipe.kept)}"
    version = f"{__version__} {_EXTRACTION} {native.SCHEMA_VERSION}"
    return f"{version} {task.repository.name} {kept} {task.languages} {task.paths}"


def _mined(
    store: Store, request: MiningRequest, commits: Sequence[str], report: MiningReport, progress: Advance
) -> Iterator[bytes]:
    """Mine the commits that the store lacks, then yield the deduplicated lines of all commits and fill the report."""
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
    """Mine the missing commits in batches; each batch is added to the store as soon as it is complete."""
    chunks = [todo[start : start + BATCH_COMMITS] for start in range(0, len(todo), BATCH_COMMITS)]
    done, found = total - len(todo), 0
    progress(done, total, found)
    for batch in _run(task, chunks, min(workers or os.cpu_count() or 1, len(chunks))):
        store.add(settings, batch)
        done += len(batch)
        found += sum(len(mined.heads) for mined in batch)
        progress(done, total, found)


def _packed(batch: MinedBatch) -> list[MinedCommit]:
    """Return the result of a batch in the form of the store."""
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
    """Mine one batch in a worker process."""
    return _packed(_reader(task).run(commits, _check_stopping))


_STOPPING = Event()
"""Set in a worker process whose results nobody wants any more."""


def _check_stopping() -> None:
    if _STOPPING.is_set():
        raise KeyboardInterrupt


@cache
def _reader(task: MiningTask) -> CommitReader:
    """Return the reader of this worker process; it lives as long as the process."""
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
            # Only a few batches are in progress at a time, so memory is bounded for any length of history.
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
                "a worker process died: it was killed or ran out of memory. Run the same command again to continue; "
                "--workers 1 needs less memory."
            ) from None
        except BaseException:
            held.close()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Block SIGINT (Ctrl-C) in this context.

    Processes started in it inherit the block, so only the parent process handles the signal.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare_worker(lifeline: Connection) -> None:
    """Initialise a worker process.

    A thread ends the worker when its parent ends for any reason. Garbage collection is made less frequent, because few
    objects here are part of reference cycles.
    """
    Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _end_with(lifeline: Connection) -> None:
    """Stop this worker when the other end of the pipe is closed.

    If the parent process has ended, so does this one, at once; that is safe because an incomplete batch is never
    stored. Otherwise the parent was interrupted: the worker stops before its next commit. It must not end at once,
    because the parent would wait forever for the rest of a result that is being written.
    """
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    _STOPPING.set()
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
