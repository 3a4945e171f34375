"""The hooks for pre-commit, run by real pre-commit on staged, partially staged and pushed files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import editvec
from editvec.cli import app
from tests.conftest import Repo, clean_git_environment

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS: list[dict[str, Any]] = yaml.safe_load(MANIFEST.read_text())
OLD = "def f(a):\n    return a == None\n"


def pre_commit(repo: Repo, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs pre-commit in a repository."""
    env = clean_git_environment() | {
        "PRE_COMMIT_HOME": str(repo.path.parent / "pre-commit"),
        "PYTHONPATH": str(ROOT / "src"),
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "a@example.org",
    }
    command = [sys.executable, "-m", "pre_commit", *arguments]
    return subprocess.run(command, cwd=repo.path, env=env, capture_output=True, text=True)


@pytest.fixture
def hooked(prepared: Repo, tmp_path: Path) -> Repo:
    """A repository with committed patterns that uses the hooks, for each test alone."""
    repo = Repo(Path(shutil.copytree(prepared.path, tmp_path / "project")))
    repo._num_commits = 100
    return repo


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository with committed patterns that uses the hooks.

    The hooks are those of the manifest, except that they run in this environment and not in one that is installed.
    """
    repo = Repo.create(tmp_path_factory.mktemp("hooks") / "project")
    commits = [{f"m{at}.py": OLD.replace("a", name)} for at, name in enumerate("bcdeg")]
    for files in commits:
        repo.commit(files, "Add")
    for files in commits:
        repo.commit({name: text.replace("== None", "is None") for name, text in files.items()}, "Use is")
    (repo.path / "editvec.toml").write_text('patterns = ".patterns"\n')
    editvec.learn(repo.path, repo.path / ".patterns", model="none", workers=1)
    hooks = []
    for hook in HOOKS:
        entry = str(hook["entry"]).replace("editvec", f"{sys.executable} -m editvec", 1)
        hooks.append({**hook, "entry": entry, "language": "unsupported", "log_file": f"../{hook['id']}.log"})
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    repo.commit({".pre-commit-config.yaml": yaml.safe_dump(config)}, "Use hooks")
    return repo


def test_the_manifest_is_valid_and_its_options_exist() -> None:
    done = subprocess.run([sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)])
    assert done.returncode == 0
    assert [hook["id"] for hook in HOOKS] == ["editvec", "editvec-fix", "editvec-finish"]
    for hook in HOOKS:
        _, verb, *options = str(hook["entry"]).split()
        known = {name for param in app.commands[verb].params for name in param.opts}
        assert set(options) <= known


def test_staged_files_are_checked_and_fixed(hooked: Repo) -> None:
    hooked.write({"new.py": OLD, "other file": "a == None\n", "untouched.py": OLD})
    hooked.git("add", "new.py", "other file")
    done = pre_commit(hooked, "run", "editvec")
    assert done.returncode == 1 and "new.py:2:12" in done.stdout
    assert "untouched.py" not in done.stdout
    fixed = pre_commit(hooked, "run", "editvec-fix")
    likely = "(possible)" not in done.stdout
    assert (fixed.returncode, "is None" in (hooked.path / "new.py").read_text()) == (
        (1, True) if likely else (0, False)
    )


def test_only_the_staged_half_of_a_file_counts(hooked: Repo) -> None:
    clean = "def h(a):\n    return a is None\n\n\n"
    hooked.write({"new.py": clean})
    hooked.git("add", "new.py")
    hooked.write({"new.py": clean + OLD})
    assert pre_commit(hooked, "run", "editvec").returncode == 0
    assert (hooked.path / "new.py").read_text() == clean + OLD
    hooked.git("add", "new.py")
    hooked.write({"new.py": clean})
    assert pre_commit(hooked, "run", "editvec").returncode == 1
    assert (hooked.path / "new.py").read_text() == clean


def test_excluded_files_stay_excluded_when_they_are_named(hooked: Repo) -> None:
    hooked.write({"editvec.toml": 'patterns = ".patterns"\nexclude = ["new.py"]\n', "new.py": OLD})
    hooked.git("add", "editvec.toml", "new.py")
    assert pre_commit(hooked, "run", "editvec").returncode == 0


def test_a_push_is_told_which_places_it_left_out(hooked: Repo) -> None:
    call = "def test_{0}():\n    self.assertEquals(total({0}), {0})\n\n\n"
    text = "".join(call.format(number) for number in range(8))
    start = hooked.commit({"test_a.py": text}, "Test")
    end = hooked.commit({"test_a.py": text.replace("assertEquals", "assertEqual", 4)}, "Rename")
    arguments = (
        "run",
        "editvec-finish",
        "--hook-stage",
        "pre-push",
        "--remote-branch",
        "main",
        "--local-branch",
        "main",
    )
    push = (*arguments, "--remote-name", "origin", "--remote-url", "x", "--from-ref", start, "--to-ref", end)
    done = pre_commit(hooked, *push)
    assert done.returncode == 1 and "test_a.py:18" in done.stdout
    hooked.commit({"test_a.py": text.replace("assertEquals", "assertEqual")}, "Rename the rest")
    assert pre_commit(hooked, *push).returncode == 0
