"""Run a command that judges a work tree, in scratch copies of it and in parallel, and read what it says.

The command comes from the user. It runs in a process group of its own, which never outlives the run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock
from types import TracebackType

from editvec.core.errors import UserError
from editvec.syntax.token import decode
from editvec.vcs.scratch import ScratchCopy

TIMEOUT = 600.0
"""Maximum duration of a run in seconds; a run that takes longer has failed."""
_MAX_OUTPUT = 2_000_000
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")
_TELLING = re.compile(r"error|fail|cannot|undefined|exception|panic", re.IGNORECASE)
_PLACE = re.compile(r"(?P<path>[^\s:()\"']+\.\w+)(?::(?P<line>\d+)|\((?P<other>\d+)|\", line (?P<third>\d+))")


@dataclass(frozen=True)
class CheckerRun:
    """What a command said of a version of the work tree."""

    code: int
    """The exit code; negative for a signal or a run that took too long."""
    lines: tuple[str, ...]
    """The lines of its output, without colours and the name of the scratch copy."""

    @property
    def passed(self) -> bool:
        """Return whether the command succeeded."""
        return self.code == 0

    def messages(self) -> Counter[str]:
        """Return the lines with each number as N, and how often each occurs."""
        return Counter(map(normalised, self.lines))

    def beyond(self, baseline: CheckerRun) -> list[str]:
        """Return the lines that a baseline has not, or has less often, the telling ones first."""
        left = baseline.messages()
        new = []
        for line in self.lines:
            key = normalised(line)
            if left[key] > 0:
                left[key] -= 1
            elif line.strip():
                new.append(line)
        return sorted(new, key=lambda line: _TELLING.search(line) is None)


def normalised(line: str) -> str:
    """Return a line of output with each number as N, so that positions and durations do not count."""
    return _NUMBERS.sub("N", line).strip()


def places_in(lines: Sequence[str]) -> list[tuple[str, int, str]]:
    """Return the places that lines of output name: path, line and the message."""
    found = []
    for line in lines:
        for match in _PLACE.finditer(line):
            number = match["line"] or match["other"] or match["third"]
            found.append((match["path"].removeprefix("./"), int(number), line.strip()))
    return found


class Checker:
    """A command with scratch copies of a work tree to run it in."""

    def __init__(self, top: Path, command: str, *, timeout: float = TIMEOUT, workers: int = 0) -> None:
        if not command.strip():
            raise UserError("there is no command to verify with. Give it: --verify 'COMMAND'.")
        self.top, self.command, self.timeout = top, command, timeout
        self.workers = workers or max(1, min(4, os.cpu_count() or 1))
        self.num_runs = 0
        self._stopped = Event()
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._idle: SimpleQueue[ScratchCopy] = SimpleQueue()
        self._num_copies = 0

    def __enter__(self) -> Checker:
        self._folder = Path(tempfile.mkdtemp(prefix="editvec-verify-")).resolve()
        self._pool = ThreadPoolExecutor(self.workers)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        with self._lock:
            for process in self._running:
                _kill(process)
        self._pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(
        self, versions: Sequence[Mapping[str, bytes]], environment: Mapping[str, str] | None = None
    ) -> list[CheckerRun]:
        """Return what the command says of versions of the work tree, each given by the files that differ.

        `environment` are variables to add.
        """
        futures = [self._pool.submit(self._judge, contents, environment or {}) for contents in versions]
        return [future.result() for future in futures]

    def _judge(self, contents: Mapping[str, bytes], environment: Mapping[str, str]) -> CheckerRun:
        copy = self._copy()
        try:
            copy.write(contents)
            return self._execute(copy.folder, environment)
        finally:
            self._idle.put(copy)

    def _copy(self) -> ScratchCopy:
        """Return a copy that nobody uses; there is one for each worker."""
        with self._lock:
            if not self._idle.empty():
                return self._idle.get()
            self._num_copies += 1
            number = self._num_copies
        return ScratchCopy(self.top, self._folder / str(number))

    def _execute(self, folder: Path, environment: Mapping[str, str]) -> CheckerRun:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        with tempfile.TemporaryFile(dir=self._folder) as output:
            with self._lock:
                if self._stopped.is_set():
                    return CheckerRun(-signal.SIGINT, ())
                # The user gave this command to be run by a shell, as a hook or a Makefile would run it.
                process = subprocess.Popen(  # noqa: S602
                    self.command,
                    shell=True,
                    cwd=folder,
                    env={**variables, **environment},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self._running.add(process)
                self.num_runs += 1
            try:
                code = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                code = -signal.SIGALRM
            finally:
                _kill(process)
                with self._lock:
                    self._running.discard(process)
            output.seek(0)
            text = _COLOURS.sub("", decode(output.read(_MAX_OUTPUT))).replace(f"{folder}{os.sep}", "")
        lines = text.replace(str(folder), ".").splitlines()
        if code == -signal.SIGALRM:
            lines.append(f"the command took longer than {self.timeout:g} s")
        return CheckerRun(code, tuple(lines))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and everything that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
