"""Judging places by a command: what breaks is left out, alone or together, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import editvec
from editvec.core.errors import UserError
from editvec.core.splice import TextEdit
from editvec.suggest.checker import CheckerRun, normalised, places_in
from editvec.suggest.imports import NO_IMPORTS
from editvec.suggest.verify import JudgedPlace, verify
from tests.cli.run import run
from tests.conftest import Repo

NUMBERS = "".join(f"{number}\n" for number in range(10))


def places(changes: dict[int, str], path: str = "numbers.txt") -> list[JudgedPlace]:
    """Places that give lines of the file of numbers another text."""
    return [
        JudgedPlace(path, TextEdit(2 * number, 2 * number + 1, text.encode()), NO_IMPORTS)
        for number, text in changes.items()
    ]


@pytest.fixture
def numbers(repo: Repo) -> Repo:
    """A work tree with a file of numbers that was changed and is not committed."""
    repo.commit({"numbers.txt": NUMBERS + "old\n", ".gitignore": "generated.txt\ncache/\n"})
    repo.write({"numbers.txt": NUMBERS, "generated.txt": "1\n", "cache/big": "1\n"})
    return repo


def test_all_places_may_pass_in_two_runs(numbers: Repo) -> None:
    before = numbers.git("status", "--short", "--ignored")
    result = verify(numbers.path, places({1: "x", 2: "y"}), "grep -q x numbers.txt || ! grep -q old numbers.txt")
    assert (result.kept, result.num_runs, result.failed_before, result.num_built) == ([0, 1], 2, False, 2)
    assert (numbers.path / "numbers.txt").read_text() == NUMBERS
    assert numbers.git("status", "--short", "--ignored") == before


def test_a_place_that_breaks_is_found_with_the_first_message(numbers: Repo) -> None:
    changes = {number: "bad" if number in (3, 8) else "good" for number in range(10)}
    command = "! grep bad numbers.txt > found || { echo checked; echo error: something is bad; exit 1; }"
    result = verify(numbers.path, places(changes), command, workers=1)
    assert result.refused == {3: "error: something is bad", 8: "error: something is bad"}
    assert result.kept == [0, 1, 2, 4, 5, 6, 7, 9] and result.num_runs < 16


def test_lines_that_messages_name_are_left_out_first(numbers: Repo) -> None:
    changes = {number: "bad" if number % 3 else "good" for number in range(10)}
    command = "! grep -n bad numbers.txt | sed 's/^/numbers.txt:/' | grep ."
    result = verify(numbers.path, places(changes), command, workers=2)
    assert result.kept == [0, 3, 6, 9] and result.num_runs == 3
    assert result.refused[1] == "numbers.txt:2:bad"


def test_places_that_fail_only_together_are_not_all_left_out(numbers: Repo) -> None:
    command = "! { grep -q left numbers.txt && grep -q right numbers.txt; }"
    result = verify(numbers.path, places({1: "left", 5: "x", 7: "right"}), command, workers=1)
    assert len(result.refused) == 1 and 1 in result.kept
    assert next(iter(result.refused.values())) == "the command ends with code 1"


def test_a_command_that_failed_before_is_compared_by_its_messages(numbers: Repo) -> None:
    command = "echo 'a.py:7: error: old, in 0.31s'; grep bad numbers.txt; exit 1"
    result = verify(numbers.path, places({1: "bad", 2: "good"}), command)
    assert result.failed_before and (result.kept, result.refused) == ([1], {0: "bad"})


def test_ignored_files_are_there_and_caches_are_not(numbers: Repo) -> None:
    result = verify(numbers.path, places({1: "x"}), "test -f generated.txt && test ! -e cache && test ! -e .git")
    assert not result.failed_before and result.kept == [0]


def test_a_run_that_takes_too_long_has_failed_and_ends_with_its_children(numbers: Repo, tmp_path: Path) -> None:
    mark = tmp_path / "children"
    command = f"if grep -q slow numbers.txt; then sleep 60 & echo $! >> {mark}; wait; fi"
    start = time.monotonic()
    result = verify(numbers.path, places({1: "slow", 2: "quick"}), command, timeout=2)
    assert result.kept == [1] and result.refused[0] == "the command took longer than 2 s"
    assert time.monotonic() - start < 40
    for child in mark.read_text().split():
        assert not is_running(int(child))


def is_running(process: int) -> bool:
    """Whether a process runs, and is not just waiting to be collected."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_without_time_places_stay_undecided(numbers: Repo) -> None:
    result = verify(numbers.path, places({1: "bad", 2: "x", 3: "y"}), "! grep -q bad numbers.txt", budget=0)
    assert (result.kept, result.refused, result.undecided) == ([], {}, {0, 1, 2})


