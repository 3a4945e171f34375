"""`editvec undo` after real runs of `editvec apply`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import editvec
from editvec.rewrite.journal import run_files
from editvec.rewrite.undo import undo
from tests.cli.run import run
from tests.conftest import Repo

CODE = "class A {\n\tvoid M() {\n\t\tcount = count + 1; // one\n\t\tthis.b = this.b + 1;\n\t}\n}\n"
WRITTEN = CODE.replace("count = count + 1", "count++").replace("this.b = this.b + 1", "this.b++")
INCREMENT = ("--like", "x = x + 1;", "x++;")


def test_the_verb(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.commit({"src/A.cs": CODE, "src/B.cs": CODE, "src/C.cs": "class C { }\n"})
    index = (repo.path / ".git/index").read_bytes()
    assert run("undo", cwd=repo.path).stdout == "Nothing to undo.\n"
    assert run("undo", "--list", cwd=repo.path).stdout == "No run was recorded here.\n"
    run("apply", *INCREMENT, "src", "-U", cwd=repo.path)
    assert (repo.path / "src/A.cs").read_text() == WRITTEN
    assert "apply  4 places in 2 files\n" in run("undo", "--list", "-C", repo.path / "src").stdout
    (row,) = json.loads(run("undo", "--list", "--json", cwd=repo.path).stdout)
    assert (row["verb"], row["num_files"], row["num_edits"], row["is_undone"]) == ("apply", 2, 4, False)
    assert (repo.path / "src/A.cs").read_text() == WRITTEN
    assert run("undo", cwd=repo.path).stdout.startswith("4 places in 2 files taken back (apply of ")
    assert "(undone)" in run("undo", "--list", cwd=repo.path).stdout
    assert json.loads(run("undo", "--json", cwd=repo.path).stdout)["verb"] is None
    assert (repo.path / ".git/index").read_bytes() == index
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""
    assert "not a folder" in run("undo", "-C", "nowhere", cwd=repo.path, code=2).stderr


def test_the_verb_says_what_it_refuses(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"A.cs": CODE})
    run("apply", *INCREMENT, ".", "-U", cwd=repo.path)
    (repo.path / "A.cs").unlink()
    done = run("undo", cwd=repo.path, code=1)
    assert "A.cs: 2 places not taken back: the file does not exist any more." in done.stderr
    assert "Nothing was changed. To go on to the run before, move " in done.stderr
    assert json.loads(run("undo", "--json", cwd=repo.path, code=1).stdout)["refused"][0]["num_edits"] == 2
    repo.write({"A.cs": WRITTEN})
    assert "2 places in 1 file taken back" in run("undo", cwd=repo.path).stdout
    assert (repo.path / "A.cs").read_text() == CODE


def test_what_was_accepted_one_by_one_is_taken_back(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"A.cs": CODE, "B.cs": CODE})
    run("apply", *INCREMENT, ".", "-i", cwd=repo.path, stdin="y\ny\nn\ny\n")
    assert (repo.path / "A.cs").read_text() == WRITTEN
    assert (repo.path / "B.cs").read_text() != CODE
    # A line was added since: the places of this file are found by the text around them.
    (repo.path / "A.cs").write_text("// mine\n" + WRITTEN)
    assert "3 places in 2 files taken back" in run("undo", cwd=repo.path).stdout
    assert (repo.path / "A.cs").read_text() == "// mine\n" + CODE
    assert (repo.path / "B.cs").read_text() == CODE


def test_learn_takes_a_folder_that_holds_only_the_journal(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.commit({"A.cs": CODE})
    run("apply", *INCREMENT, ".", "-U", cwd=repo.path)
    run("learn", "--model", "none", "--workers", "1", cwd=repo.path)
    run("learn", "--model", "none", "--workers", "1", cwd=repo.path)
    assert (repo.path / ".editvec/patterns.json").is_file()
    assert undo(repo.path).num_edits == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize("enough", [1, 40])
def test_kill_9_in_the_middle_of_a_run(tmp_path: Path, enough: int) -> None:
    repo = Repo.create(tmp_path / "r")
    files = {f"src/A{number}.cs": CODE.replace("one", f"é {number}").encode("latin-1") for number in range(400)}
    repo.commit(files)
    command = [sys.executable, "-m", "editvec", "apply", *INCREMENT, "src", "-U"]
    process = subprocess.Popen(
        command, cwd=repo.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ}
    )
    runs = repo.path / ".editvec/undo"
    deadline = time.monotonic() + 120
    while sum(file.read_bytes().count(b"\n") for file in run_files(runs)) <= enough:
        assert process.poll() is None and time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    process.wait()
    changed = {name for name, data in files.items() if (repo.path / name).read_bytes() != data}
    assert len(changed) < len(files)
    undone = undo(repo.path)
    assert set(undone.files) == changed
    assert undone.refused == []
    assert {name: (repo.path / name).read_bytes() for name in files} == files
    assert repo.git("status", "--porcelain") == ""


def test_a_run_outside_a_work_tree(tmp_path: Path) -> None:
    (tmp_path / "src/deep").mkdir(parents=True)
    for name in ("src/A.cs", "src/deep/B.cs", "C.cs"):
        (tmp_path / name).write_text(CODE)
    like = [("x = x + 1;", "x++;")]
    done = editvec.apply(like=like, paths=[tmp_path / "src", tmp_path / "C.cs"], update=True)
    assert (done.num_matches, done.problems) == (6, [])
    assert sorted(undo(tmp_path / "src").files) == ["A.cs", "deep/B.cs"]
    assert undo(tmp_path / "src/deep").verb == ""
    assert undo(tmp_path).files == ["C.cs"]
    assert all((tmp_path / name).read_text() == CODE for name in ("src/A.cs", "src/deep/B.cs", "C.cs"))


def test_a_run_that_writes_nothing_leaves_no_trace(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.cs": CODE})
    assert editvec.apply(like=[("x = x + 1;", "x++;")], paths=[repo.path]).num_matches == 2
    assert not (repo.path / ".editvec").exists()
