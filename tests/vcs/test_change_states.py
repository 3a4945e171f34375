"""Changes are read in every state of a repository: without commits, in conflict, incomplete, inside another one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from editvec.core.errors import GitError
from editvec.vcs.changes import ChangedFile, Changes
from tests.conftest import Repo, clean_git_environment
from tests.vcs.changed import CHANGED, NEW, OLD, changes_of

IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(list(map(str, arguments)), capture_output=True, env=clean_git_environment())


def clone_of(repo: Repo, target: Path, *options: str) -> Repo:
    assert run("git", "clone", "-q", *options, f"file://{repo.path}", target).returncode == 0
    return Repo(target)


def forget(repo: Repo, name: str) -> None:
    """Deletes the file of an object by hand."""
    identity = repo.git("rev-parse", name)
    file = repo.path / ".git" / "objects" / identity[:2] / identity[2:]
    file.chmod(0o600)
    file.unlink()


def test_a_repository_without_a_commit_shows_nothing(repo: Repo) -> None:
    assert changes_of(repo) == Changes()
    repo.write({"a.py": OLD, "b.py": OLD})
    repo.git("add", "a.py")
    assert changes_of(repo).skipped == {"new": 2}
    assert changes_of(repo, staged=True).skipped == {"new": 1}
    for options in ({"since": "HEAD"}, {"commit": "HEAD"}):
        with pytest.raises(GitError, match="'HEAD' names no commit"):
            changes_of(repo, **options)


def test_head_may_be_detached(edited: Repo) -> None:
    edited.git("checkout", "--quiet", "--detach")
    assert changes_of(edited) == Changes([CHANGED])
    assert changes_of(edited, since="main") == Changes([CHANGED])


def test_a_shallow_clone_says_what_it_lacks(edited: Repo, tmp_path: Path) -> None:
    edited.commit({"a.py": NEW})
    edited.commit({"b.py": NEW})
    shallow = clone_of(edited, tmp_path / "shallow", "--depth=2")
    shallow.write({"a.py": OLD})
    (tmp_path / "shallow" / "sub").mkdir()
    assert changes_of(shallow).files == [ChangedFile("a.py", NEW.encode(), OLD.encode())]
    assert [file.path for file in changes_of(shallow, commit="HEAD").files] == ["b.py"]
    for place in (shallow.path, shallow.path / "sub"):
        with pytest.raises(GitError, match="is shallow and does not hold the commit before"):
            changes_of(place, commit="HEAD~1")
        with pytest.raises(GitError, match=r"'HEAD~2' names no commit .* The clone is shallow"):
            changes_of(place, since="HEAD~2")


def test_a_shallow_branch_may_have_no_common_commit(edited: Repo, tmp_path: Path) -> None:
    edited.git("branch", "topic")
    edited.commit({"a.py": NEW})
    edited.git("switch", "--quiet", "topic")
    edited.commit({"b.py": NEW})
    shallow = clone_of(edited, tmp_path / "shallow", "--depth=1", "--no-single-branch")
    with pytest.raises(GitError, match=r"no common commit .* The clone is shallow"):
        changes_of(shallow, since="origin/main")


def test_unrelated_histories_have_no_common_commit(edited: Repo) -> None:
    edited.git("switch", "--quiet", "--force", "--orphan", "other")
    edited.commit({"a.py": NEW})
    with pytest.raises(GitError, match="'main' and HEAD have no common commit"):
        changes_of(edited, since="main")


def conflict(repo: Repo) -> None:
    """Makes two branches, `main` and `topic`, that conflict in a.py, with changes of c.py on one side."""
    repo.commit({"a.py": OLD, "b.py": OLD, "c.py": OLD})
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit({"a.py": OLD.replace("line 7\n", "theirs\n"), "c.py": NEW})
    repo.git("switch", "--quiet", "main")
    repo.commit({"a.py": OLD.replace("line 7\n", "mine\n")})


@pytest.mark.parametrize("command", ["merge", "rebase"])
def test_conflicts_are_not_changes(repo: Repo, command: str) -> None:
    conflict(repo)
    done = run("git", "-C", repo.path, *IDENTITY, command, "topic")
    assert done.returncode
    assert repo.git("ls-files", "--unmerged")
    repo.write({"b.py": NEW})
    found = changes_of(repo)
    expected = ["b.py", "c.py"] if command == "merge" else ["b.py"]
    assert [file.path for file in found.files] == expected
    assert found.skipped == {"unmerged": 1}
    assert changes_of(repo, staged=True).skipped == {"unmerged": 1}
    repo.write({"a.py": OLD.replace("line 7\n", "both\n")})
    repo.git("add", "a.py")
    assert [file.path for file in changes_of(repo).files] == ["a.py", *expected]
    assert not changes_of(repo).skipped


def test_a_file_deleted_on_one_side_is_unmerged(repo: Repo) -> None:
    repo.commit({"a.py": OLD, "b.py": OLD})
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit({"a.py": NEW})
    repo.git("switch", "--quiet", "main")
    repo.commit({"a.py": None})
    assert run("git", "-C", repo.path, *IDENTITY, "merge", "topic").returncode
    assert repo.git("ls-files", "--unmerged")
    for staged in (False, True):
        found = changes_of(repo, staged=staged)
        assert (found.files, found.skipped) == ([], {"unmerged": 1})


def test_a_linked_work_tree_has_its_own_changes(edited: Repo, tmp_path: Path) -> None:
    edited.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    assert changes_of(linked) == Changes()
    linked.write({"b.py": NEW})
    assert [file.path for file in changes_of(linked).files] == ["b.py"]
    linked.git("add", ".")
    assert [file.path for file in changes_of(linked, staged=True).files] == ["b.py"]
    assert changes_of(edited) == Changes([CHANGED])


def test_a_submodule_has_its_own_changes(make_repo: Callable[..., Repo], edited: Repo) -> None:
    outer = make_repo("outer")
    outer.commit({"a.py": OLD})
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(edited.path), "sub/inner")
    outer.commit({})
    inner = Repo(outer.path / "sub" / "inner")
    inner.write({"a.py": NEW})
    assert changes_of(inner) == Changes([CHANGED])
    assert changes_of(outer) == Changes()
    inner.commit({})
    assert changes_of(inner, commit="HEAD") == Changes([CHANGED])
    assert changes_of(outer) == Changes()
    outer.git("rm", "--quiet", "--cached", "sub/inner")
    (outer.path / "a.py").unlink()
    outer.git("update-index", "--cacheinfo", f"160000,{inner.git('rev-parse', 'HEAD')},a.py")
    assert changes_of(outer, staged=True).skipped == {"submodule": 1}


def test_a_repository_inside_the_work_tree_is_not_a_file(edited: Repo) -> None:
    Repo.create(edited.path / "inner").commit({"a.py": OLD})
    found = changes_of(edited)
    assert (found.files, found.skipped) == ([CHANGED], {"submodule": 1})


def test_missing_blobs_are_counted(edited: Repo) -> None:
    edited.write({"b.py": "other\n"})
    edited.commit({"b.py": "mine\n"})
    edited.write({"a.py": "again\n", "b.py": "again\n"})
    forget(edited, "HEAD:b.py")
    found = changes_of(edited)
    assert found.files == [ChangedFile("a.py", NEW.encode(), b"again\n")]
    assert found.skipped == {"missing": 1}
    assert changes_of(edited, commit="HEAD").skipped == {"missing": 1}


def test_a_file_renamed_from_a_missing_blob_does_not_stop_the_others(edited: Repo) -> None:
    edited.commit({"b.py": "other\n" + OLD})
    edited.git("mv", "b.py", "y.py")
    edited.write({"y.py": OLD + "more\n", "a.py": OLD})
    edited.git("add", ".")
    forget(edited, "HEAD:b.py")
    assert changes_of(edited).files == [ChangedFile("a.py", NEW.encode(), OLD.encode())]


@pytest.mark.parametrize("filtered", [False, True])
def test_a_partial_clone_without_network_works_with_what_it_has(edited: Repo, tmp_path: Path, filtered: bool) -> None:
    edited.git("config", "uploadpack.allowFilter", "true")
    edited.commit({".gitattributes": "*.py filter=x\n" if filtered else "*.c text\n", "a.py": "earlier\n"})
    edited.commit({".gitattributes": "*.md text\n", "a.py": "later\n"})
    edited.git("mv", "b.py", "y.py")
    edited.commit({"y.py": NEW})
    partial = clone_of(edited, tmp_path / "partial", "--filter=blob:none")
    edited.path.rename(tmp_path / "gone")
    partial.write({"y.py": OLD + "more\n", "a.py": OLD})
    assert [file.path for file in changes_of(partial).files] == ["a.py", "y.py"]
    found = changes_of(partial, since="HEAD~2")
    # The rename of b.py cannot be found without its blob.
    assert (found.files, found.skipped) == ([], {"missing": 2, "new": 1, "deleted": 1})
    assert changes_of(partial, commit="HEAD~1").skipped == {"missing": 2}
    assert changes_of(partial, commit="HEAD~2").skipped == {"new": 1, "missing": 1}


def test_missing_attributes_do_not_hide_a_commit(edited: Repo, tmp_path: Path) -> None:
    edited.git("config", "uploadpack.allowFilter", "true")
    edited.git("stash", "--quiet")
    edited.commit({".gitattributes": "*.c text\n"})
    second = edited.commit({"a.py": NEW})
    edited.commit({".gitattributes": "*.md text\n"})
    partial = clone_of(edited, tmp_path / "partial", "--filter=blob:none")
    edited.path.rename(tmp_path / "gone")
    assert changes_of(partial, commit=second) == Changes([CHANGED])


def test_a_bare_repository_has_commits_alone(edited: Repo, tmp_path: Path) -> None:
    edited.commit({"a.py": NEW})
    bare = clone_of(edited, tmp_path / "bare", "--bare")
    assert changes_of(bare, commit="main") == Changes([CHANGED])
    with pytest.raises(GitError, match="has no work tree to compare"):
        changes_of(bare)
    with pytest.raises(GitError, match="has no work tree to compare"):
        changes_of(bare, since="main")


def test_files_outside_a_sparse_checkout_are_as_in_the_index(repo: Repo) -> None:
    repo.commit({"in/a.py": OLD, "out/b.py": OLD})
    repo.commit({"in/a.py": NEW, "out/b.py": NEW})
    repo.git("sparse-checkout", "set", "--cone", "in")
    assert not (repo.path / "out").exists()
    assert changes_of(repo) == Changes()
    found = changes_of(repo, since="HEAD~1")
    # The merge base of an ancestor is that ancestor.
    assert found.files == [ChangedFile(path, OLD.encode(), NEW.encode()) for path in ("in/a.py", "out/b.py")]


def test_a_file_that_git_does_not_look_at_is_not_read_through_a_link(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": OLD, "folder/b.py": OLD})
    repo.commit({"a.py": NEW, "folder/b.py": NEW})
    repo.git("update-index", "--assume-unchanged", "folder/b.py")
    (repo.path / "folder").rename(tmp_path / "outside")
    (repo.path / "folder").symlink_to(tmp_path / "outside")
    found = changes_of(repo, since="HEAD~1")
    assert found.files == [CHANGED]
    assert found.skipped == {"link": 1, "new": 1}


def test_other_hash_functions(make_repo: Callable[..., Repo]) -> None:
    repo = make_repo("project", "--object-format=sha256")
    assert changes_of(repo) == Changes()
    root = repo.commit({"a.py": OLD})
    repo.write({"a.py": NEW})
    assert changes_of(repo) == Changes([CHANGED])
    assert changes_of(repo, commit=root).skipped == {"new": 1}
