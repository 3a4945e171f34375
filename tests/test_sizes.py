"""Hold the sizes of files and functions, and that a class name means one class."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import editvec

PACKAGE = Path(editvec.__file__).parent
FACTS = "syntax/languages/"
"""Tables of facts about languages may be longer."""


def _trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def test_no_file_is_longer_than_400_lines() -> None:
    lines = {name: len((PACKAGE / name).read_text(encoding="utf-8").splitlines()) for name in _trees()}
    assert {name: count for name, count in lines.items() if count > 400 and not name.startswith(FACTS)} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    long = [
        f"{name}: {node.name}, {(node.end_lineno or 0) - node.lineno + 1} lines"
        for name, tree in _trees().items()
        if not name.startswith(FACTS)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno >= 60
    ]
    assert long == []


def test_a_class_name_means_one_class() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for name, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(name)
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
