"""Diffs that git itself takes, whatever is in the files and whatever they are called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from editvec.core.splice import TextEdit, splice
from editvec.rewrite.patch import hunks, lines_of, unified_diff
from tests.conftest import Repo
from tests.core.test_splice import edited

lines = st.lists(st.sampled_from([b"a", b"b", b"\r", b" ", b"\xff", b"c\r", b"", b"\t"]), max_size=25)
texts = st.builds(lambda rows, end: b"\n".join(rows) + end, lines, st.sampled_from([b"", b"\n", b"x"]))


def _apply(folder: Path, name: bytes, before: bytes, patch: bytes) -> bytes:
    file = folder / os.fsdecode(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before)
    done = subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=patch, cwd=folder, capture_output=True)
    assert done.returncode == 0, (done.stderr, patch)
    return file.read_bytes()


@given(st.data(), texts)
def test_hunks_are_the_edits(data: st.DataObject, before: bytes) -> None:
    edits = data.draw(edited(before))
    rows = lines_of(before)
    assert b"".join(rows) == before
    for hunk in reversed(hunks(before, edits)):
        rows[hunk.start : hunk.end] = hunk.lines
    assert b"".join(rows) == splice(before, edits)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), texts)
def test_git_applies_the_diff(tmp_path: Path, data: st.DataObject, before: bytes) -> None:
    edits = data.draw(edited(before))
    after = splice(before, edits)
    patch = unified_diff(b"f.txt", before, edits)
    # A file that becomes empty is deleted in git's eyes, and an empty one cannot be patched without a header.
    if patch and before and after:
        assert _apply(tmp_path, b"f.txt", before, patch) == after


@pytest.mark.parametrize(
    "name",
    [b"a b.txt", b'q"uote.txt', b"tab\there.txt", b"back\\slash.txt", "übung.txt".encode(), b"\xff.txt", b"d/e.txt"],
)
def test_odd_names(tmp_path: Path, name: bytes) -> None:
    before = b"one\ntwo\nthree\n"
    patch = unified_diff(name, before, [TextEdit(4, 7, b"2")])
    assert _apply(tmp_path, name, before, patch) == b"one\n2\nthree\n"


def test_the_diff_applies_in_a_repository_and_below_its_top(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"src/a.txt": "one\ntwo\n"})
    patch = unified_diff(b"src/a.txt", b"one\ntwo\n", [TextEdit(0, 3, b"1")])
    assert _apply(repo.path, b"src/a.txt", b"one\ntwo\n", patch) == b"1\ntwo\n"
    patch = unified_diff(b"a.txt", b"one\ntwo\n", [TextEdit(0, 3, b"1")])
    assert _apply(repo.path / "src", b"a.txt", b"one\ntwo\n", patch) == b"1\ntwo\n"
