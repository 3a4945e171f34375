"""Repositories, environments and arguments that try to run programs: none ever runs, and the work goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from editvec.cli import app
from editvec.core.errors import GitError
from editvec.mining.options import locate
from editvec.rewrite.writer import dirty_files, find_files
from editvec.vcs import git
from editvec.vcs.changes import read_changes
from editvec.vcs.worktree import worktree_files
from tests.conftest import Repo, clean_git_environment
from tests.mining.run import mine

BEFORE, AFTER = "total = first(items)\n", "total = last(items)\n"
TEXTS = [("total = first(items)", "total = last(items)")]

HOOKS = [
    "post-checkout",
    "pre-auto-gc",
    "reference-transaction",
    "post-index-change",
    "fsmonitor-watchman",
    "post-rewrite",
]

COMMANDS = {
    "diff.external": "{program}",
    "diff.x.command": "{program}",
    "diff.x.textconv": "{program}",
    "core.fsmonitor": "{program}",
    "core.pager": "{program}",
    "pager.diff-tree": "{program}",
    "pager.rev-list": "{program}",
    "pager.cat-file": "{program}",
    "core.editor": "{program}",
    "core.askPass": "{program}",
    "core.sshCommand": "{program}",
    "core.gitProxy": "{program}",
    "core.alternateRefsCommand": "{program}",
    "core.hooksPath": "{hooks}",
    "credential.helper": "!{program}",
    "filter.x.clean": "{program}",
    "filter.x.smudge": "{program}",
    "filter.x.process": "{program}",
    "filter.x.required": "true",
    "filter.a.b=c.clean": "{program}",
    "filter.a.b=c.process": "{program}",
    "gpg.program": "{program}",
    "gpg.ssh.program": "{program}",
    "gpg.x509.program": "{program}",
    "log.showSignature": "true",
    "alias.diff-tree": "!{program}",
    "alias.rev-list": "!{program}",
    "alias.cat-file": "!{program}",
    "alias.rev-parse": "!{program}",
    "alias.ls-files": "!{program}",
    "alias.diff-index": "!{program}",
    "uploadpack.packObjectsHook": "{program}",
    "remote.origin.uploadpack": "{program}",
    "remote.origin.receivepack": "{program}",
    "receive.procReceiveRefs": "refs",
    "submodule.recurse": "true",
    "submodule.inner.update": "!{program}",
    "submodule.inner.ignore": "none",
    "diff.ignoreSubmodules": "none",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "sequence.editor": "{program}",
    "init.templateDir": "{hooks}",
    "merge.x.driver": "{program}",
    "interactive.diffFilter": "{program}",
    "filter.lfs.clean": "{program}",
    "filter.lfs.smudge": "{program}",
    "filter.lfs.process": "{program}",
    "lfs.customtransfer.x.path": "{program}",
    "gpg.openpgp.program": "{program}",
    "gpg.ssh.defaultKeyCommand": "{program}",
    "credential.https://example.org.helper": "!{program}",
    "diff.x.cachetextconv": "true",
    "difftool.x.cmd": "{program}",
    "mergetool.x.cmd": "{program}",
    "alias.diff": "!{program}",
    "alias.diff-files": "!{program}",
    "alias.check-attr": "!{program}",
    "alias.ls-tree": "!{program}",
    "fsmonitor.socketDir": "{hooks}",
    "core.untrackedCache": "true",
    "maintenance.auto": "true",
    "gc.auto": "1",
    "trace2.eventTarget": "{marker}",
    "trace2.normalTarget": "{marker}",
}
"""Settings of git that name a program (or a file to write), or that make one run."""


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What every program of the enemy creates."""
    return tmp_path / "ran"


@pytest.fixture
def program(tmp_path: Path, marker: Path) -> Path:
    """A program that leaves a mark and passes its input on."""
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\nexec cat\n")
    script.chmod(0o755)
    return script


@pytest.fixture
def settings(tmp_path: Path, program: Path, marker: Path) -> dict[str, str]:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in HOOKS:
        (hooks / name).symlink_to(program)
    return {key: value.format(program=program, hooks=hooks, marker=marker) for key, value in COMMANDS.items()}


