"""The rows that the scorer is trained on: replays of sweeps, in which the commit labels every match.

For each sweep, some places are shown, and every match elsewhere is a row: positive if it is what the commit did, or a
part of it. Some replays also have places that were refused, some show other edits of the commit, and some show a line
without its file, as a person types an example. Ordinary changed lines, after which nothing else is due, teach when to
be silent.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Demonstration
from editvec.core.text import FileText
from editvec.mining.sweeps import Sweep, SweepSite
from editvec.suggest.complete import Gathered, as_suggestion, gather, typed_example
from editvec.suggest.features import FEATURES
from editvec.suggest.replay import CommitHunks, Verdict, commit_hunks, judge, line_changes, with_hunks, with_sites
from editvec.suggest.searched import EditMatch, SearchedFile
from editvec.syntax.languages import language_of
from editvec.vcs.git import Repository
from editvec.vcs.objects import Blobs

_MAX_FILES = 2_500
"""Maximum number of files of a tree that are searched; those that the commit changed, and others drawn at random."""
_MAX_BYTES = 400_000
_CACHE_BYTES = 600 << 20
_NEAR_ROWS = 300
"""Number of matches of a replay that become rows, those most alike to what was shown."""
_OTHER_ROWS = 100
"""Number of the remaining matches that become rows; they count for those that were left out."""
_MAX_OTHER_FILES = 10
_ALIKE = FEATURES.index("alike")


class Replay(NamedTuple):
    """What is shown and what is refused in a replay of a sweep."""

    shown: tuple[SweepSite, ...]
    num_refused: int = 0
    others: bool = False
    """Whether other edits of the commit are shown, too."""
    typed: bool = False
    """Whether the lines are shown without their files."""


@dataclass(frozen=True)
class ReplayedRows:
    """The rows of one replay: features `[n, len(FEATURES)]`, the commit's verdicts, and weights for rows left out."""

    features: NDArray[np.float32]
    verdicts: tuple[Verdict, ...]
    weights: NDArray[np.float32]
    num_shown: int
    is_sweep: bool


class TreeReader:
    """Reads the files of revisions of a repository; files that revisions share are read once."""

    def __init__(self, repository: Repository, endings: Sequence[str]) -> None:
        self._repository = repository
        self._endings = tuple(f".{ending}" for ending in endings)
        self._blobs = Blobs(repository, _MAX_BYTES)
        self._known: dict[bytes, bytes | None] = {}
        self._size = 0

    def read(self, revision: str, wanted: Iterable[str], seed: int) -> dict[str, bytes]:
        """Return the files of a revision by path: the wanted ones, and others up to a limit."""
        listed = self._repository.run("ls-tree", "-r", "-z", "--full-tree", revision).split(b"\0")
        entries: dict[str, bytes] = {}
        for entry in listed:
            facts, _, name = entry.partition(b"\t")
            path = name.decode("utf-8", "surrogateescape")
            if facts.startswith(b"100") and path.endswith(self._endings):
                entries[path] = facts.split()[2]
        first = [path for path in wanted if path in entries]
        rest = sorted(entries.keys() - set(first))
        if len(rest) > _MAX_FILES:
            rest = sorted(random.Random(seed).sample(rest, _MAX_FILES))
        texts = {path: self._text(entries[path]) for path in (*first, *rest)}
        return {path: text for path, text in texts.items() if text is not None}

    def _text(self, blob: bytes) -> bytes | None:
        if blob not in self._known:
            if self._size > _CACHE_BYTES:
                self._known.clear()
                self._size = 0
            data = self._blobs.read(blob)
            text = None if data is None or b"\0" in data else FileText(data).utf8
            self._known[blob] = text
            self._size += len(text or b"")
        return self._known[blob]

    def close(self) -> None:
        """End the git process."""
        self._blobs.close()


def replays_of(sweep: Sweep, chance: random.Random) -> list[Replay]:
    """Return the replays of a sweep: one place shown, several, some with refusals, with other edits, and typed."""
    sites = list(sweep.sites)
    chance.shuffle(sites)
    found = [Replay(tuple(sites[:1]))]
    if len(sites) > 3:
        found.append(Replay(tuple(sites[: chance.choice((2, 3, 3))])))
    num_shown = 1 + chance.randrange(max(1, min(4, len(sites) - 2)))
    found.append(Replay(tuple(sites[1 : 1 + num_shown]), chance.choice((1, 1, 2))))
    found.append(Replay(tuple(sites[: chance.choice((1, 1, 2))]), others=True))
    found.append(Replay(tuple(sites[-1:]), typed=True))
    return found


