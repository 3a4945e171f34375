"""The command line as tests call it: in this process, or, where that matters, in one of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

from editvec.cli import main

Done = subprocess.CompletedProcess[str]


def run(*arguments: object, cwd: Path | None = None, code: int | None = 0, stdin: str = "") -> Done:
    """Run a command in this process, with streams, a working folder and arguments of its own.

    Its exit code must be `code`, unless that is None.
    """
    given = [str(argument) for argument in arguments]
    out, err = _stream(), _stream()
    with _process(["editvec", *given], _stream(stdin), out, err), _inside(cwd):
        try:
            main()
        except SystemExit as end:
            returned = end.code if isinstance(end.code, int) else 0
    return _checked(Done(given, returned, _text(out), _text(err)), code)


def run_process(*arguments: object, cwd: Path | None = None, code: int | None = 0, stdin: str = "") -> Done:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "editvec", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=cwd, env={**os.environ})
    return _checked(done, code)


def _checked(done: Done, code: int | None) -> Done:
    assert code is None or done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def _stream(content: str = "") -> io.TextIOWrapper:
    data = io.BytesIO(content.encode("utf-8", "surrogateescape"))
    return io.TextIOWrapper(data, "utf-8", "surrogateescape", newline="", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")


@contextmanager
def _process(arguments: list[str], *streams: io.TextIOWrapper) -> Iterator[None]:
    """Give the command arguments and the three streams of its own."""
    with ExitStack() as stack:
        for name, value in zip(("argv", "stdin", "stdout", "stderr"), (arguments, *streams), strict=True):
            stack.enter_context(mock.patch.object(sys, name, value))
        yield


@contextmanager
def _inside(folder: Path | None) -> Iterator[None]:
    before = Path.cwd()
    try:
        if folder is not None:
            os.chdir(folder)
        yield
    finally:
        os.chdir(before)