def prepare(repo: Repo, program: Path) -> None:
    """A history with an edit, every file tied to the drivers, the commits signed, hooks in place; all good so far."""
    attributes = "* diff=x merge=x\n*.cs filter=x\n*.go filter=a.b=c\n"
    repo.commit({"a.py": BEFORE, "b.cs": "class B { }\n", "c.go": "package c\n", ".gitattributes": attributes})
    repo.commit({"a.py": AFTER})
    raw = repo.git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n", 1
    )
    signed = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw.encode())
    repo.git("update-ref", "refs/heads/main", signed)
    for name in HOOKS:
        (repo.path / ".git" / "hooks" / name).symlink_to(program)
    (repo.path / ".git" / "info" / "attributes").write_text("* diff=x\n*.cs filter=x\n")


def configure(repo: Repo, settings: dict[str, str]) -> None:
    configure_file(repo.path / ".git" / "config", settings)


def configure_file(file: Path, settings: dict[str, str]) -> None:
    for key, value in settings.items():
        command = ["git", "config", "--file", str(file), key, value]
        subprocess.run(command, check=True, env=clean_git_environment())


def test_the_trap_works(repo: Repo, program: Path, marker: Path, settings: dict[str, str]) -> None:
    """Plain git does run the enemy's programs: the tests below could fail."""
    prepare(repo, program)
    for key in ("diff.external", "diff.x.command", "diff.x.textconv", "gpg.program"):
        options = ["-c", f"{key}={settings[key]}"]
        if key == "gpg.program":
            options += ["-c", "log.showSignature=true"]
        repo.git(*options, "log", "-p", "--ext-diff", "-1")
        assert marker.exists(), key
        marker.unlink()


@pytest.mark.parametrize("key", COMMANDS)
def test_no_setting_of_the_repository_runs_a_program(
    repo: Repo, program: Path, marker: Path, settings: dict[str, str], key: str
) -> None:
    prepare(repo, program)
    together = {"gpg.program": ["log.showSignature"], "gpg.ssh.program": ["log.showSignature"]}
    configure(repo, {name: settings[name] for name in [key, *together.get(key, [])]})
    assert mine(repo).texts == TEXTS
    assert not marker.exists()


@pytest.mark.parametrize("recipe", ["default", "iclr19"])
def test_all_settings_at_once(
    repo: Repo, program: Path, marker: Path, settings: dict[str, str], recipe: str, tmp_path: Path
) -> None:
    """Through an included file too, as it stands and by condition."""
    prepare(repo, program)
    evil = Repo.create(tmp_path / "evil-config")
    configure(evil, settings)
    included = evil.path / ".git" / "config"
    configure(repo, settings | {"include.path": str(included), "includeIf.gitdir:/.path": str(included)})
    assert mine(repo, recipe).texts == TEXTS
    assert not marker.exists()


def test_a_hostile_partial_clone_is_not_completed(repo: Repo, program: Path, marker: Path, tmp_path: Path) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    repo.git("config", "uploadpack.allowFilter", "true")
    target = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--bare", "--filter=blob:none", f"file://{repo.path}", str(target)],
        check=True,
        env=clean_git_environment(),
    )
    clone = Repo(target)
    for address in (f"ext::{program}", "ssh://host/path", f"file://{repo.path}"):
        clone.git("config", "remote.origin.url", address)
        clone.git("config", "remote.origin.uploadpack", str(program))
        clone.git("config", "core.sshCommand", str(program))
        clone.git("config", "protocol.allow", "always")
        clone.git("config", "protocol.ext.allow", "always")
        found = mine(clone)
        assert found.report.dropped == {"unreadable": 1}
        assert not marker.exists()


