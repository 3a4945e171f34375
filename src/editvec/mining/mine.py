"""The whole of mining: commits → batches on all cores → journal → dedup → one file."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.mining.batch import CommitReader, MiningTask
from editvec.mining.dedup import Deduplicator
from editvec.mining.journal import Journal, journal_for, write_batch
from editvec.vcs import git

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_COMMITS = 64

Progress = Callable[[int, int, int], None]
"""Told commits done, commits in all, candidates so far."""


def silent(done: int, total: int, found: int) -> None:
    """No progress is shown."""


@dataclass(slots=True)
class MiningReport:
    """What a run of mining did."""

    commits: int = 0
    mined_now: int = 0
    """Commits that were not in the journal yet."""
    files: int = 0
    hunks: int = 0
    edits: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    """Filter → how many hunks, edits or, for `unreadable`, commits it dropped."""
    languages: Counter[str] = field(default_factory=Counter)


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
    """Use, and leave, a journal; without it the run starts from nothing and leaves nothing."""


def mine(request: MiningRequest, target: Path, progress: Progress = silent) -> MiningReport:
    """Mines a repository into an edit file."""
    report = MiningReport()
    edit_files.check_target(target)
    mined = tables(request, report, progress)
    # All is mined before the file is begun, so a run that is killed meanwhile leaves nothing beside it.
    mined = chain(list(islice(mined, 1)), mined)
    if target.suffix == ".parquet":
        with edit_files.ParquetWriter(target) as writer:
            for rows in mined:
                writer.add_rows(rows)
    else:
        edit_files.write(target, (edit for rows in mined for edit in edit_files.edits_of(rows)))
    return report


def edits(request: MiningRequest, report: MiningReport, progress: Progress = silent) -> Iterator[Edit]:
    """The mined edits in the order of history; the report is filled on the way."""
    for rows in tables(request, report, progress):
        yield from edit_files.edits_of(rows)


def tables(request: MiningRequest, report: MiningReport, progress: Progress = silent) -> Iterator[pa.Table]:
    """The mined edits as tables of some hundred rows."""
    task = request.task
    commits = git.list_commits(task.repository, revisions=request.revisions, since=request.since, until=request.until)
    report.commits = len(commits)
    with ExitStack() as stack:
        if request.resume:
            journal = Journal(journal_for(task))
        else:
            journal = Journal(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="editvec-"))))
        todo = journal.missing(commits)
        report.mined_now = len(todo)
        _fill(journal, task, todo, request.workers, len(commits), progress)
        tally = journal.tally(commits)
        report.files, report.hunks = tally.pop("files", 0), tally.pop("hunks", 0)
        dedup = Deduplicator(task.recipe, tally)
        attributes = stack.enter_context(git.Attributes(task.repository, "HEAD"))
        waiting: list[pa.Table] = []
        for rows, marks in journal.candidates(commits):
            plain = [not attributes.is_filtered(path) for path in rows["path"].to_pylist()]
            tally["filtered"] += plain.count(False)
            rows = rows.filter([kept and dedup.keeps(*mark) for kept, mark in zip(plain, marks, strict=True)])
            report.edits += len(rows)
            report.languages.update(rows["language"].to_pylist())
            waiting.append(rows)
            if sum(map(len, waiting)) >= edit_files.BATCH:
                yield _joined(waiting)
                waiting = []
        if any(map(len, waiting)):
            yield _joined(waiting)
        report.dropped = +tally


def _joined(rows: list[pa.Table]) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables(rows)


def _fill(
    journal: Journal, task: MiningTask, todo: Sequence[str], workers: int, total: int, progress: Progress
) -> None:
    """Mines what is missing, batch by batch; each batch is in the journal as soon as it is there."""
    chunks = [todo[start : start + BATCH_COMMITS] for start in range(0, len(todo), BATCH_COMMITS)]
    done, found = total - len(todo), 0
    progress(done, total, found)
    for file in _run(task, journal.folder, chunks, min(workers or os.cpu_count() or 1, len(chunks))):
        commits, candidates = journal.take_in(file)
        done += commits
        found += candidates
        progress(done, total, found)


def _work(task: MiningTask, folder: Path, commits: Sequence[str]) -> Path:
    """One batch, from commits to its file in the journal; in a worker process."""
    return write_batch(folder, _reader(task).run(commits))


@cache
def _reader(task: MiningTask) -> CommitReader:
    """The reader of this worker process: it ends with it."""
    return CommitReader(task)


def _run(task: MiningTask, folder: Path, chunks: Sequence[Sequence[str]], workers: int) -> Iterator[Path]:
    if workers <= 1:
        with CommitReader(task) as reader:
            for chunk in chunks:
                yield write_batch(folder, reader.run(chunk))
        return
    context = get_context("spawn")
    lifeline, held = context.Pipe(duplex=False)
    with lifeline, held, ProcessPoolExecutor(workers, context, _prepare_worker, (lifeline,)) as pool:
        running: set[Future[Path]] = set()
        try:
            # Only a few batches are under way at a time: memory stays bounded however long the history.
            for chunk in chunks:
                with _interrupts_held():
                    running.add(pool.submit(_work, task, folder, chunk))
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
    """Ends this process at once when the other end is closed; a batch that is not whole is not in the journal."""
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)
