"""Run the code blocks of README.md and of the tutorials, so that what they show works.

A page is run like a notebook: its ```console and ```python blocks run in order, in one temporary folder that holds the
demo history, and a `cd` stays in force. Comment lines directly above a fence change what is expected:

    <!-- not run: reason -->    the block is skipped
    <!-- exit: 1 -->            the last command exits with this code instead of 0
    <!-- stable: text -->       the text is shown in the block, and must occur in what the block prints
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from editvec.cli import main

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *(f"docs/tutorials/{path.name}" for path in sorted((ROOT / "docs/tutorials").glob("*.md"))))
MAKE_DEMO = "python examples/demo_history.py "

_FENCE = re.compile(
    r"(?P<marks>(?:^<!--[^\n]*-->\n)*)^```(?P<kind>console|python)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_MARK = re.compile(r"<!-- (not run|exit|stable): (.*?) -->")
_SHELL = re.compile(r"[|<>;&*]+")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the blocks are written for a POSIX shell")


@dataclass(frozen=True)
class Block:
    """A code block of a page, with the comments above it."""

    line: int
    kind: str
    body: str
    skip: str
    exit_code: int
    stable: tuple[str, ...]

    def commands(self) -> list[str]:
        """Return the commands of a console block: the lines behind `$`, with continuations joined."""
        joined = self.body.replace("\\\n", " ")
        return [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ ")]


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the console and python blocks of a page."""
    for found in _FENCE.finditer(text):
        marks = _MARK.findall(found["marks"])
        yield Block(
            line=text[: found.start()].count("\n") + 1,
            kind=found["kind"],
            body=found["body"],
            skip=next((value for name, value in marks if name == "not run"), ""),
            exit_code=next((int(value) for name, value in marks if name == "exit"), 0),
            stable=tuple(value for name, value in marks if name == "stable"),
        )


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo history, made once."""
    folder = tmp_path_factory.mktemp("demo") / "shop"
    runpy.run_path(str(ROOT / "examples/demo_history.py"))["build"](folder)
    return folder


class Notebook:
    """A temporary folder in which the blocks of a page run one after the other."""

    def __init__(
        self, folder: Path, shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self._shop, self._monkeypatch, self._capsys = shop, monkeypatch, capsys
        self._names: dict[str, object] = {}
        tools = folder / "bin"
        tools.mkdir(parents=True)
        editvec = tools / "editvec"
        editvec.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m editvec "$@"\n')
        editvec.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("COLUMNS", "160")
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
            monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
        work = folder / "work"
        work.mkdir()
        monkeypatch.chdir(work)

    def run(self, block: Block) -> str:
        """Run a block and return what it printed; fail when it did not succeed."""
        if block.kind == "python":
            exec(compile(block.body, f"block at line {block.line}", "exec"), self._names)
            return self._printed()
        printed, commands = "", block.commands()
        for number, command in enumerate(commands, 1):
            expected = block.exit_code if number == len(commands) else 0
            code, output = self._command(command)
            assert code == expected, f"line {block.line}: `{command}` exited with {code}:\n{output}"
            printed += output
        return printed

    def _command(self, command: str) -> tuple[int, str]:
        words = shlex.split(command, comments=True)
        if command.startswith(MAKE_DEMO):
            shutil.copytree(self._shop, words[-1])
            return 0, ""
        if words[0] == "cd":
            self._monkeypatch.chdir(words[1])
            return 0, ""
        if words[0] == "editvec" and not _needs_shell(command):
            return self._in_process(words)
        done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def _in_process(self, words: list[str]) -> tuple[int, str]:
        self._monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as stopped:
            main()
        code = stopped.value.code
        return (code if isinstance(code, int) else 0), self._printed()

    def _printed(self) -> str:
        captured = self._capsys.readouterr()
        return captured.out + captured.err


def _needs_shell(command: str) -> bool:
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|<>;&")
    lexer.whitespace_split = True
    return any(_SHELL.fullmatch(word) for word in lexer)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(
    page: str, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = Notebook(tmp_path / "notebook", shop, monkeypatch, capsys)
    for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
        if block.skip:
            continue
        printed = " ".join(notebook.run(block).split())
        for text in block.stable:
            assert text in block.body, f"{page}:{block.line}: the block does not show {text!r}"
            assert " ".join(text.split()) in printed, f"{page}:{block.line}: {text!r} is not printed:\n{printed}"


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_is_a_known_kind(page: str) -> None:
    """A misspelt fence must not take a block out of the test."""
    kinds = set(re.findall(r"^```(\S+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE))
    assert kinds <= {"console", "python", "sh", "text", "yaml", "toml", "json", "bibtex"}, kinds


def test_marks_are_read() -> None:
    page = "<!-- stable: 1 file -->\n<!-- exit: 1 -->\n```console\n$ editvec find \\\n  --check\n1 file\n```\n"
    (block,) = blocks_of(page)
    assert (block.exit_code, block.stable, block.skip) == (1, ("1 file",), "")
    assert block.commands() == ["editvec find    --check"]
