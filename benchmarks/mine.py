"""Measure how fast `editvec mine` is, compared with git itself and with two libraries for mining.

Everything is measured in one run, on one clone with at least 5,000 commits and one language:

- `git log -p -U0 | wc` over the same paths: the time that git alone needs to print the same diffs on one core. This is
  the limit.
- editvec on all cores, from nothing to a finished file of edits. Its peak memory over all processes is measured in a
  separate run, because sampling the memory takes time.
- PyDriller and GitPython, which only walk commits and read their diffs, on a sample spread evenly over the history.
- editvec on growing parts of the history: the time should grow at most in proportion.
- editvec again on a history that it has already mined.

    python benchmarks/mine.py path/to/clone --language csharp
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from editvec.syntax.languages import get
from editvec.vcs import git

Seconds = float


def timed(work: Callable[[], object]) -> Seconds:
    """How long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def raw_git(repository: git.Repository, endings: list[str], commits: int | None) -> Seconds:
    """`git log -p -U0 | wc` on the same paths, with the same settings."""
    limit = [f"-{commits}"] if commits else []
    log = repository.command("log", "-p", "-U0", "--no-merges", "--diff-filter=M", *limit, "--", *endings)

    def run() -> None:
        with subprocess.Popen(log, stdout=subprocess.PIPE) as process:
            subprocess.run(["wc"], stdin=process.stdout, stdout=subprocess.DEVNULL, check=True)

    return timed(run)


class Peak:
    """The most memory that a process and its children held together, sampled while they ran."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.bytes = 0
        self._process = psutil.Process(process.pid)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            try:
                family = [self._process, *self._process.children(recursive=True)]
                self.bytes = max(self.bytes, sum(_private(member) for member in family))
            except psutil.NoSuchProcess:
                return
            time.sleep(0.1)


def _private(process: psutil.Process) -> int:
    """Memory that is the process's own, or, where that cannot be told, all that it holds."""
    try:
        full = process.memory_full_info()
        return int(getattr(full, "pss", 0) or full.uss)
    except (psutil.AccessDenied, psutil.NoSuchProcess):
        return 0


def editvec(folder: Path, *arguments: str, cache: str, watched: bool = False) -> tuple[Seconds, int, dict[str, object]]:
    """A run of `editvec mine`: seconds, peak bytes where it was watched, report."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "editvec", "mine", str(folder), "-o", f"{place}/e.jsonl.gz", "--json"]
        start = time.perf_counter()
        with subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, env={**os.environ, "XDG_CACHE_HOME": cache}
        ) as process:
            peak = Peak(process) if watched else None
            out = process.communicate()[0]
        seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"editvec mine failed with {process.returncode}")
    return seconds, peak.bytes if peak else 0, json.loads(out)


def pydriller(folder: Path, commits: list[str], endings: tuple[str, ...]) -> Seconds:
    """PyDriller over the commits: reads the diff of every modified file of the language."""
    from git.exc import GitCommandError
    from pydriller import Repository

    def run() -> None:
        for commit in Repository(str(folder), only_commits=commits).traverse_commits():
            # A clone may lack an object, which ends the diff of its commit here.
            with suppress(GitCommandError):
                for file in commit.modified_files:
                    if file.filename.endswith(endings):
                        len(file.diff)

    return timed(run)


def gitpython(folder: Path, commits: list[str], endings: tuple[str, ...]) -> Seconds:
    """GitPython over the commits: reads the diff of every modified file of the language."""
    from git import Repo
    from git.exc import GitCommandError

    def run() -> None:
        repo = Repo(folder)
        for identity in commits:
            commit = repo.commit(identity)
            with suppress(GitCommandError):
                for diff in commit.parents[0].diff(commit, create_patch=True, unified=0) if commit.parents else ():
                    if diff.b_path and diff.b_path.endswith(endings):
                        len(diff.diff or b"")

    return timed(run)


def main() -> None:
    """Measures and prints one table."""
    parser = argparse.ArgumentParser(description="Mining speed against git, PyDriller and GitPython.")
    parser.add_argument("repo", type=Path, help="clone to mine")
    parser.add_argument("--language", default="csharp", help="language to mine")
    parser.add_argument(
        "--sample", type=int, default=300, help="number of commits for PyDriller and GitPython; 0 skips both"
    )
    parser.add_argument("--recipes", default="default,iclr19", help="recipes to measure")
    parser.add_argument(
        "--growth", default="1000,2000,5000,10000,20000", help="numbers of newest commits for the cost curve"
    )
    given = parser.parse_args()
    repository = git.open_repository(given.repo)
    endings = get(given.language).extensions
    patterns = [f"*{ending}" for ending in endings]
    commits = git.list_commits(repository)
    print(f"{repository.name}: {len(commits):,} commits, {given.language}, {os.cpu_count()} cores\n")

    raw_git(repository, patterns, None)
    raw = min(raw_git(repository, patterns, None) for _ in range(2))
    print(f"{'':36}{'commits/s':>10}{'seconds':>9}{'of git':>8}")

    def show(name: str, number: int, seconds: Seconds, note: str = "") -> None:
        rate = number / seconds
        print(f"{name:36}{rate:10,.0f}{seconds:9.2f}{rate * raw / len(commits):7.2f}×  {note}", flush=True)

    show("git log -p -U0 | wc (the limit)", len(commits), raw)
    best = 0.0
    for recipe in given.recipes.split(","):
        with tempfile.TemporaryDirectory() as cache:
            options = ("--language", given.language, "--recipe", recipe)
            seconds, _, report = editvec(given.repo, *options, cache=cache)
            again, _, _ = editvec(given.repo, *options, cache=cache)
            _, peak, _ = editvec(given.repo, *options, "--fresh", cache=cache, watched=True)
        note = f"{report['edits']:,} edits, peak {peak / 1e6:,.0f} MB"
        best = max(best, len(commits) / seconds)
        show(f"editvec mine --recipe {recipe}", len(commits), seconds, note)
        show("  the same again, nothing new", len(commits), again)
    sample = commits[:: max(1, len(commits) // given.sample)] if given.sample else []
    for name, peer in ({"PyDriller": pydriller, "GitPython": gitpython} if sample else {}).items():
        with tempfile.TemporaryDirectory() as folder:
            # PyDriller does not read a bare repository: both get a clone that borrows its objects.
            subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", given.repo, folder], check=True)
            seconds = peer(Path(folder), sample, endings)
        ratio = best * seconds / len(sample)
        show(
            f"{name}, diffs only",
            len(sample),
            seconds,
            f"every {len(commits) // len(sample)}th commit; editvec {ratio:.1f} ×",
        )

    print("\nCost of the newest N commits (recipe default):")
    for size in (int(part) for part in given.growth.split(",")):
        if size <= len(commits):
            seconds, report = _mine_newest(given.repo, given.language, size)
            walked = report["commits"]
            assert isinstance(walked, int)
            alone = raw_git(repository, patterns, walked)
            print(
                f"  {walked:6,} commits {seconds:7.2f} s, {seconds / walked * 1e3:6.2f} ms a commit, "
                f"{alone / seconds:.2f} × git, {report['edits']:,} edits"
            )


def _mine_newest(folder: Path, language: str, size: int) -> tuple[Seconds, dict[str, object]]:
    """`editvec mine` over about the newest commits of a history."""
    repository = git.open_repository(folder)
    oldest = git.list_commits(repository)[-size]
    with tempfile.TemporaryDirectory() as cache:
        seconds, _, report = editvec(folder, "--language", language, "--range", f"{oldest}..HEAD", cache=cache)
    return seconds, report


if __name__ == "__main__":
    main()
