"""The only module that starts git: without a shell, and safe for untrusted repositories.

Nothing from the configuration or the attributes of a repository is executed: hooks, external diffs, textconv, filters,
pagers, signature programs, file-system monitors and lazy fetches (which could run an ssh command) are disabled.
Submodules are not entered. Neither the repository's settings nor the user's environment can redirect git to another
repository. Requires git 2.31.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from editvec.core.errors import GitError, UserError

MAX_TEXT_BYTES = 4 * 1024 * 1024
"""Maximum size of a text file in bytes; git treats larger files as binary and makes no line diff of them."""

_SAFE_CONFIG = {
    "core.alternateRefsCommand": "",
    "core.attributesFile": os.devnull,
    "core.bigFileThreshold": str(MAX_TEXT_BYTES),
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.quotePath": "true",
    "core.sshCommand": "false",
    "diff.orderFile": os.devnull,
    "diff.suppressBlankEmpty": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "log.showSignature": "false",
    "protocol.ext.allow": "never",
}

_DIFF_OPTIONS = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
"""Options of every git command that compares.

Submodules are ignored because, to compare inside a submodule, git would run with the settings of that submodule.
"""
_FILTER_OFF = {"clean": "", "smudge": "", "process": "", "required": "false"}
_MAX_DRIVERS = 500
"""Maximum number of filters in a configuration; they are disabled through the environment, whose size is limited."""
_NETWORK_CONFIG = {key: value for key, value in _SAFE_CONFIG.items() if key != "core.sshCommand"} | {
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
}
"""Settings for cloning and fetching; unlike elsewhere, the user's ssh command applies."""


