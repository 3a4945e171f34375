"""What a run wrote is taken back exactly, what others wrote since is kept, and nothing else is ever written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.splice import TextEdit, splice
from editvec.rewrite import journal as journals
from editvec.rewrite.journal import Journal
from editvec.rewrite.undo import list_runs, undo
from editvec.rewrite.writer import write_file
from tests.conftest import Repo
from tests.rewrite.written import LINES, at, replace

Edits = list[TextEdit]


@st.composite
def edits_of(draw: st.DrawFn, before: bytes) -> Edits:
    cuts = sorted(draw(st.lists(st.integers(0, len(before)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return [TextEdit(start, end, draw(texts(20))) for start, end in pairs]


def texts(size: int) -> st.SearchStrategy[bytes]:
    """Bytes of any kind: random, lines of either kind, UTF-16, and very repetitive text."""
    lines = st.text("aé\n", max_size=size // 2)
    return st.one_of(
        st.binary(max_size=size),
        lines.map(str.encode),
        lines.map(lambda text: text.replace("\n", "\r\n").encode()),
        lines.map(lambda text: text.encode("utf-16")),
        st.text("ab\n", max_size=size).map(str.encode),
    )


@st.composite
def changes(draw: st.DrawFn, size: int = 300) -> tuple[bytes, Edits]:
    before = draw(texts(size))
    return before, draw(edits_of(before))


@contextmanager
def folder() -> Iterator[Path]:
    """A work tree, as far as the journal looks at it."""
    with TemporaryDirectory() as name:
        Repo.create(Path(name).resolve() / "r")
        yield Path(name).resolve() / "r"


@given(st.data(), st.lists(texts(300), min_size=1, max_size=3), st.integers(1, 2), st.booleans())
def test_write_then_undo_gives_the_bytes_before(
    data: st.DataObject, starts: list[bytes], num_runs: int, with_edits: bool
) -> None:
    with folder() as top:
        files = {top / f"{number}.x": start for number, start in enumerate(starts)}
        for file, start in files.items():
            file.write_bytes(start)
        states = []
        for _ in range(num_runs):
            states.append({file: file.read_bytes() for file in files})
            with Journal("finish") as journal:
                for file, before in states[-1].items():
                    edits = data.draw(edits_of(before))
                    write_file(file, before, splice(before, edits), journal, edits if with_edits else None)
        while states:
            assert undo(top).refused == []
            assert {file: file.read_bytes() for file in files} == states.pop()
        assert undo(top).verb == ""


@given(st.data())
def test_edits_elsewhere_are_kept(data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, 39), min_size=1, max_size=6, unique=True))
    far = [number for number in range(40) if all(abs(number - ours) > 2 for ours in numbers)]
    theirs = data.draw(st.dictionaries(st.sampled_from(far), texts(30), max_size=5)) if far else {}
    before = b"".join(LINES)
    edits = [at(before, b"line %d " % number, b"row %d " % number) for number in sorted(numbers)]
    with folder() as top:
        (top / "a.txt").write_bytes(before)
        replace(top, {"a.txt": (before, edits)})
        lines = (top / "a.txt").read_bytes().splitlines(keepends=True)
        for number, text in theirs.items():
            lines[number] = text
        (top / "a.txt").write_bytes(b"".join(lines))
        undone = undo(top)
        expected = [theirs.get(number, line) for number, line in enumerate(LINES)]
        assert (top / "a.txt").read_bytes() == b"".join(expected)
        assert undone.refused == []
        assert undone.num_edits == len(numbers)


@given(changes(200), st.integers(0, 200))
def test_a_killed_write_and_an_edit_since_leave_the_file_alone(change: tuple[bytes, Edits], where: int) -> None:
    before, edits = change
    with folder() as top, pytest.MonkeyPatch.context() as patch:
        (top / "a.txt").write_bytes(before)
        patch.setattr(journals.RunLog, "create", _created_then_killed(journals.RunLog.create))
        with pytest.raises(KeyboardInterrupt):
            replace(top, {"a.txt": (before, edits)})
        theirs = before[:where] + b"\0#" + before[where:]
        (top / "a.txt").write_bytes(theirs)
        undo(top)
        assert (top / "a.txt").read_bytes() == theirs


def _created_then_killed(create: Callable[..., journals.RunLog]) -> Callable[..., journals.RunLog]:
    def killed(*arguments: object) -> journals.RunLog:
        create(*arguments).close()
        raise KeyboardInterrupt

    return killed


@given(changes(), texts(300))
def test_other_text_is_never_touched(change: tuple[bytes, Edits], other: bytes) -> None:
    before, edits = change
    with folder() as top:
        (top / "a.txt").write_bytes(before)
        replace(top, {"a.txt": (before, edits)})
        theirs = b"=" + other[:31] + b"=" + other[31:]
        (top / "a.txt").write_bytes(theirs)
        if theirs not in (before, splice(before, edits)):
            undo(top)
            assert (top / "a.txt").read_bytes() == theirs


def test_overlapping_later_edits_are_refused(tmp_path: Path) -> None:
    before = b"".join(LINES)
    edits = [at(before, b"line 5 ", b"row 5 "), at(before, b"line 30 ", b"row 30 ")]
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": before})
    replace(repo.path, {"a.txt": (before, edits)})
    theirs = (repo.path / "a.txt").read_bytes().replace(b"row 5 ", b"ROW 5 ")
    repo.write({"a.txt": theirs})
    undone = undo(repo.path)
    assert (repo.path / "a.txt").read_bytes() == theirs.replace(b"row 30 ", b"line 30 ")
    assert undone.num_edits == 1
    ((path, places, reason),) = undone.refused
    assert (path, places) == ("a.txt", 1)
    assert "edited since" in reason
    assert undo(repo.path).verb == ""


def test_a_place_that_was_copied_is_ambiguous(tmp_path: Path) -> None:
    before = b"".join(LINES)
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": before})
    replace(repo.path, {"a.txt": (before, [at(before, b"line 5 ", b"row 5 ")])})
    twice = (repo.path / "a.txt").read_bytes() * 2
    repo.write({"a.txt": twice})
    undone = undo(repo.path)
    assert "more than once" in undone.refused[0].reason
    assert (repo.path / "a.txt").read_bytes() == twice
    # Nothing was taken back, so the run can be undone when the file is as it was.
    repo.write({"a.txt": twice[: len(twice) // 2]})
    assert undo(repo.path).num_edits == 1
    assert (repo.path / "a.txt").read_bytes() == before


def test_two_runs_one_after_the_other(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.commit({"a.txt": "one\n", "b.txt": "b\n"})
    replace(repo.path, {"a.txt": (b"one\n", [TextEdit(0, 3, b"two")])}, "apply")
    replace(repo.path, {"a.txt": (b"two\n", [TextEdit(0, 3, b"three")]), "b.txt": (b"b\n", [TextEdit(1, 2, b"")])})
    assert [(each.verb, each.num_files, each.is_undone) for each in list_runs(repo.path)] == [
        ("finish", 2, False),
        ("apply", 1, False),
    ]
    assert repo.git("status", "--porcelain") == "M a.txt\n M b.txt"
    index = (repo.path / ".git/index").read_bytes()
    assert sorted(undo(repo.path).files) == ["a.txt", "b.txt"]
    assert (repo.path / "a.txt").read_text() == "two\n"
    assert [each.is_undone for each in list_runs(repo.path)] == [True, False]
    assert undo(repo.path).verb == "apply"
    assert (repo.path / "a.txt").read_text() == "one\n"
    assert undo(repo.path).verb == ""
    assert (repo.path / ".git/index").read_bytes() == index
    assert repo.git("status", "--porcelain", "--untracked-files=all") == ""


def test_mode_and_link_stay(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"bin/a.sh": "one"})
    (repo.path / "bin/a.sh").chmod(0o751)
    (repo.path / "l.sh").symlink_to("bin/a.sh")
    replace(repo.path, {"l.sh": (b"one", [TextEdit(0, 3, b"two")])})
    assert (repo.path / "bin/a.sh").read_text() == "two"
    assert undo(repo.path).files == ["bin/a.sh"]
    assert (repo.path / "bin/a.sh").read_text() == "one"
    assert (repo.path / "bin/a.sh").stat().st_mode & 0o7777 == 0o751
    assert (repo.path / "l.sh").is_symlink()


def test_a_file_name_of_any_bytes(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    name = os.fsdecode(b'\xe9 ": , "\n.txt')
    repo.write({name: "one"})
    replace(repo.path, {name: (b"one", [TextEdit(0, 3, b"\xff\xfe")])})
    assert undo(repo.path).files == [name]
    assert (repo.path / name).read_bytes() == b"one"


def test_a_killed_write_of_text_that_was_there_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = b"".join(LINES) + b"the end\n"
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": before})
    monkeypatch.setattr(journals.RunLog, "create", _created_then_killed(journals.RunLog.create))
    with pytest.raises(KeyboardInterrupt):
        replace(repo.path, {"a.txt": (before, [at(before, b"the end\n", b"")])})
    repo.write({"a.txt": b"mine\n" + before})
    assert len(undo(repo.path).refused) == 1
    assert (repo.path / "a.txt").read_bytes() == b"mine\n" + before


def test_a_place_that_became_like_another_is_not_confused_with_it(tmp_path: Path) -> None:
    half = b"".join(LINES)
    before = half + b"aaa" + half + b"between\n" + half + b"bbb" + half
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": before})
    replace(repo.path, {"a.txt": (before, [at(before, b"aaa", b"ccc"), at(before, b"bbb", b"ccc")])})
    theirs = half + b"ccc" + half
    repo.write({"a.txt": theirs})
    assert undo(repo.path).num_edits == 0
    assert (repo.path / "a.txt").read_bytes() == theirs


def test_a_file_that_was_written_several_times_in_a_run(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": "one"})
    with Journal("finish") as journal:
        for old, new in ((b"one", b"two"), (b"two", b"three"), (b"three", b"four")):
            write_file(repo.path / "a.txt", old, new, journal)
    undone = undo(repo.path)
    assert (undone.files, undone.num_edits, undone.refused) == (["a.txt"], 3, [])
    assert (repo.path / "a.txt").read_text() == "one"
