"""Code that is nested ten thousand levels deep is read or left out by every verb, in a bounded time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import run_process
from tests.conftest import Repo

DEPTH = 10_000
ROUND, SQUARE = ("(", ")"), ("[", "]")
CODE = {
    "a.py": ("x = ", SQUARE, "\n"),
    "b.cs": ("class A { int x = ", ROUND, "; }\n"),
    "c.java": ("class A { int x = ", ROUND, "; }\n"),
    "d.js": ("let x = ", SQUARE, ";\n"),
    "e.ts": ("let x = ", SQUARE, ";\n"),
    "f.go": ("package p\nvar x = ", ROUND, "\n"),
    "g.rs": ("fn f() { let x = ", ROUND, "; }\n"),
    "h.cpp": ("int x = ", ROUND, ";\n"),
    "i.cs": ("class B { void F() { ", ("{", "}"), " } }\n"),
    "j.md": ("", SQUARE, "\n"),
    "k.json": ("", SQUARE, "\n"),
}
LIKE = ("log(a, b);", "log.debug(a, b);")


def texts(calls: str) -> dict[str, str]:
    return {
        name: f"{head}{opening * DEPTH}1{closing * DEPTH}{tail}{calls}"
        for name, (head, (opening, closing), tail) in CODE.items()
    }


@pytest.mark.thorough
def test_every_verb_ends(repo: Repo, tmp_path: Path) -> None:
    repo.commit(texts("log(a, b);\n" * 4))
    repo.commit(texts("log.debug(a, b);\n" + "log(a, b);\n" * 3))
    repo.write(texts("log.debug(a, b);\n" * 2 + "log(a, b);\n" * 2))
    edits = tmp_path / "edits.jsonl"
    run_process("mine", ".", "-o", edits, cwd=repo.path)
    run_process("show", edits, cwd=repo.path)
    run_process("learn", "--model", "none", "--min-edits", "2", cwd=repo.path)
    run_process("find", cwd=repo.path)
    run_process("finish", "--json", cwd=repo.path)
    done = run_process("apply", "--like", *LIKE, ".", cwd=repo.path)
    assert "+log.debug(a, b);" in done.stdout
    deep = f"f({'(' * DEPTH}1{')' * DEPTH});"
    run_process("apply", "--like", deep, "g(1);", "--language", "csharp", "b.cs", cwd=repo.path, code=2)