def _environment(*, network: bool) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {
        "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file" if network else "",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    if not network:
        env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return env


def _settings(config: dict[str, str]) -> list[str]:
    return [part for key, value in config.items() for part in ("-c", f"{key}={value}")]


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on disk, with a work tree or bare."""

    path: Path
    name: str

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of a git call in this repository."""
        if arguments[0].startswith("diff"):
            arguments = (arguments[0], *_DIFF_OPTIONS, *arguments[1:])
        settings = _settings(_SAFE_CONFIG | {"safe.directory": str(self.path)})
        return ["git", *settings, "-C", str(self.path), *arguments]

    def environment(self) -> dict[str, str]:
        """Return the environment of a git call in this repository.

        It disables all file filters that the configuration defines. The work tree is the folder that contains `.git`,
        even if the configuration names another folder.

        Raises:
            GitError: The configuration defines too many filters.
        """
        env = _environment(network=False)
        # git reads the configuration itself, with included files. If it cannot be read, every later git call fails too.
        asked = self.command("config", "--null", "--name-only", "--get-regexp", r"^filter\.|^core\.worktree$")
        said = subprocess.run(asked, capture_output=True, stdin=subprocess.DEVNULL, env=env).stdout
        keys = {os.fsdecode(key) for key in said.split(b"\0") if key}
        if "core.worktree" in keys and (top := self.top()):
            env["GIT_WORK_TREE"] = str(top)
        names = {key[len("filter.") :].rpartition(".")[:2] for key in keys - {"core.worktree"}}
        drivers = sorted(name for name, dot in names if dot)
        if len(drivers) > _MAX_DRIVERS:
            raise GitError(f"the configuration of {self.path} defines {len(drivers)} filters. Remove some of them.")
        # Not with -c, because the name of a filter may contain an equals sign.
        pairs = [(f"filter.{name}.{key}", value) for name in drivers for key, value in _FILTER_OFF.items()]
        for number, (key, value) in enumerate(pairs):
            env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return env | {"GIT_CONFIG_COUNT": str(len(pairs))}

    def top(self) -> Path | None:
        """Return the nearest folder that contains `.git`; None inside a bare repository or inside `.git`."""
        for folder in (self.path, *self.path.parents):
            if (folder / ".git").is_file() or os.path.lexists(folder / ".git" / "HEAD"):
                return folder
            if all(os.path.lexists(folder / name) for name in ("HEAD", "objects", "refs")):
                return None
        return None

    def run(self, *arguments: str) -> bytes:
        """Run git and return its output.

        Raises:
            GitError: git failed; the message ends with the last line of git's error output.
        """
        done = self.attempt(*arguments)
        if done.returncode:
            raise GitError(f"git {arguments[0]} failed in {self.path}: {_last_words(done.stderr)}")
        return done.stdout

    def attempt(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run git and return the finished process, even if it failed."""
        return subprocess.run(
            self.command(*arguments),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=self.environment(),
        )

    def start(self, *arguments: str, apart: Path | None = None) -> subprocess.Popen[bytes]:
        """Start git with pipes for its input and output.

        With `apart`, git uses the objects and settings of this repository, but the folder `apart` as its work tree
        and the index in that folder.
        """
        own = {"GIT_WORK_TREE": str(apart), "GIT_INDEX_FILE": str(apart / "index")} if apart else {}
        if apart:
            own["GIT_DIR"] = os.fsdecode(self.run("rev-parse", "--absolute-git-dir")).rstrip("\n")
        return subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment() | own,
        )


def open_repository(place: str | Path) -> Repository:
    """Return the repository at a path.

    Raises:
        GitError: There is no repository, git cannot read it, or git is not installed.
    """
    path = Path(place).expanduser()
    if not path.exists():
        raise GitError(f"{place} does not exist. Give a clone, a bare repository or an address that git can clone.")
    if not path.is_dir():
        raise GitError(f"{place} is a file. Give a clone, a bare repository or an address that git can clone.")
    bare = Repository(path.resolve(), path.name)
    try:
        done = bare.attempt("rev-parse", "--git-dir")
    except FileNotFoundError:
        raise GitError("git is not installed. Install it (apt install git, brew install git) and try again.") from None
    if done.returncode:
        words = _last_words(done.stderr)
        if "not a git repository" in words:
            raise GitError(
                f"{place} is not a git repository. Give a clone, a bare repository or an address that git can clone."
            )
        raise GitError(f"git cannot read {place}: {words}")
    return Repository(bare.path, _name_of(bare))


def _name_of(repository: Repository) -> str:
    """Return owner/name according to the URL of the remote `origin`, or else the name of the folder."""
    remote = (
        repository.attempt("config", "--local", "--get", "remote.origin.url").stdout.decode(errors="replace").strip()
    )
    match = re.search(r"[:/]([^/:]+/[^/:]+?)(?:\.git)?/?$", remote)
    if match and is_address(remote):
        return match[1]
    path = repository.path
    name = path.parent.name if path.name == ".git" else path.name
    # The name is stored as text, so bytes that are not UTF-8 become backslash escapes.
    return os.fsencode(name.removesuffix(".git")).decode("utf-8", "backslashreplace") or "repository"


def is_address(place: str) -> bool:
    """Return whether a REPO argument is an address to clone, not a path."""
    return bool(re.match(r"(https?|ssh|git|file)://|[\w.-]+@[\w.-]+:", place))


def clone(address: str, target: Path, *, show_progress: bool) -> Repository:
    """Make a bare clone of an address; git's own progress goes to stderr.

    Raises:
        GitError: git cannot clone the address.
    """
    command = ["git", *_settings(_NETWORK_CONFIG), "clone", "--bare"]
    command += ["--progress"] if show_progress else ["--quiet"]
    try:
        done = subprocess.run(
            [*command, "--", address, str(target)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if show_progress else subprocess.PIPE,
            env=_environment(network=True),
        )
    except FileNotFoundError:
        raise GitError("git is not installed. Install it (apt install git, brew install git) and try again.") from None
    if done.returncode:
        words = _last_words(done.stderr or b"")
        raise GitError(f"git could not clone {address}: {words}. Check the address and your access rights.")
    return open_repository(target)


def update(repository: Repository, address: str) -> None:
    """Update a cached clone from its address; the remotes in its configuration are ignored.

    Raises:
        GitError: git cannot fetch from the address.
    """
    here = [*_settings(_NETWORK_CONFIG), "-C", str(repository.path)]
    done = subprocess.run(
        ["git", *here, "fetch", "--quiet", "--", address, "+refs/heads/*:refs/heads/*"],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=_environment(network=True),
    )
    if done.returncode:
        raise GitError(
            f"git could not update the cached clone of this address: {_last_words(done.stderr)}. Check the network."
        )


def work_tree(repository: Repository) -> Path | None:
    """Return the top folder of the repository's work tree, or None if it has none.

    Raises:
        GitError: The configuration names another folder as the work tree; its files do not belong to the repository.
    """
    done = repository.attempt("rev-parse", "--show-toplevel")
    if done.returncode or not done.stdout.strip():
        return None
    top = Path(os.fsdecode(done.stdout).rstrip("\n"))
    if repository.top() != top:
        raise GitError(
            f"core.worktree of {repository.path} names {top}. Remove that setting, or use an ordinary clone."
        )
    return top


def top_of(repository: Repository) -> Path:
    """Return the top folder of a repository's work tree.

    Raises:
        UserError: The repository is bare.
    """
    top = work_tree(repository)
    if top is None:
        raise UserError(
            f"{repository.path} is a bare repository without files to change. Give files, or a clone with -C."
        )
    return top


def list_commits(
    repository: Repository,
    *,
    revisions: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
    newest: int | None = None,
) -> list[str]:
    """Return the non-merge commits reachable from HEAD or in the given revisions, parents before children.

    With `newest`, only that number of the newest commits is returned.

    Raises:
        GitError: A revision or a date is invalid, or git cannot list the commits.
    """
    limits = [f"--{name}={date}" for name, date in (("since", since), ("until", until)) if date]
    for limit in limits:
        _check_date(repository, limit)
    if newest is not None:
        limits.append(f"--max-count={newest}")
    if not revisions and repository.attempt("rev-parse", "--verify", "--quiet", "HEAD").returncode:
        return []
    wanted = revisions or ("HEAD",)
    done = repository.attempt(
        "rev-list", "--no-merges", "--topo-order", "--reverse", *limits, "--end-of-options", *wanted, "--"
    )
    if done.returncode:
        words = _last_words(done.stderr)
        if "bad revision" in words or "unknown revision" in words or "bad object" in words:
            raise GitError(f"{' '.join(wanted)} names no commits in {repository.path}. Try a range such as v1.0..HEAD.")
        raise GitError(f"git cannot list the commits of {repository.path}: {words}")
    return done.stdout.decode().split()


def _check_date(repository: Repository, limit: str) -> None:
    """Check that git understands a date; git itself would silently read an invalid date as the current time.

    Raises:
        GitError: git does not understand the date.
    """
    name, _, date = limit.partition("=")
    start = int(time.time())
    seconds = int(repository.run("rev-parse", limit).decode().strip().rpartition("=")[2])
    if start <= seconds <= time.time() and date.strip().lower() not in {"now", "today"}:
        raise GitError(f"{name} {date}: git does not understand this date. Try 2023-01-01 or '2 years ago'.")


def shallow_commits(repository: Repository) -> frozenset[str]:
    """Return the commits of a shallow clone whose parents are not in it."""
    place = repository.run("rev-parse", "--git-path", "shallow").decode("utf-8", "surrogateescape").rstrip("\n")
    file = repository.path / place
    return frozenset(file.read_text().split()) if file.is_file() else frozenset()


def _last_words(stderr: bytes) -> str:
    lines = [line for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    return re.sub(r"^(fatal|error): ", "", lines[-1]).strip() if lines else "git gave no reason"


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a git process and close its pipes, whatever state they are in."""
    process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    process.wait()


def feed(process: subprocess.Popen[bytes], lines: Iterable[str]) -> None:
    """Write all input of a git process and close its stdin; only for commands that read their input first."""
    stdin = cast(IO[bytes], process.stdin)
    # A process that failed at once does not read its input; the exit code reports the failure.
    with suppress(BrokenPipeError):
        stdin.write("".join(f"{line}\n" for line in lines).encode())
    with suppress(BrokenPipeError):
        stdin.close()


def ended_well(process: subprocess.Popen[bytes]) -> bool:
    """Wait for a git process and return whether it succeeded.

    Raises:
        GitError: The process was killed by a signal, which says nothing about its input.
    """
    code = process.wait()
    if code < 0:
        raise GitError(f"git was killed by signal {-code}, possibly because memory ran out. Try again.")
    return code == 0
