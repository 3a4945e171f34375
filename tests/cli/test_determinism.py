"""The same input gives the same output, whatever the hash seed, the locale, the time zone and the number of workers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.conftest import Repo

LINE = "total = compute({0}) == None\n"
SETTINGS: tuple[Mapping[str, str], ...] = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
    {"PYTHONHASHSEED": "12345", "LC_ALL": "C", "TZ": "Pacific/Kiritimati", "PYTHONUTF8": "0"},
    {"PYTHONHASHSEED": "7", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/New_York", "OMP_NUM_THREADS": "2"},
)
_CHANGING = re.compile(r'"seconds": \{[^}]*\}|"seconds": [\d.e-]+|"patterns_folder": "[^"]*"')
COMMANDS = (
    ("mine", ".", "-o", "edits.jsonl", "--workers", "{workers}"),
    ("show", "edits.jsonl", "--json"),
    ("stats", "edits.jsonl", "--json"),
    ("learn", "--min-edits", "2", "--workers", "{workers}", "--json"),
    ("find", "--format", "json"),
    ("find", "--format", "sarif"),
    ("apply", "1", "--everywhere"),
    ("apply", "--like", "a == None", "a is None", "b.py", "--json"),
    ("finish", "--json"),
)


@pytest.fixture
def history(repo: Repo) -> Repo:
    lines = [LINE.format(number) for number in range(8)]
    repo.commit({"a.py": "".join(lines), "b.py": "".join(lines)})
    for number in range(5):
        lines[number] = lines[number].replace("== None", "is None")
        repo.commit({"a.py": "".join(lines)}, f"Use is {number}")
    repo.write({"b.py": (repo.path / "b.py").read_text().replace("== None", "is None", 1)})
    return repo


def outputs(repo: Repo, settings: Mapping[str, str], workers: int) -> list[str]:
    env = {**os.environ, **settings, "XDG_CACHE_HOME": str(repo.path.parent / f"cache-{settings['TZ'][:2]}-{workers}")}
    found = []
    for command in COMMANDS:
        arguments = [each.format(workers=workers) for each in command]
        done = subprocess.run(
            [sys.executable, "-m", "editvec", *arguments], cwd=repo.path, capture_output=True, env=env
        )
        assert done.returncode in (0, 1), (command, done.stderr)
        if command[0] != "mine":
            found.append(_CHANGING.sub("", done.stdout.decode("utf-8", "surrogateescape")))
    return [*found, (repo.path / "edits.jsonl").read_text()]


@pytest.mark.parametrize(
    ("settings", "workers"), [(SETTINGS[1], 2), pytest.param(SETTINGS[2], 1, marks=pytest.mark.thorough)]
)
def test_settings_of_the_machine_change_nothing(history: Repo, settings: Mapping[str, str], workers: int) -> None:
    first = outputs(history, SETTINGS[0], 1)
    second = outputs(history, settings, workers)
    for command, one, other in zip(COMMANDS, first, second, strict=False):
        assert one == other, command
    assert first[-1] == second[-1]
