"""git's hunks, read from a stream, are the difference between the real versions of the files."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.errors import GitError
from editvec.mining.extract.versions import hash_of, version_after
from editvec.vcs import git
from editvec.vcs.history import CommitChange, FileChange, Hunk, _pieces, unquote, walk
from editvec.vcs.objects import Blobs
from tests.conftest import Repo

TRICKY = [
    b"@@ -1 +1 @@",
    b"@@ -1,2 +1,2 @@ def f():",
    b"diff --git a/a.py b/a.py",
    b":100644 100644 0123456 89abcde M\ta.py",
    b"\x01abc 12 name",
    b" \x01",
    b"index 0123456..89abcde 100644",
    b"--- a/a.py",
    b"+++ b/a.py",
    b"\\ No newline at end of file",
    b"-x",
    b"+x",
    b"",
    b" ",
    b"\t",
    b"x = 1",
    b"y = 2",
    b"\xe9\xff",
    b"\x0c",
    b"a\x0bb\x1cc\x85",
]


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """A file: lines with either kind of ending, with or without one at the end of the file."""
    lines = draw(st.lists(st.sampled_from(TRICKY), max_size=8))
    ends = draw(st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=len(lines), max_size=len(lines)))
    data = b"".join(line + end for line, end in zip(lines, ends, strict=True))
    return data if draw(st.booleans()) else data.rstrip(b"\r\n")


def changes_of(repo: Repo, *, renames: bool = False, pathspecs: Sequence[str] = ("*",)) -> list[CommitChange]:
    repository = git.open_repository(repo.path)
    found = list(walk(repository, git.list_commits(repository), pathspecs, renames=renames))
    assert all(isinstance(change, CommitChange) for change in found)
    return [change for change in found if isinstance(change, CommitChange)]


def file_changes(repo: Repo, *, renames: bool = False) -> list[FileChange]:
    return [file for change in changes_of(repo, renames=renames) for file in change.files]


@given(st.lists(st.tuples(texts(), texts()), min_size=1, max_size=8))
def test_hunks_turn_the_version_before_into_the_version_after(pairs: list[tuple[bytes, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Repo.create(Path(folder) / "r")
        repo.history([{f"{at}.py": pair[side] for at, pair in enumerate(pairs)} for side in (0, 1)])
        found = {file.path: file for file in file_changes(repo)}
    assert set(found) == {f"{at}.py" for at, (before, after) in enumerate(pairs) if before != after}
    for at, (before, after) in enumerate(pairs):
        if before != after:
            file = found[f"{at}.py"]
            assert version_after(before, file.hunks) == after
            assert file.blob_before == hash_of(before, 40)
            assert file.blob_after == hash_of(after, 40)


@given(st.lists(texts(), min_size=2, max_size=6))
def test_hunks_name_the_lines_that_they_hold(versions: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Repo.create(Path(folder) / "r")
        repo.history([{"a.py": version} for version in versions])
        found = file_changes(repo)
    different = [(one, two) for one, two in pairwise(versions) if one != two]
    for (before, after), file in zip(different, found, strict=True):
        for hunk in file.hunks:
            assert before.split(b"\n")[hunk.before :][: hunk.num_before] == hunk.sides()[0]
            assert after.split(b"\n")[hunk.after :][: hunk.num_after] == hunk.sides()[1]


@given(st.lists(st.sampled_from(TRICKY), max_size=6), st.sampled_from([1, 2, 7, 64]))
def test_the_stream_is_cut_at_the_same_places_however_it_arrives(lines: list[bytes], size: int) -> None:
    body = b"".join(b"+" + line + b"\n" for line in lines)
    parts = [b"\x01head\n", b"diff --git a/a b/a\n" + body, b"diff --git a/b b/b\n" + body, b"\x01head\n"]

    class Slow(io.BytesIO):
        def read1(self, number: int | None = -1, /) -> bytes:
            return super().read1(size)

    assert list(_pieces(Slow(b"".join(parts)))) == parts


def test_a_commit_and_its_message_come_as_they_are(repo: Repo) -> None:
    message = (
        "Subject\n\ndiff --git a/x.py b/x.py\nindex 0..1 100644\n@@ -1 +1 @@\n-a\n+b\n"
        ":100644 100644 0123 4567 M\ta.py\n\x01abc\x01\n \x01\n  indented ümlaut"
    )
    repo.commit({"a.py": "x = 1\n"})
    identity = repo.commit({"a.py": "x = 2\n", "b.py": "y = 1\n"}, message, author="Ada \x01 Lovelace é")
    (change,) = changes_of(repo)
    assert change.commit.identity == identity
    assert change.commit.author == "Ada \x01 Lovelace é"
    assert change.commit.date == datetime.fromtimestamp(1_600_086_400, UTC)
    assert change.commit.message == message
    (file,) = change.files
    assert (file.path, file.hunks) == ("a.py", (Hunk(0, 1, 0, 1, b"-x = 1\n+x = 2\n"),))


def test_a_commit_without_a_message(repo: Repo) -> None:
    repo.history([{"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n"}])
    tree = repo.git("rev-parse", "main^{tree}")
    parent = repo.git("rev-parse", "main^")
    raw = f"tree {tree}\nparent {parent}\nauthor  <> 0 +0000\ncommitter  <> 99999999999999 +0000\n\n"
    identity = repo.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw.encode())
    repo.git("update-ref", "refs/heads/main", identity)
    (change,) = changes_of(repo)
    assert (change.commit.message, change.commit.author) == ("", "")
    assert len(change.files) == 1


def test_a_message_in_another_encoding_becomes_unicode(repo: Repo) -> None:
    repo.commit({"a.py": "x = 1\n"})
    repo.git("config", "i18n.commitEncoding", "ISO-8859-1")
    repo.write({"a.py": "x = 2\n"})
    repo.git("commit", "-a", "--file=-", stdin="für".encode("latin-1"))
    (change,) = changes_of(repo)
    assert change.commit.message == "für"


@pytest.mark.parametrize("encoding", ["UTF-16", "EBCDIC-US"])
def test_the_repository_cannot_choose_the_encoding(repo: Repo, encoding: str) -> None:
    repo.edit("a.py", "x = 1\n", "x = 2\n")
    repo.git("config", "i18n.logOutputEncoding", encoding)
    assert len(file_changes(repo)) == 1


def test_a_rename_with_a_change_has_the_new_name(repo: Repo) -> None:
    lines = [f"x{number} = {number}\n" for number in range(20)]
    repo.commit({"old name.py": "".join(lines)})
    repo.commit({"old name.py": None, "new\tname.py": "".join(["y = 0\n", *lines[1:]])})
    (file,) = file_changes(repo, renames=True)
    assert file.path == "new\tname.py"
    assert file.hunks == (Hunk(0, 1, 0, 1, b"-x0 = 0\n+y = 0\n"),)
    assert file_changes(repo, renames=False) == []


def test_files_that_change_in_the_same_way_keep_their_own_names(repo: Repo) -> None:
    names = ["a.py", "b.py", "c/a.py"]
    repo.commit(dict.fromkeys(names, "x = 1\n"))
    repo.commit(dict.fromkeys(names, "x = 2\n"))
    assert [file.path for file in file_changes(repo)] == names


def test_links_submodules_and_changes_of_mode_are_no_files(repo: Repo) -> None:
    repo.write({"a.py": "x = 1\n"})
    (repo.path / "link.py").symlink_to("a.py")
    (repo.path / "becomes.py").symlink_to("a.py")
    first, second = repo.commit({}), repo.commit({"other.txt": "x"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{first},module.py")
    repo.git("commit", "-qm", "m")
    (repo.path / "link.py").unlink()
    (repo.path / "link.py").symlink_to("b.py")
    (repo.path / "becomes.py").unlink()
    (repo.path / "a.py").chmod(0o755)
    repo.write({"becomes.py": "x = 1\n"})
    repo.git("add", "a.py", "link.py", "becomes.py")
    repo.git("update-index", "--cacheinfo", f"160000,{second},module.py")
    repo.git("commit", "-qm", "m")
    assert repo.git("diff", "--name-only", "HEAD^", "HEAD").split() == ["a.py", "becomes.py", "link.py", "module.py"]
    assert file_changes(repo) == []


def test_a_binary_file_has_no_hunks(repo: Repo) -> None:
    repo.commit({"a.py": b"x\0\n", "b.py": "x = 1\n"})
    repo.commit({"a.py": b"y\0\n", "b.py": "x = 2\n"})
    assert [(file.path, len(file.hunks)) for file in file_changes(repo)] == [("a.py", 0), ("b.py", 1)]


def test_git_ended_by_somebody_is_no_missing_object(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that could not be read is remembered as such; one whose git was killed must not be."""
    repo.edit("a.py", "x = 1\n", "x = 2\n")
    repository = git.open_repository(repo.path)
    commits = git.list_commits(repository)
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "git"
    fake.write_text("#!/bin/sh\nkill -KILL $$\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    with pytest.raises(GitError, match="signal 9"):
        list(walk(repository, commits, ["*"], renames=True))
    with pytest.raises(GitError, match="ended unexpectedly"):
        Blobs(repository, 1000).read(b"0" * 40)


ODD = [
    "plain.py",
    "a b.py",
    "tab\t.py",
    "new\nline.py",
    'quo"te.py',
    "back\\slash.py",
    "-dash.py",
    "ümlaut.py",
    "\x01.py",
]
ODD += ["bell\a\b\v\f\r.py", "日本語.py", '"both".py', "trailing .py", "\\303\\274.py", "esc\x1b.py", "\x7f.py"]


def test_unquote_undoes_what_git_does_to_names(repo: Repo) -> None:
    repo.commit(dict.fromkeys(ODD, ""))
    printed = repo.git("-c", "core.quotePath=true", "ls-files").split("\n")
    exact = repo.git("ls-files", "-z").strip("\0").split("\0")
    assert [unquote(name.encode()) for name in printed] == exact
    assert sorted(exact) == sorted(ODD)


@given(st.binary(min_size=1, max_size=12))
def test_unquote_reads_every_byte_as_an_octal_escape(name: bytes) -> None:
    quoted = b'"' + b"".join(b"\\%03o" % byte for byte in name) + b'"'
    assert unquote(quoted) == name.decode("utf-8", "surrogateescape")


def test_a_line_that_says_what_git_says_is_a_line() -> None:
    said = b"\\ No newline at end of file\n"
    for after in (said, b"a\n" + said, b"a\n" + said[:-1], said + b"b\n"):
        with tempfile.TemporaryDirectory() as folder:
            repo = Repo.create(Path(folder) / "r")
            repo.history([{"0.py": b"x\n"}, {"0.py": after}])
            (file,) = file_changes(repo)
        assert version_after(b"x\n", file.hunks) == after