def replay_rows(
    repository: Repository,
    reader: TreeReader,
    sweep: Sweep,
    chance: random.Random,
    watch: Callable[[str], None] | None = None,
) -> Iterator[ReplayedRows]:
    """Yield the rows of the replays of a sweep; there are none if its commit cannot be read."""
    hunks = commit_hunks(repository, sweep.commit)
    texts = reader.read(sweep.parent, hunks, chance.randrange(1 << 30))
    files = {path: SearchedFile(path, _language(path), data) for path, data in texts.items()}
    for replay in replays_of(sweep, chance) if len(sweep.sites) > 1 else [Replay(sweep.sites)]:
        rows = _rows(replay, sweep, files, hunks, chance)
        if rows is not None:
            yield rows
        elif watch is not None:
            watch(f"{sweep.commit[:10]}: nothing was found")


def _rows(
    replay: Replay, sweep: Sweep, before: dict[str, SearchedFile], hunks: CommitHunks, chance: random.Random
) -> ReplayedRows | None:
    shown, searched = _shown(replay, sweep, before, hunks)
    files, now = list(searched.values()), {path: file.data for path, file in searched.items()}
    refused: list[tuple[str, int]] = []
    lines = () if replay.typed else {(site.path, site.line) for site in replay.shown}
    for number in range(replay.num_refused + 1):
        gathered = _intent_of(replay, gather(shown, files, refused=refused, only=lines))
        if gathered is None or not gathered.matches:
            return None
        matches, table = gathered.matches, gathered.features
        if number < replay.num_refused:
            wrong = _most_alike_wrong(matches, table, now, hunks)
            if wrong is None:
                break
            refused.append(wrong)
    order = np.argsort(-table[:, _ALIKE], kind="stable")
    rest = order[_NEAR_ROWS:]
    drawn = np.array(chance.sample(range(len(rest)), min(_OTHER_ROWS, len(rest))), int)
    chosen = np.concatenate([order[:_NEAR_ROWS], rest[drawn]])
    weights = np.ones(len(chosen), np.float32)
    weights[_NEAR_ROWS:] = len(rest) / max(1, len(drawn))
    verdicts = tuple(_verdict(matches[at], now, hunks) for at in chosen)
    return ReplayedRows(table[chosen], verdicts, weights, len(replay.shown), len(sweep.sites) > 1)


def _shown(
    replay: Replay, sweep: Sweep, before: dict[str, SearchedFile], hunks: CommitHunks
) -> tuple[list[Demonstration], dict[str, SearchedFile]]:
    """Return what a replay shows, and the files as they are then."""
    if replay.typed:
        typed = [typed_example(site.before, site.after, site.path) for site in replay.shown]
        return typed, before
    searched = dict(before)
    shown = []
    paths = dict.fromkeys(site.path for site in replay.shown)
    if replay.others:
        paths |= dict.fromkeys(list(hunks)[:_MAX_OTHER_FILES])
    for path in paths:
        if path in before:
            data = before[path].data
            after = with_sites(data, [site for site in replay.shown if site.path == path])
            if replay.others:
                lines = {site.line for site in sweep.sites if site.path == path}
                after = with_hunks(after, [hunk for hunk in hunks.get(path, ()) if not hunk.lines & lines])
            if after != data:
                searched[path] = SearchedFile(path, before[path].language, after)
                shown.append(Demonstration(path, data, after))
    return shown, searched


def _intent_of(replay: Replay, gathered: Sequence[Gathered]) -> Gathered | None:
    """Return the intent that the shown places of a replay belong to."""
    lines = {(site.path, site.line) for site in replay.shown}
    for each in gathered:
        if replay.typed or any((edit.path, edit.first_line + 1) in lines for edit in each.intent.edits):
            return each
    return None


def _language(path: str) -> str:
    language = language_of(path)
    return language.name if language is not None else path.rpartition(".")[2]


def _most_alike_wrong(
    matches: Sequence[EditMatch], table: NDArray[np.float32], texts: dict[str, bytes], hunks: CommitHunks
) -> tuple[str, int] | None:
    for at in np.argsort(-table[:, _ALIKE], kind="stable")[:60]:
        if not _verdict(matches[at], texts, hunks).is_useful:
            return matches[at].file.path, matches[at].line + 1
    return None


def _verdict(match: EditMatch, texts: dict[str, bytes], hunks: CommitHunks) -> Verdict:
    """Return what the commit says of a match alone."""
    here = hunks.get(match.file.path)
    if not here:
        return Verdict.WRONG
    (change,) = line_changes(texts, [as_suggestion(match, 1.0, "")])
    return judge(here, change.first, change.last, change.text, change.old)
