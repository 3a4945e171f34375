"""What the tests share: git repositories made on the spot, and caches of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("quick", max_examples=25, derandomize=True, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=200, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

_START = 1_600_000_000
_DAY = 86_400


def clean_git_environment() -> dict[str, str]:
    """An environment in which neither the user's nor the system's git configuration counts."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return env | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}


class Repo:
    """A repository made with real git: the same calls give the same commits. Each commit is a day later."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._num_commits = 0

    @classmethod
    def create(cls, path: Path, *options: str) -> Repo:
        """A new repository without commits."""
        path.mkdir(parents=True)
        repo = cls(path)
        repo.git("init", "--quiet", "--initial-branch=main", *options)
        return repo

    def git(self, *arguments: str, stdin: bytes = b"", author: str = "Ada", day: int | None = None) -> str:
        """What a git call in the repository prints; it must succeed. Commits that it makes are of the given day."""
        date = f"{_START + _DAY * (self._num_commits if day is None else day)} +0000"
        who = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": date}
        who |= {"GIT_COMMITTER_NAME": "Cy", "GIT_COMMITTER_EMAIL": "c@example.org", "GIT_COMMITTER_DATE": date}
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            input=stdin,
            capture_output=True,
            env=clean_git_environment() | who,
        )
        assert done.returncode == 0, (arguments, done.stderr.decode(errors="replace"))
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Puts files into the work tree; None takes one away."""
        for name, content in files.items():
            file = self.path / name
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(
        self,
        files: Mapping[str, str | bytes | None],
        message: str = "change",
        *,
        author: str = "Ada",
        day: int | None = None,
    ) -> str:
        """Writes files and commits everything; the commit's identity."""
        self.write(files)
        self.git("add", "--all")
        options = ("--quiet", "--allow-empty", "--cleanup=verbatim", "--file=-")
        self.git("commit", *options, stdin=message.encode(), author=author, day=day)
        self._num_commits += 1
        return self.git("rev-parse", "HEAD")

    def history(self, commits: Iterable[Mapping[str, bytes]]) -> None:
        """Many commits on top of the last at once, by fast-import; the work tree stays as it is."""
        parts, first = [], self._num_commits
        for number, files in enumerate(commits, first):
            who = b"A <a@example.org> %d +0000" % (_START + _DAY * number)
            parts.append(b"commit refs/heads/main\nauthor %s\ncommitter %s\ndata 2\nc\n" % (who, who))
            if number == first and number:
                parts.append(b"from refs/heads/main^0\n")
            for name, content in files.items():
                parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(content), content))
            self._num_commits += 1
        self.git("fast-import", "--quiet", stdin=b"".join(parts))

    def edit(self, name: str, before: str | bytes, after: str | bytes) -> str:
        """Two commits: a file as it was, and as it is; the second one's identity."""
        self.commit({name: before})
        return self.commit({name: after})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for each test alone."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., Repo]:
    """Makes repositories below the test's folder."""

    def make(name: str = "project", *options: str) -> Repo:
        return Repo.create(tmp_path / name, *options)

    return make


@pytest.fixture
def repo(make_repo: Callable[..., Repo]) -> Repo:
    """A repository without commits."""
    return make_repo()
