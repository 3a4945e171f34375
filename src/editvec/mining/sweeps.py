"""Sweeps of a history: commits in which somebody made the same small change in three or more places.

A sweep is recognised from git's line diff and a regular expression for tokens alone, so that it is independent of the
grammars, rules and models that are measured with it. Two changed lines belong together if they have the same signature:
what was removed and added, with the names that are on both sides by number.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically
from editvec.vcs.git import Repository
from editvec.vcs.history import CommitChange, Hunk, Unreadable, walk

MIN_DISTINCT_LINES = 3
MAX_SITES = 80
MAX_LINE_TOKENS = 80
MAX_HUNK_LINES = 40
MAX_FILES = 400
"""Maximum number of changed files; larger commits are the work of a tool."""
MAX_PATCH_BYTES = 3_000_000
MAX_PER_SIGNATURE = MAX_PER_COMMIT = 2

_BATCH = 500
"""Commits per git process; all of them are written to git before its output is read."""
_LONE_BATCH = 50
"""Smaller, because a few batches are enough for a sample."""
_HEADER_BYTES = 60
"""Approximate size of the header of a hunk or a file in a patch."""

_LINE_TOKEN = re.compile(
    r"""
    "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'                # strings that end on their line
    | [A-Za-z_$][\w$]* | \d[\w.]*                            # names and numbers
    | == | != | <= | >= | && | \|\| | -> | => | \+\+ | -- | :: | \?\. | \?\?
    | [^\s\w]
    """,
    re.VERBOSE,
)
_NAME = re.compile(r"[A-Za-z_$]")
_TELLING = frozenset({"?.", "??", "=>", "==", "!="})
"""Operators that make a change a change of meaning even if no name was changed."""
_NO_CODE = re.compile(r"\s*(?:import|using|from|package|use |#|//|/\*|\*)")
"""Starts of lines that are imports, directives or comments, in any language."""


class SweepSite(NamedTuple):
    """A line that the commit of a sweep changed: its number (1-based) before the commit, and both texts."""

    path: str
    line: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """The lines of a commit that were changed in the same way."""

    commit: str
    parent: str
    signature: str
    sites: tuple[SweepSite, ...]

    def as_json(self) -> str:
        """Return the sweep as one line of JSON."""
        return json.dumps(
            {"commit": self.commit, "parent": self.parent, "signature": self.signature, "places": self.sites}
        )

    @classmethod
    def from_json(cls, line: str | bytes) -> Sweep:
        """Return the sweep that `as_json` wrote.

        Raises:
            ValueError: The line is not a sweep; other malformed data raises KeyError, TypeError or RecursionError.
        """
        values: dict[str, Any] = json.loads(line)
        sites = tuple(SweepSite(*site) for site in values["places"])
        return cls(values["commit"], values["parent"], values["signature"], sites)


def save_sweeps(path: Path, sweeps: Iterable[Sweep]) -> None:
    """Write sweeps as JSON lines; the file appears only when it is complete."""
    write_atomically(path, "".join(sweep.as_json() + "\n" for sweep in sweeps).encode())


def load_sweeps(path: Path) -> list[Sweep]:
    """Return the sweeps of a file of JSON lines.

    Raises:
        BadInputError: A line is not a sweep.
    """
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found += [Sweep.from_json(line)] if line.strip() else []
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInputError(path, number, f"not a sweep ({error!r})", "Cut the sweeps again.") from None
    return found


def cut_sweeps(
    repository: Repository, endings: Sequence[str], *, most: int = 60, since: str = "2012-01-01", seed: int = 7
) -> list[Sweep]:
    """Return at most `most` sweeps in files with the given endings ("py", "go"), drawn at random.

    At most two sweeps of one commit and two with one signature are drawn. The same arguments give the same sweeps.
    """
    sweeps = list(all_sweeps(repository, endings, since=since))
    random.Random(seed).shuffle(sweeps)
    per_signature: Counter[str] = Counter()
    per_commit: Counter[str] = Counter()
    drawn: list[Sweep] = []
    for sweep in sweeps:
        if per_signature[sweep.signature] < MAX_PER_SIGNATURE and per_commit[sweep.commit] < MAX_PER_COMMIT:
            per_signature[sweep.signature] += 1
            per_commit[sweep.commit] += 1
            drawn.append(sweep)
    return drawn[:most]


def all_sweeps(repository: Repository, endings: Sequence[str], *, since: str = "2012-01-01") -> Iterator[Sweep]:
    """Yield every sweep in the history of HEAD, the newest commit first; at most a batch of commits is held."""
    parents = changing_commits(repository, endings, since=since)
    commits = list(parents)
    for start in range(0, len(commits), _BATCH):
        batch = commits[start : start + _BATCH]
        for change in walk(repository, batch, pathspecs_of(endings), renames=False):
            if not isinstance(change, Unreadable):
                yield from sweeps_of(change, parents[change.commit.identity])


def cut_lone_edits(
    repository: Repository, endings: Sequence[str], *, most: int = 60, since: str = "2012-01-01", seed: int = 7
) -> list[Sweep]:
    """Return edited lines of at most `most` commits that have no sweep, one line a commit, drawn at random.

    They have the form of sweeps with one site. Nothing is left to finish there, so any suggestion is one too many,
    unless the commit made the same change in a second place.
    """
    parents = changing_commits(repository, endings, since=since)
    chance = random.Random(seed)
    commits = chance.sample(list(parents), len(parents))
    drawn: list[Sweep] = []
    for start in range(0, len(commits), _LONE_BATCH):
        for change in walk(repository, commits[start : start + _LONE_BATCH], pathspecs_of(endings), renames=False):
            if isinstance(change, Unreadable) or is_too_large(change):
                continue
            groups, parent = _grouped_sites(change), parents[change.commit.identity]
            if groups and not any(map(_is_sweep, groups.values())) and len(drawn) < most:
                signature = chance.choice(list(groups))
                site = chance.choice(groups[signature])
                drawn.append(Sweep(change.commit.identity, parent, signature, (site,)))
        if len(drawn) >= most:
            break
    return drawn


def changing_commits(repository: Repository, endings: Sequence[str], *, since: str = "2012-01-01") -> dict[str, str]:
    """Return the commits with one parent that change files with the given endings, newest first, with their parents."""
    done = repository.attempt("log", f"--since={since}", "--format=%H %P", "HEAD", "--", *pathspecs_of(endings))
    listed = [line.split() for line in done.stdout.decode().splitlines()]
    return {words[0]: words[1] for words in listed if len(words) == 2}


def pathspecs_of(endings: Iterable[str]) -> list[str]:
    """Return the pathspecs of all files with the given endings."""
    return [f"*.{ending.removeprefix('.')}" for ending in endings]


def sweeps_of(change: CommitChange, parent: str) -> list[Sweep]:
    """Return the sweeps of one commit, in the order of their first lines."""
    if is_too_large(change):
        return []
    return [
        Sweep(change.commit.identity, parent, signature, tuple(sites))
        for signature, sites in _grouped_sites(change).items()
        if _is_sweep(sites)
    ]


def is_too_large(change: CommitChange) -> bool:
    """Return whether a commit changes so much that its sweeps do not count."""
    hunks = [hunk for file in change.files for hunk in file.hunks]
    size = sum(len(hunk.text) + _HEADER_BYTES for hunk in hunks) + 2 * _HEADER_BYTES * len(change.files)
    return len(change.files) > MAX_FILES or size > MAX_PATCH_BYTES


def _grouped_sites(change: CommitChange) -> dict[str, list[SweepSite]]:
    """Return the changed lines of a commit by their signatures."""
    groups: defaultdict[str, list[SweepSite]] = defaultdict(list)
    for file in change.files:
        if is_plain(file.path):
            for hunk in file.hunks:
                for signature, site in _sites(file.path, hunk):
                    groups[signature].append(site)
    return groups


def _is_sweep(sites: Sequence[SweepSite]) -> bool:
    return len(sites) <= MAX_SITES and len({site.before.strip() for site in sites}) >= MIN_DISTINCT_LINES


def is_plain(path: str) -> bool:
    """Return whether a path can stand in a line of text and in a git revision without quotes."""
    return path.isascii() and path.isprintable() and not set(path) & {'"', "\\"}


def _sites(path: str, hunk: Hunk) -> Iterator[tuple[str, SweepSite]]:
    """Yield the changed lines of a hunk that has as many lines before as after, with their signatures."""
    removed, added = hunk.sides()
    if not len(removed) == hunk.num_before == hunk.num_after == len(added) <= MAX_HUNK_LINES:
        return
    for number, lines in enumerate(zip(removed, added, strict=True), hunk.before + 1):
        before, after = (line.decode("utf-8", "replace") for line in lines)
        if not _NO_CODE.match(before) and (signature := line_signature(before, after)):
            yield signature, SweepSite(path, number, before, after)


def line_tokens(text: str) -> list[str]:
    """Return the tokens of a line in any language."""
    return _LINE_TOKEN.findall(text)


def line_token_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and the end of each token of a line in any language."""
    return [match.span() for match in _LINE_TOKEN.finditer(text)]


def changed_runs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Return the runs of tokens that differ: start and end before, start and end after."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [run for tag, *run in matcher.get_opcodes() if tag != "equal"]  # type: ignore[misc]


def line_signature(before: str, after: str) -> str | None:
    """Return what a line's change removed and added, with names and strings that are on both sides by number.

    None if the lines are equal or too long, or if only punctuation, numbers or strings are changed.
    """
    old, new = line_tokens(before), line_tokens(after)
    if old == new or max(len(old), len(new)) > MAX_LINE_TOKENS:
        return None
    runs = [(old[low:high], new[start:end]) for low, high, start, end in changed_runs(old, new)]
    gone = {token for removed, _ in runs for token in removed}
    come = {token for _, added in runs for token in added}
    numbers: dict[str, str] = {}

    def numbered(token: str) -> str:
        if token in gone and token in come and (_NAME.match(token) or token[0] in "\"'"):
            return numbers.setdefault(token, f"${len(numbers)}")
        return token

    signature = [[[numbered(token) for token in side] for side in run] for run in runs]
    own = [token for run in signature for side in run for token in side if not token.startswith("$")]
    return json.dumps(signature) if any(_NAME.match(token) or token in _TELLING for token in own) else None