def test_an_interruption_ends_all_processes_and_removes_the_copies(numbers: Repo, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from editvec.suggest.verify import *\n"
        "from editvec.core.splice import TextEdit; from editvec.suggest.imports import NO_IMPORTS\n"
        "place = JudgedPlace('numbers.txt', TextEdit(0, 1, b'x'), NO_IMPORTS)\n"
        f"verify(Path({str(numbers.path)!r}), [place], 'echo $$ >> {tmp_path}/started; sleep 60 & wait')"
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(scratch)}, stderr=subprocess.PIPE
    )
    started = tmp_path / "started"
    while process.poll() is None and not started.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in errors
    assert list(scratch.iterdir()) == []
    assert not any(is_running(int(each)) for each in started.read_text().split())


def test_lines_that_run_are_told_from_those_that_do_not(repo: Repo) -> None:
    text = "def used():\n    return 1\n\n\ndef unused():\n    return 1\n"
    repo.commit({"module.py": text, "check.py": "import module\nassert module.used()\n"})
    at = [text.index("1"), text.rindex("1")]
    judged = [JudgedPlace("module.py", TextEdit(each, each + 1, b"2"), NO_IMPORTS) for each in at]
    result = verify(repo.path, judged, f"{sys.executable} check.py")
    assert (result.kept, result.exercised, result.num_built) == ([0, 1], {0}, 1)


def test_messages_are_compared_without_numbers() -> None:
    before = CheckerRun(1, ("a.py:7: error: x", "Found 3 errors in 0.2s"))
    after = CheckerRun(1, ("a.py:9: error: x", "note", "a.py:10: error: x", "Found 4 errors in 1.5s"))
    assert after.beyond(before) == ["a.py:10: error: x", "note"]
    assert normalised("at 0x7f1a: 12.5") == "at N: N"
    lines = ["./a/b.py:3:1: E", "C.java:12: error", "x.ts(4,5): error", '  File "d.py", line 6, in f']
    assert [place[:2] for place in places_in(lines)] == [("a/b.py", 3), ("C.java", 12), ("x.ts", 4), ("d.py", 6)]


def test_finish_leaves_out_what_the_command_refuses(repo: Repo) -> None:
    calls = "".join(f"def test_{n}(self):\n    self.assertEquals(total({n}), {n})\n\n\n" for n in range(8))
    repo.commit({"test_a.py": calls})
    repo.write({"test_a.py": calls.replace("assertEquals", "assertEqual", 3)})
    command = "! grep -n 'assertEqual(total.6' test_a.py | sed 's/^/test_a.py:/' | grep ."
    plain = editvec.finish(repo=repo.path)
    assert [each.line for each in plain.likely if each.line == 26], "the place is likely without the command"
    done = editvec.finish(repo=repo.path, verify=command, update=True)
    assert done.verification is not None and len(done.verification.refused) == 1
    (refused,) = [each for each in done.suggestions if "refused by" in each.why]
    assert refused.line == 26 and refused not in done.likely
    text = (repo.path / "test_a.py").read_text()
    assert "assertEquals(total(6)" in text and text.count("assertEquals") == 1
    assert done.as_json()["verification"]["refused"] == 1


def test_the_command_comes_from_the_command_line_alone(numbers: Repo) -> None:
    with pytest.raises(UserError, match="no command"):
        verify(numbers.path, places({1: "x"}), " ")
    run("finish", "-i", "--verify", "true", cwd=numbers.path, code=2)
