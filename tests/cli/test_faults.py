"""What happens to files and caches when a run is interrupted, the disk is full or memory ends: docs/faults.md."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from editvec.rewrite.journal import run_files
from editvec.rewrite.undo import undo
from tests.conftest import Repo, clean_git_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the faults are made with Linux's means")

LIKE = ("--like", "self.assertEquals(a, b)", "self.assertEqual(a, b)")
TEXT = "".join(f"def test_{n}():\n    self.assertEquals(total({n}), {n * 10})\n\n\n" for n in range(3))
DONE = TEXT.replace("assertEquals", "assertEqual")
BEGUN = TEXT.replace("assertEquals", "assertEqual", 1)
VERBS: dict[str, tuple[str, ...]] = {
    "apply": ("apply", *LIKE, "src", "-U"),
    "finish": ("finish", "-U"),
    "mine": ("mine", ".", "-o", "edits.jsonl.gz", "--workers", "1"),
    "learn": ("learn", "--model", "none", "--min-edits", "2", "--workers", "1"),
    "find": ("find",),
}
CODES = {0, 1, 2, 3, 4, 130}


def fill(repo: Repo, count: int = 6) -> Repo:
    """A history in which a call was replaced in some files, and a file in which this was begun."""
    repo.commit({f"src/m{number}.py": TEXT for number in range(count)})
    repo.commit({f"src/m{number}.py": DONE for number in range(count // 2)})
    repo.write({"src/m3.py": BEGUN})
    return repo


def start(*arguments: str, cwd: Path, limit: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "editvec", *arguments]
    env = {**clean_git_environment(), "XDG_CACHE_HOME": str(cwd / ".cache"), "OPENBLAS_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=cwd, stdout=pipe, stderr=pipe, text=True, env=env, preexec_fn=limit)


def check(process: subprocess.Popen[str], top: Path) -> tuple[int, str]:
    """Wait for a run; its files must be whole, and what it says must be lines without a traceback."""
    _, said = process.communicate(timeout=300)
    assert "Traceback" not in said, said
    assert process.returncode in CODES, said
    for file in (top / "src").glob("*.py"):
        assert file.read_text() in (TEXT, DONE, BEGUN), file
    return process.returncode, said


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, which can be filled and made read-only."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root can mount a small file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill_up(place: Path) -> Path:
    """Leave no space on a file system."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as stream, suppress(OSError):
        while stream.write(bytes(4096)):
            pass
    return ballast


@pytest.mark.parametrize("verb", VERBS)
def test_a_full_disk_loses_nothing_and_a_rerun_goes_on(small_disk: Path, verb: str) -> None:
    repo = fill(Repo.create(small_disk / "r"))
    if verb == "find":
        assert check(start(*VERBS["learn"], cwd=repo.path), repo.path)[0] == 0
    before = {file: file.read_bytes() for file in (repo.path / "src").iterdir()}
    ballast = fill_up(small_disk)
    code, _ = check(start(*VERBS[verb], cwd=repo.path), repo.path)
    assert code or verb == "find"
    assert {file: file.read_bytes() for file in (repo.path / "src").iterdir()} == before
    assert not list(repo.path.rglob("*.partial"))
    ballast.unlink()
    assert check(start(*VERBS[verb], cwd=repo.path), repo.path)[0] == 0


@pytest.mark.parametrize("verb", VERBS)
def test_a_read_only_file_system_is_one_line(small_disk: Path, verb: str) -> None:
    repo = fill(Repo.create(small_disk / "r"))
    if verb == "find":
        assert check(start(*VERBS["learn"], cwd=repo.path), repo.path)[0] == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    code, said = check(start(*VERBS[verb], cwd=repo.path), repo.path)
    assert code or verb == "find"
    assert said.count("editvec: ") >= 1 or verb == "find"
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert check(start(*VERBS[verb], cwd=repo.path), repo.path)[0] == 0


@pytest.mark.parametrize("megabytes", [150, 260, 400, 700])
def test_too_little_memory_leaves_whole_files(tmp_path: Path, megabytes: int) -> None:
    repo = fill(Repo.create(tmp_path / "r"))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))

    process = start(*VERBS["finish"], cwd=repo.path, limit=limit)
    process.communicate(timeout=300)
    for file in (repo.path / "src").glob("*.py"):
        assert file.read_text() in (TEXT, DONE, BEGUN)
    assert check(start(*VERBS["finish"], cwd=repo.path), repo.path)[0] == 0


def test_ctrl_c_says_what_was_written_and_undo_takes_back_exactly_that(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.commit({f"src/m{number}.py": TEXT for number in range(400)})
    process = start(*VERBS["apply"], cwd=repo.path)
    runs = repo.path / ".editvec" / "undo"
    end = time.monotonic() + 200
    while sum(file.read_bytes().count(b"\n") for file in run_files(runs)) < 20:
        assert process.poll() is None and time.monotonic() < end
    process.send_signal(signal.SIGINT)
    code, said = check(process, repo.path)
    assert code == 130 and len(said.strip().splitlines()[-1:]) == 1
    written = {file.name for file in (repo.path / "src").iterdir() if file.read_text() == DONE}
    assert written and all(name in said for name in written)
    assert "editvec undo takes this back" in said
    assert {Path(name).name for name in undo(repo.path).files} == written
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.thorough
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("moment", range(6))
def test_kill_9_at_any_moment(tmp_path: Path, verb: str, moment: int) -> None:
    repo = fill(Repo.create(tmp_path / "r"), 40)
    if verb == "find":
        assert check(start(*VERBS["learn"], cwd=repo.path), repo.path)[0] == 0
    process = start(*VERBS[verb], cwd=repo.path)
    time.sleep(0.3 + 0.35 * moment)
    process.kill()
    process.communicate()
    for file in (repo.path / "src").glob("*.py"):
        assert file.read_text() in (TEXT, DONE, BEGUN)
    assert check(start(*VERBS[verb], cwd=repo.path), repo.path)[0] == 0


@pytest.mark.parametrize("verb", ["apply", "learn"])
def test_two_processes_at_once_leave_what_one_leaves(tmp_path: Path, verb: str) -> None:
    repo = fill(Repo.create(tmp_path / "r"), 30)
    codes = [check(each, repo.path)[0] for each in [start(*VERBS[verb], cwd=repo.path) for _ in range(2)]]
    assert set(codes) <= {0, 1}
    assert check(start(*VERBS[verb], cwd=repo.path), repo.path)[0] == 0
    if verb == "apply":
        assert all(file.read_text() == DONE for file in (repo.path / "src").glob("*.py"))
    assert not list(repo.path.rglob("*.partial"))
