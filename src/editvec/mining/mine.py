"""The whole of mining: commits → batches on all cores → journal → sieve → one file."""

from __future__ import annotations

import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from editvec import store
from editvec.edit import Edit
from editvec.mining import batch, git
from editvec.mining.batch import Batch, Task
from editvec.mining.journal import Journal, journal_for
from editvec.mining.sieve import Sieve

BATCH_COMMITS = 128
_NO_PROGRESS: Callable[[int, int, int], None] = lambda done, total, edits: None  # noqa: E731


@dataclass(slots=True)
class Report:
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
class Request:
    """What to mine: which commits, with how many processes, and whether to use what earlier runs left."""

    task: Task
    revisions: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    workers: int = 0
    """0 for one a core."""
    resume: bool = True
    """Use, and leave, a journal; without it the run starts from nothing and leaves nothing."""


def mine(request: Request, target: Path, progress: Callable[[int, int, int], None] = _NO_PROGRESS) -> Report:
    """Mines a repository into an edit file. `progress` is told commits done, commits in all, candidates so far."""
    report = Report()
    store.write(target, edits(request, report, progress))
    return report


def edits(request: Request, report: Report, progress: Callable[[int, int, int], None] = _NO_PROGRESS) -> Iterator[Edit]:
    """The mined edits in the order of history; the report is filled on the way."""
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
        tally.pop("commits", None)
        report.dropped = tally
        sieve = Sieve(task.recipe, tally)
        for _, candidates in journal.edits(commits):
            for edit in sieve.keep(candidates):
                report.edits += 1
                report.languages[edit.language] += 1
                yield edit


def _fill(
    journal: Journal,
    task: Task,
    todo: Sequence[str],
    workers: int,
    total: int,
    progress: Callable[[int, int, int], None],
) -> None:
    """Mines what is missing, batch by batch, and puts each batch into the journal as soon as it is there."""
    chunks = [todo[start : start + BATCH_COMMITS] for start in range(0, len(todo), BATCH_COMMITS)]
    done, found = total - len(todo), 0
    progress(done, total, found)
    for result in _run(task, chunks, min(workers or os.cpu_count() or 1, len(chunks))):
        journal.add(result)
        done += len(result.commits)
        found += len(result.edits)
        progress(done, total, found)


def _run(task: Task, chunks: Sequence[Sequence[str]], workers: int) -> Iterator[Batch]:
    if workers <= 1:
        for chunk in chunks:
            yield batch.run(task, chunk)
        return
    # Only a few batches are under way at a time: memory stays bounded however long the history.
    waiting = iter(chunks)
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_ignore_interrupt) as pool:
        running: set[Future[Batch]] = set()
        try:
            for chunk in waiting:
                running.add(pool.submit(batch.run, task, chunk))
                if len(running) >= 2 * workers:
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in finished)
            while running:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in finished)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _ignore_interrupt() -> None:
    """Ctrl-C is the parent's business: a worker ends its batch or is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
