"""What has changed is what the bytes on disk, in the index and in the commits say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from editvec.core.errors import GitError, UserError
from editvec.syntax.token import decode
from editvec.vcs import git
from editvec.vcs.changes import ChangedFile, Changes
from tests.conftest import Repo
from tests.vcs.changed import CHANGED, NEW, OLD, changes_of


def test_staged_or_not_a_change_is_one(edited: Repo) -> None:
    assert changes_of(edited) == Changes([CHANGED])
    edited.git("add", ".")
    assert changes_of(edited) == Changes([CHANGED])


def test_the_index_alone_counts_as_staged(edited: Repo) -> None:
    assert changes_of(edited, staged=True) == Changes()
    edited.git("add", ".")
    edited.write({"a.py": "again\n", "b.py": NEW, "new.py": NEW})
    assert changes_of(edited, staged=True) == Changes([CHANGED])
    found = changes_of(edited)
    assert found.files == [
        ChangedFile("a.py", OLD.encode(), b"again\n"),
        ChangedFile("b.py", OLD.encode(), NEW.encode()),
    ]
    assert found.skipped == {"new": 1}


def test_a_branch_changes_what_it_did_not_get_from_the_other(edited: Repo) -> None:
    edited.git("stash", "--quiet")
    edited.git("switch", "--quiet", "--create", "topic")
    edited.commit({"a.py": NEW, "new.py": NEW})
    edited.git("switch", "--quiet", "main")
    edited.commit({"b.py": "theirs\n"})
    edited.git("switch", "--quiet", "topic")
    edited.write({"b.py": "mine\n"})
    found = changes_of(edited, since="main")
    assert found.files == [CHANGED, ChangedFile("b.py", OLD.encode(), b"mine\n")]
    assert found.skipped == {"new": 1}


def test_a_commit_changes_its_first_parent(edited: Repo) -> None:
    first = edited.git("rev-parse", "HEAD")
    second = edited.commit({"a.py": NEW, "new.py": NEW})
    edited.commit({"a.py": "later\n"})
    edited.write({"a.py": "not committed\n"})
    found = changes_of(edited, commit=second)
    assert (found.files, found.skipped) == ([CHANGED], {"new": 1})
    assert changes_of(edited, commit="HEAD~1") == found
    root = changes_of(edited, commit=first)
    assert (root.files, root.skipped) == ([], {"new": 2})


def test_a_merge_commit_changes_its_first_parent(edited: Repo) -> None:
    edited.git("switch", "--quiet", "--create", "topic")
    edited.commit({"a.py": NEW})
    edited.git("switch", "--quiet", "main")
    edited.commit({"b.py": NEW})
    edited.git("merge", "--quiet", "--no-edit", "topic")
    assert changes_of(edited, commit="HEAD") == Changes([CHANGED])


def test_a_renamed_file_has_its_old_bytes(edited: Repo) -> None:
    edited.git("mv", "a.py", "z.py")
    edited.git("mv", "b.py", "y.py")
    assert changes_of(edited) == Changes([ChangedFile("z.py", OLD.encode(), NEW.encode())])
    edited.git("add", ".")
    assert changes_of(edited, staged=True) == changes_of(edited)
    edited.commit({})
    assert changes_of(edited, commit="HEAD") == Changes([ChangedFile("z.py", OLD.encode(), NEW.encode())])


def test_a_copy_is_a_new_file(repo: Repo) -> None:
    repo.git("config", "diff.renames", "copies")
    repo.commit({"a.py": OLD})
    repo.write({"copy.py": NEW, "a.py": OLD + "more\n"})
    repo.git("add", ".")
    found = changes_of(repo)
    assert [file.path for file in found.files] == ["a.py"]
    assert found.skipped == {"new": 1}


def test_new_and_deleted_files_are_counted(edited: Repo) -> None:
    edited.write(
        {"b.py": None, "added.py": "1\n", "untracked.py": "1\n", "sub/untracked.py": "1\n", ".gitignore": "x\n"}
    )
    edited.write({"x": "ignored\n", "intended.py": "1\n"})
    edited.git("add", "added.py")
    edited.git("add", "--intent-to-add", "intended.py")
    found = changes_of(edited)
    assert (found.files, found.skipped) == ([CHANGED], {"new": 5, "deleted": 1})
    found = changes_of(edited, staged=True)
    assert (found.files, found.skipped) == ([], {"new": 1})


def test_paths_start_at_the_top(repo: Repo) -> None:
    repo.commit({"sub/deep/a.py": OLD, "b.py": OLD})
    repo.git("config", "diff.relative", "true")
    repo.write({"sub/deep/a.py": NEW, "b.py": NEW, "new.py": "1\n"})
    found = changes_of(repo.path / "sub" / "deep")
    assert [file.path for file in found.files] == ["b.py", "sub/deep/a.py"]
    assert found == changes_of(repo)
    repo.commit({})
    assert changes_of(repo.path / "sub", commit="HEAD").files == found.files


NAMES = [
    b"a b.py",
    b'quo"ted.py',
    b"new\nline.py",
    b"tab\t.py",
    b"\xe9\xff.py",
    "übung.py".encode(),
    b"-option.py",
    b":x",
]


@pytest.mark.skipif(os.name == "nt", reason="such names are not valid on Windows")
def test_any_name_is_a_name(repo: Repo) -> None:
    repo.commit({decode(name): OLD for name in NAMES})
    repo.write({decode(name): NEW for name in NAMES})
    expected = [ChangedFile(path, OLD.encode(), NEW.encode()) for path in sorted(map(decode, NAMES))]
    assert changes_of(repo) == Changes(expected)
    repo.git("add", ".")
    repo.git("mv", "a b.py", "z\ny.py")
    assert [file.path for file in changes_of(repo, staged=True).files][-3:] == [
        "z\ny.py",
        "übung.py",
        "\udce9\udcff.py",
    ]
    repo.commit({})
    assert len(changes_of(repo, commit="HEAD").files) == len(NAMES)


def test_a_mode_is_not_a_change(edited: Repo) -> None:
    (edited.path / "b.py").chmod(0o755)
    assert changes_of(edited) == Changes([CHANGED])
    edited.git("add", ".")
    assert changes_of(edited, staged=True) == Changes([CHANGED])


def test_links_are_not_read(edited: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.py").write_text("secret\n")
    (edited.path / "link").symlink_to("a.py")
    edited.commit({"folder/a.py": OLD})
    (edited.path / "link").unlink()
    (edited.path / "link").symlink_to("b.py")
    (edited.path / "b.py").unlink()
    (edited.path / "b.py").symlink_to("a.py")
    (edited.path / "folder").rename(tmp_path / "moved")
    (edited.path / "folder").symlink_to(tmp_path / "outside")
    found = changes_of(edited)
    assert (found.files, found.skipped) == ([], {"link": 2, "deleted": 1, "new": 1})


@pytest.mark.skipif(os.name == "nt", reason="needs mkfifo")
def test_a_pipe_is_not_read(edited: Repo) -> None:
    (edited.path / "b.py").unlink()
    os.mkfifo(edited.path / "b.py")
    found = changes_of(edited)
    assert (found.files, found.skipped) == ([CHANGED], {"special": 1})


@pytest.mark.parametrize("revision", ["nothing", "", "--all", "main..HEAD", "HEAD:a.py", "HEAD^{tree}", "HEAD~5"])
@pytest.mark.parametrize("option", ["since", "commit"])
def test_an_unknown_revision_gives_one_line(edited: Repo, option: str, revision: str) -> None:
    with pytest.raises(GitError, match=r"names no commit in .* Try a branch, a tag or a commit such as") as error:
        changes_of(edited, **{option: revision})
    assert "\n" not in str(error.value)


def test_one_comparison_at_a_time(edited: Repo) -> None:
    for options in ({"since": "HEAD", "staged": True}, {"since": "HEAD", "commit": "HEAD"}):
        with pytest.raises(UserError, match="Give one of them"):
            changes_of(edited, **options)


def test_files_that_no_person_edits_are_counted(repo: Repo) -> None:
    names = ["vendor/a.py", "a_pb2.py", "large.py", "data.bin", "made.py", "pointer.py", "secret.key"]
    repo.commit({"a.py": OLD, ".gitattributes": "*.key filter=git-crypt\n", **dict.fromkeys(names, OLD)})
    repo.write(dict.fromkeys(["a.py", *names], NEW))
    repo.write({"large.py": b"x\n" * (git.MAX_TEXT_BYTES // 2 + 1), "data.bin": b"a\0b\n"})
    repo.write({"made.py": "# @generated\n", "pointer.py": "version https://git-lfs.github.com/spec/v1\n"})
    expected = {"vendored": 1, "generated": 2, "too large": 1, "binary": 1, "filtered": 2}
    found = changes_of(repo)
    assert (found.files, found.skipped) == ([CHANGED], expected)
    repo.git("add", ".")
    found = changes_of(repo, staged=True)
    assert (found.files, found.skipped) == ([CHANGED], expected)
    repo.commit({})
    found = changes_of(repo, commit="HEAD")
    assert (found.files, found.skipped) == ([CHANGED], expected)


def test_a_file_moved_out_of_a_copied_project_does_not_count(repo: Repo) -> None:
    repo.commit({"vendor/a.py": OLD})
    repo.git("mv", "vendor/a.py", "a.py")
    repo.write({"a.py": NEW})
    found = changes_of(repo)
    assert (found.files, found.skipped) == ([], {"vendored": 1})


def test_any_text_counts(repo: Repo) -> None:
    texts = {"notes": b"a\n", "latin.txt": b"\xe4\n", "wide.txt": "ä\n".encode("utf-16"), "empty.cfg": b""}
    repo.commit(texts)
    repo.write(
        {name: data + ("b\n".encode("utf-16-le") if name == "wide.txt" else b"b\n") for name, data in texts.items()}
    )
    assert {file.path: file.before for file in changes_of(repo).files} == texts


CRLF_OLD, CRLF_NEW = OLD.replace("\n", "\r\n"), NEW.replace("\n", "\r\n")


def test_converted_line_ends_are_not_a_change(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.commit({"a.py": CRLF_OLD, "b.py": CRLF_OLD})
    assert repo.git("cat-file", "-s", "HEAD:a.py") == str(len(OLD))
    repo.write({"a.py": CRLF_NEW, "b.py": CRLF_OLD + "\r\n"})
    repo.write({"b.py": CRLF_OLD})
    assert changes_of(repo) == Changes([ChangedFile("a.py", CRLF_OLD.encode(), CRLF_NEW.encode())])
    repo.git("add", ".")
    assert changes_of(repo, staged=True) == Changes([CHANGED])


def test_line_ends_converted_the_other_way(repo: Repo) -> None:
    repo.commit({"a.py": CRLF_OLD, "b.py": CRLF_OLD, "mixed.py": "a\r\nb\nc\r\nd\r\n"})
    repo.write({"a.py": NEW, "b.py": OLD, "mixed.py": "a\nb\nc\nd\n"})
    mixed = ChangedFile("mixed.py", b"a\r\nb\nc\r\nd\r\n", b"a\nb\nc\nd\n")
    assert changes_of(repo) == Changes([CHANGED, mixed])


def test_a_time_stamp_is_not_a_change(edited: Repo) -> None:
    edited.commit({"b.py": NEW, "vendor/c.py": OLD, "data.bin": b"\0"})
    for name in ("b.py", "vendor/c.py", "data.bin"):
        os.utime(edited.path / name, (1, 1))
    repository = git.open_repository(edited.path)
    assert len(repository.run("diff-index", "--name-only", "HEAD").split()) == 3
    assert changes_of(edited) == Changes()


def test_the_index_is_never_written(edited: Repo) -> None:
    edited.commit({"c.py": OLD})
    edited.write({"b.py": NEW, "new.py": "1\n"})
    edited.git("add", "b.py")
    os.utime(edited.path / "c.py", (1, 1))
    index = edited.path / ".git" / "index"
    before = index.read_bytes(), index.stat().st_mtime_ns
    for options in ({}, {"staged": True}, {"since": "HEAD~1"}, {"commit": "HEAD"}):
        changes_of(edited, **options)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    assert not list((edited.path / ".git").glob("*.lock"))