def test_the_callers_environment_does_not_reach_git(
    repo: Repo, make_repo: Callable[..., Repo], program: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(repo, program)
    other = make_repo("other")
    other.edit("b.py", "x = 1\n", "x = 2\n")
    hostile = {
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(other.path),
        "GIT_INDEX_FILE": str(other.path / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.path / ".git" / "objects"),
        "GIT_COMMON_DIR": str(other.path / ".git"),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_EXTERNAL_DIFF": str(program),
        "GIT_PAGER": str(program),
        "GIT_SSH_COMMAND": str(program),
        "GIT_ASKPASS": str(program),
        "GIT_EDITOR": str(program),
        "GIT_TRACE": str(marker),
        "GIT_TRACE2": str(marker),
        "GIT_DIFF_OPTS": "--unified=9",
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "diff.external",
        "GIT_CONFIG_VALUE_0": str(program),
        "GIT_CONFIG_KEY_1": "core.fsmonitor",
        "GIT_CONFIG_VALUE_1": str(program),
        "GIT_CONFIG_PARAMETERS": f"'diff.external'='{program}'",
        "GIT_CONFIG": str(other.path / ".git" / "config"),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_GLOB_PATHSPECS": "1",
        "PAGER": str(program),
    }
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)
    found = mine(repo)
    assert found.texts == TEXTS
    assert found.only.source is not None
    assert found.only.source.repository == "project"
    assert not marker.exists()


