"""The journal survives kills, is bounded, and is not trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from editvec.core.errors import BadInputError, UserError
from editvec.core.splice import TextEdit
from editvec.rewrite import journal as journals
from editvec.rewrite.journal import Journal, run_files
from editvec.rewrite.undo import list_runs, undo
from editvec.rewrite.writer import write_file
from tests.cli.run import run
from tests.conftest import Repo
from tests.rewrite.written import LINES, at, replace

CODE = "class A {\n\tvoid M() {\n\t\tcount = count + 1; // one\n\t\tthis.b = this.b + 1;\n\t}\n}\n"
INCREMENT = ("--like", "x = x + 1;", "x++;")


def test_killed_between_the_journal_and_the_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": "one", "b.txt": "one", "c.txt": "one"})
    change = (b"one", [TextEdit(0, 3, b"two")])
    rename = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if Path(target).name == "b.txt":
            left.write_bytes(self.read_bytes())
            raise OSError(5, "killed")
        return rename(self, target)

    left = repo.path / ".b.txt.abcd_123.partial"
    repo.write({".b.txt.partial": "mine", ".a.txt.abcd_123.partial": "of another run"})
    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(OSError, match="killed"):
        replace(repo.path, {"a.txt": change, "b.txt": change, "c.txt": change})
    monkeypatch.undo()
    assert list_runs(repo.path)[0].num_files == 2
    undone = undo(repo.path)
    assert (undone.files, undone.unchanged, undone.refused) == (["a.txt"], ["b.txt"], [])
    assert [(repo.path / name).read_text() for name in ("a.txt", "b.txt", "c.txt")] == ["one"] * 3
    assert not left.exists()
    assert {path.name for path in repo.path.glob(".*.partial")} == {".b.txt.partial", ".a.txt.abcd_123.partial"}


def test_an_interrupted_undo_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = b"".join(LINES)
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": before, "b.txt": before})
    edits = [at(before, b"line 5 ", b"row 5 ")]
    replace(repo.path, {"a.txt": (before, edits), "b.txt": (before, edits)})
    (repo.path / "a.txt").write_bytes((repo.path / "a.txt").read_bytes() + b"mine\n")
    rename = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if Path(target).name == "b.txt":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        undo(repo.path)
    monkeypatch.undo()
    undone = undo(repo.path)
    assert (undone.files, undone.unchanged, undone.refused) == (["b.txt"], ["a.txt"], [])
    assert (repo.path / "a.txt").read_bytes() == before + b"mine\n"
    assert (repo.path / "b.txt").read_bytes() == before


@pytest.mark.parametrize("enough", range(1, 269, 36))
def test_a_line_that_was_cut_off_is_of_a_file_that_was_not_written(tmp_path: Path, enough: int) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": "one", "b.txt": "one"})
    change = (b"one", [TextEdit(0, 3, b"two")])
    replace(repo.path, {"a.txt": change, "b.txt": change})
    (file,) = run_files(repo.path / ".editvec/undo")
    assert len(file.read_bytes().splitlines()[2]) > enough
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[1] + lines[2][:enough])
    if b'","after"' in lines[2][:enough]:
        with pytest.raises(BadInputError, match=r"the entry of b\.txt is cut off"):
            undo(repo.path)
    repo.write({"b.txt": "one"})
    assert undo(repo.path).files == ["a.txt"]
    assert undo(repo.path).verb == ""


def _gone(repo: Repo, outside: Path) -> None:
    (repo.path / "d/a.txt").unlink()


def _folder_link(repo: Repo, outside: Path) -> None:
    (repo.path / "d").rename(outside)
    (repo.path / "d").symlink_to(outside)


def _file_link(repo: Repo, outside: Path) -> None:
    (repo.path / "d/a.txt").rename(outside)
    (repo.path / "d/a.txt").symlink_to(outside)


def _folder_now(repo: Repo, outside: Path) -> None:
    (repo.path / "d/a.txt").unlink()
    (repo.path / "d/a.txt").mkdir()


def _other_tree(repo: Repo, outside: Path) -> None:
    repo.git("init", "--quiet", "d")


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (_gone, "does not exist"),
        (_folder_link, "d is a symbolic link"),
        (_file_link, "d/a.txt is a symbolic link"),
        (_folder_now, "not a regular file"),
        (_other_tree, "another work tree"),
    ],
)
def test_files_that_are_gone_are_refused(tmp_path: Path, happens: Callable[[Repo, Path], None], reason: str) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"d/a.txt": "one", "b.txt": "one"})
    change = (b"one", [TextEdit(0, 3, b"two")])
    replace(repo.path, {"d/a.txt": change, "b.txt": change})
    outside = tmp_path / "outside"
    happens(repo, outside)
    undone = undo(repo.path)
    assert undone.files == ["b.txt"]
    ((path, places, why),) = undone.refused
    assert (path, places) == ("d/a.txt", 1)
    assert reason in why
    if outside.exists():
        assert (outside / "a.txt" if outside.is_dir() else outside).read_text() == "two"


@pytest.mark.parametrize(
    "path",
    [
        "../out.txt",
        "d/../../out.txt",
        "/OUT",
        "",
        ".",
        ".git/config",
        "d/.GIT/config",
        ".editvec/x",
        "a\0b",
        "\udce9\ud800",
    ],
)
def test_a_made_up_path_leads_nowhere(tmp_path: Path, path: str) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": "one", "d/.GIT/config": "two", ".editvec/x": "two"})
    replace(repo.path, {"a.txt": (b"one", [TextEdit(0, 3, b"two")])})
    (tmp_path / "out.txt").write_text("two")
    (repo.path / ".git/config").write_bytes(b"two")
    (file,) = run_files(repo.path / ".editvec/undo")
    head, line, _ = file.read_bytes().split(b"\n")
    record = json.loads(line) | {"path": str(tmp_path / "out.txt") if path == "/OUT" else path}
    file.write_bytes(head + b"\n" + json.dumps(record).encode() + b"\n")
    (repo.path / ".git/config").write_bytes(b"")
    undone = undo(repo.path)
    assert undone.files == []
    assert len(undone.refused) == 1
    assert (tmp_path / "out.txt").read_text() == "two"
    assert (repo.path / "d/.GIT/config").read_text() == "two"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"{",
        lambda data: b"garbage\n",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b'"written"', b'"wrote"'),
        lambda data: data.replace(b'"schema":1', b'"schema":2'),
        lambda data: data.replace(b'"step":"write"', b'"step":"run"'),
        lambda data: data + b"{}\n",
        lambda data: data.replace(b'"stood":"', b'"stood":"?'),
    ],
)
def test_a_damaged_journal_is_one_error(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": "one"})
    replace(repo.path, {"a.txt": (b"one", [TextEdit(0, 3, b"two")])})
    (file,) = run_files(repo.path / ".editvec/undo")
    data = file.read_bytes()
    file.write_bytes(damage(data))
    for option in ((), ("--list",)):
        done = run("undo", *option, cwd=repo.path, code=3)
        assert done.stderr.count("\n") == 1
        assert file.name in done.stderr
    assert file.read_bytes() == damage(data)
    assert (repo.path / "a.txt").read_text() == "two"


def test_a_journal_that_lies_about_a_file(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": "one"})
    replace(repo.path, {"a.txt": (b"one", [TextEdit(0, 3, b"two")])})
    (file,) = run_files(repo.path / ".editvec/undo")
    lies = [(b'"offset":0', wrong) for wrong in (b'"offset":7', b'"offset":-1', b'"offset":1')]
    for right, wrong in (*lies, (b'"stood":"b25l"', b'"stood":"eHh4"')):
        data = file.read_bytes()
        assert right in data
        file.write_bytes(data.replace(right, wrong))
        assert len(undo(repo.path).refused) == 1
        file.write_bytes(data)
    assert (repo.path / "a.txt").read_text() == "two"


def test_a_journal_that_came_with_the_repository(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": "one"})
    replace(repo.path, {"a.txt": (b"one", [TextEdit(0, 3, b"two")])})
    repo.git("add", "--force", ".editvec")
    with pytest.raises(UserError, match="git tracks"):
        undo(repo.path)
    repo.git("rm", "--quiet", "-r", "--cached", ".editvec")
    assert undo(repo.path).files == ["a.txt"]


@pytest.mark.parametrize("name", [".editvec", ".editvec/undo"])
def test_a_journal_behind_a_link_is_not_used(tmp_path: Path, name: str) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.cs": CODE})
    (tmp_path / "outside/undo").mkdir(parents=True)
    (repo.path / name).parent.mkdir(exist_ok=True)
    (repo.path / name).symlink_to(tmp_path / "outside")
    done = run("apply", *INCREMENT, "a.cs", "-U", cwd=repo.path, code=1)
    assert "a.cs: not written" in done.stderr and "symbolic link" in done.stderr
    assert (repo.path / "a.cs").read_text() == CODE
    assert [path.name for path in (tmp_path / "outside").rglob("*")] == ["undo"]
    assert "symbolic link" in run("undo", cwd=repo.path, code=2).stderr


def test_the_journal_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.txt": "0"})
    for number in range(25):
        old, new = b"%d" % number, b"%d" % (number + 1)
        replace(repo.path, {"a.txt": (old, [TextEdit(0, len(old), new)])})
    assert len(list_runs(repo.path)) == 20
    assert undo(repo.path).num_edits == 1
    assert (repo.path / "a.txt").read_text() == "24"
    monkeypatch.setattr(journals, "MAX_JOURNAL_BYTES", 3000)
    replace(repo.path, {"a.txt": (b"24", [TextEdit(0, 2, b"x")])})
    kept = run_files(repo.path / ".editvec/undo")
    assert 2 <= len(kept) < 10
    assert sum(file.stat().st_size for file in kept) <= 3000
    monkeypatch.setattr(journals, "MAX_JOURNAL_BYTES", 10)
    replace(repo.path, {"a.txt": (b"x", [TextEdit(0, 1, b"y" * 99)])})
    assert len(run_files(repo.path / ".editvec/undo")) == 1
    assert undo(repo.path).num_edits == 1
    assert (repo.path / "a.txt").read_text() == "x"


def test_wrong_edits_are_a_bug(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    with Journal("finish") as journal, pytest.raises(ValueError, match="do not turn"):
        write_file(tmp_path / "a.txt", b"one", b"two", journal, [TextEdit(0, 1, b"t")])
    assert (tmp_path / "a.txt").read_text() == "one"
