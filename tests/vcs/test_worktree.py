"""Paths that a user gives, as paths in the work tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from editvec.core.errors import UserError
from editvec.vcs.git import open_repository
from editvec.vcs.worktree import below_top, worktree_files
from tests.conftest import Repo


def test_paths_are_relative_to_the_top(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"src/a.py": "x = 1\n", "src/*.py": "x = 1\n", "b.py": "x = 1\n"})
    (tmp_path / "link").symlink_to(repo.path)
    (repo.path / "out.py").symlink_to(tmp_path)
    repository = open_repository(repo.path)
    monkeypatch.chdir(repo.path / "src")
    paths: list[str | Path] = [
        "a.py",
        "..",
        "../b.py",
        repo.path / "src",
        tmp_path / "link" / "b.py",
        tmp_path / "link",
        "../out.py",
    ]
    assert below_top(repository, paths) == ["src/a.py", ".", "b.py", "src", "b.py", ".", "out.py"]
    read = worktree_files(repository, {"python"}, paths=["src/*.py"])
    assert [file.path for file in read] == ["src/*.py"]


@pytest.mark.parametrize("path", ["..", "../..", "/", "src/../.."])
def test_paths_outside_are_refused(repo: Repo, path: str) -> None:
    repo.commit({"src/a.py": "x = 1\n"})
    with pytest.raises(UserError, match="not in the work tree"):
        below_top(open_repository(repo.path), [repo.path / path])
    with pytest.raises(UserError, match="does not exist"):
        below_top(open_repository(repo.path), [repo.path / "none.py"])