def test_the_users_own_settings_change_nothing(
    repo: Repo, program: Path, marker: Path, settings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(repo, program)
    home = Repo.create(tmp_path / "home")
    odd = {"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.context": "7", "diff.renames": "false"}
    odd |= {"color.ui": "always", "diff.algorithm": "patience", "core.quotePath": "false", "core.abbrev": "4"}
    odd |= {"diff.submodule": "log", "diff.relative": "true", "diff.interHunkContext": "9", "core.attributesFile": "/x"}
    configure(home, settings | odd)
    (home.path / ".git" / "config").rename(home.path / ".gitconfig")
    monkeypatch.setenv("HOME", str(home.path))
    assert mine(repo).texts == TEXTS
    assert not marker.exists()
    configure(repo, odd)
    assert mine(repo).texts == TEXTS


def test_replacement_objects_are_not_followed(repo: Repo) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    other = repo.git("hash-object", "-w", "--stdin", stdin=b"total = forged(items)\n")
    repo.git("replace", repo.git("rev-parse", "HEAD~1:a.py"), other)
    assert "forged" in repo.git("show", "HEAD~1:a.py")
    assert mine(repo).texts == TEXTS


# --- the other verbs


def editvec(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def hostile(repo: Repo, program: Path, settings: dict[str, str], tmp_path: Path) -> Repo:
    """A repository with a pattern still due that names programs wherever git takes any, in a submodule too."""
    prepare(repo, program)
    lines = [f"if a{at} == None: f({at})\n\n" for at in range(6)]
    for number in range(6):
        text = "".join(line.replace("== None", "is None") if at < number else line for at, line in enumerate(lines))
        repo.commit({"rule.py": text, "raw.py": text})
    inner = Repo.create(repo.path / "inner")
    inner.commit({"d.cs": "class D { }\n", ".gitattributes": "* filter=deep\n"})
    repo.commit({".gitattributes": "raw.py filter=x\n*.go filter=a.b=c\n*.cs filter=x\n"})
    configure(inner, settings | {"filter.deep.clean": str(program)})
    included = Repo.create(tmp_path / "included").path / ".git" / "config"
    configure(Repo(included.parents[1]), settings | {"filter.late.clean": str(program)})
    configure(repo, settings | {"include.path": str(included)})
    for name in ("b.cs", "c.go", "raw.py", "inner/d.cs"):
        repo.write({name: (repo.path / name).read_bytes() + b"\n"})
    return repo


@pytest.fixture
def still(hostile: Repo, marker: Path) -> Repo:
    """The same, after what plain git ran while it was made."""
    marker.unlink(missing_ok=True)
    return hostile


def test_plain_git_runs_filters_in_the_hostile_repository(still: Repo, marker: Path) -> None:
    for names in ("b.cs", "c.go"):
        settings = ("-c", "core.fsmonitor=false", "-c", "diff.ignoreSubmodules=all", "-c", "diff.external=")
        command = ["git", "-C", str(still.path), *settings, "diff", "--name-only", "HEAD", "--", names]
        subprocess.run(command, env=clean_git_environment(), capture_output=True)
        assert marker.exists(), names
        marker.unlink()


def test_no_verb_runs_a_program(still: Repo, marker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(still.path)
    out = tmp_path / "edits.parquet"
    document = json.loads(editvec("mine", ".", "-o", out, "--json").stdout)
    assert document["dropped"]["filtered"] == 5
    done = editvec("learn", "--model", "none", "--min-edits", 2)
    assert "1 file was skipped" in done.stderr
    done = editvec("find", "--min-confidence", 0.01, "--format", "json")
    assert {place["path"] for place in json.loads(done.stdout)} == {"rule.py"}
    assert "1 file was skipped" in done.stderr
    editvec("find", "--format", "sarif", "--changed-since", "HEAD~4")
    editvec("find", "--format", "json", "--changed-since", "HEAD")
    diff = editvec("apply", "1", "--everywhere").stdout
    assert "rule.py" in diff and "raw.py" not in diff
    editvec("apply", "1", "--everywhere", "-U", "rule.py")
    editvec("apply", "--like", "x == None", "x is None", "--language", "python", "-U", ".")
    editvec("apply", "--like", "class B { }", "class C { }", "-U", "b.cs")
    assert "is None" in editvec("show", out).stdout
    editvec("stats", out)
    shown = (still.path / "rule.py").read_text().replace("a0 is None", "a0 is not None", 1)
    (still.path / "rule.py").write_text(shown)
    assert json.loads(editvec("finish", "--json").stdout)["edits"]
    editvec("finish", "--json", "--changed-since", "HEAD~1")
    editvec("finish", "--json", "--commit", "HEAD~1")
    editvec("finish", "--json", "--staged")
    editvec("finish", "-U")
    editvec("undo")
    editvec("undo", "--list")
    assert not marker.exists()


def test_objects_of_another_repository_are_only_read(still: Repo, marker: Path, tmp_path: Path) -> None:
    """Alternates name a folder with hooks and settings of its own."""
    target = tmp_path / "borrowed"
    subprocess.run(
        ["git", "clone", "-q", "--bare", "--shared", still.path, target], check=True, env=clean_git_environment()
    )
    marker.unlink(missing_ok=True)
    assert (target / "objects" / "info" / "alternates").is_file()
    assert mine(target).report.dropped["filtered"] == 5
    assert not marker.exists()


def test_reading_changes_runs_no_program(still: Repo, marker: Path) -> None:
    repository = git.open_repository(still.path)
    assert read_changes(repository).skipped["filtered"] == 3
    assert read_changes(repository, since="HEAD~2").skipped["filtered"] == 3
    assert [file.path for file in read_changes(repository, commit="HEAD~1").files] == ["raw.py", "rule.py"]
    assert read_changes(repository, staged=True).files == []
    assert not marker.exists()


def test_no_clone_runs_a_program(still: Repo, marker: Path, settings: dict[str, str], cache: Path) -> None:
    address = f"file://{still.path}"
    for _ in range(2):
        repository = locate(address)
        assert git.list_commits(repository)
        configure_file(repository.path / "config", settings)
    assert not marker.exists()


def test_a_bare_repository_and_a_revision_have_filters_too(still: Repo, marker: Path, tmp_path: Path) -> None:
    target = tmp_path / "bare"
    subprocess.run(["git", "clone", "-q", "--bare", still.path, target], check=True, env=clean_git_environment())
    marker.unlink(missing_ok=True)
    tally: Counter[str] = Counter()
    files = worktree_files(git.open_repository(target), {"python", "csharp"}, tally=tally)
    assert [file.path for file in files] == ["a.py", "rule.py"]
    assert tally == {"filtered": 2}
    assert mine(target).report.dropped["filtered"] == 5
    assert mine(still).report.dropped["filtered"] == 5
    assert not marker.exists()


def test_a_work_tree_is_nowhere_else(repo: Repo, tmp_path: Path) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    (tmp_path / "a.py").write_text("precious == None\n")
    (tmp_path / ".git").mkdir()
    bare = tmp_path / "bare"
    subprocess.run(["git", "clone", "-q", "--bare", repo.path, bare], check=True, env=clean_git_environment())
    configure_file(bare / "config", {"core.bare": "false"})
    for place in (tmp_path, tmp_path / "other", repo.path, Path("/")):
        configure(repo, {"core.worktree": str(place)})
        assert git.work_tree(git.open_repository(repo.path)) == repo.path
        (file,) = worktree_files(git.open_repository(repo.path), {"python"})
        assert file.data == AFTER.encode()
        assert list(find_files([repo.path], {"python"})) == [repo.path / "a.py"]
        assert dirty_files([repo.path / "a.py"]) == []
        assert mine(repo).texts == TEXTS
        configure_file(bare / "config", {"core.worktree": str(place)})
        if place.exists():
            with pytest.raises(GitError, match=r"core\.worktree"):
                list(worktree_files(git.open_repository(bare), {"python"}))


def test_a_linked_work_tree_is_one(repo: Repo, tmp_path: Path) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "HEAD~1")
    assert git.work_tree(git.open_repository(tmp_path / "linked")) == tmp_path / "linked"
    assert git.work_tree(git.open_repository(repo.path / ".git")) is None
    (repo.path / "deep" / ".git").mkdir(parents=True)
    assert git.work_tree(git.open_repository(repo.path / "deep")) == repo.path


# --- arguments


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "editvec", "mine", "-o", "edits.parquet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=dict(os.environ))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ext::sh -c touch% ran"], 4),
        (["--", "-oProxyCommand=touch ran"], 4),
        (["--", "--upload-pack=touch ran"], 4),
        (["--upload-pack=touch ran"], 2),
        (["ssh://-oProxyCommand=touch ran/x"], 4),
        (["--", "-oProxyCommand=x@host:path"], 4),
        (["--", "-x@host:path"], 4),
        (["project", "--range", "--output=ran"], 4),
        (["project", "--range", "HEAD --output=ran"], 4),
        (["project", "--range", "ext::sh -c touch ran"], 4),
        (["project", "--range", "-O/etc/passwd"], 4),
        (["project", "--since", "--output=ran"], 4),
        (["project", "--since", "ext::sh -c touch ran"], 4),
        (["project", "--until", "-x"], 4),
        (["project", "--since", "$(touch ran)"], 4),
        (["project", "--paths", "../ran"], 2),
        (["project", "--language", "--output=ran"], 2),
        (["project", "--keep", "-x"], 2),
    ],
)
def test_arguments_never_become_options_or_programs(repo: Repo, arguments: list[str], code: int) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    folder = repo.path.parent
    done = run(folder, *arguments)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("editvec: ")
    assert len(done.stderr.splitlines()) == 1
    assert {path.name for path in folder.iterdir()} <= {"project", "cache"}
    assert {path.name for path in repo.path.iterdir()} == {".git", "a.py"}


@pytest.mark.parametrize("paths", [("--output=ran",), (":(attr:x)",), ("-O/etc/passwd", "a.py"), (":!a.py",)])
def test_paths_are_only_ever_paths(repo: Repo, paths: tuple[str, ...]) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    found = mine(repo, paths=paths)
    assert found.texts == (TEXTS if "a.py" in paths else [])
    assert found.report.dropped == {}
    assert {path.name for path in repo.path.iterdir()} == {".git", "a.py"}


def test_a_date_means_something(repo: Repo) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    repository = git.open_repository(repo.path)
    assert len(git.list_commits(repository, since="2020-09-14 00:00 +0000")) == 1
    assert len(git.list_commits(repository, until="2020-09-14 00:00 +0000")) == 1
    assert len(git.list_commits(repository, since="20 years ago", until="now")) == 2
    newest = git.list_commits(repository, newest=1)
    assert newest == git.list_commits(repository)[-1:]
    with pytest.raises(GitError, match="does not understand this date"):
        git.list_commits(repository, since="whenever")
