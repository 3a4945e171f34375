"""A batch of commits → candidate edits: the part of mining that needs nothing but the commits themselves.

Runs in a worker process of its own; what it gives depends only on the repository's objects and the recipe, so a
batch can be cached and its result used again.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

from editvec.core.edit import Edit, Source
from editvec.mining.extract import code, prose
from editvec.mining.extract.versions import Versions
from editvec.mining.recipes import Recipe
from editvec.syntax.languages import Language, Markup, get, language_of
from editvec.vcs import filters, git
from editvec.vcs.history import CommitChange, FileChange, Hunk, Unreadable, walk

_TRIES = 4
"""How many times the cap of a commit are tried at most, so that a renaming in a thousand places costs little."""
_MASS_HUNKS = 40
_MASS_SHARE = 0.5


@dataclass(slots=True)
class MinedBatch:
    """What a batch of commits gave: candidate edits commit by commit, and commit → what was dropped why."""

    commits: tuple[str, ...]
    edits: list[Edit] = field(default_factory=list)
    tallies: dict[str, Counter[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MiningTask:
    """Everything that a worker needs to know."""

    repository: git.Repository
    recipe: Recipe
    languages: tuple[str, ...]
    paths: tuple[str, ...]
    """Only what is below these; as `sources.pick_paths` gives them."""

    def pathspecs(self) -> list[str]:
        """What to ask git for: the languages' files, under the user's paths."""
        endings = [f"*{ext}" for name in self.languages for ext in get(name).extensions]
        if not self.paths:
            return [f":(icase){ending}" for ending in endings]
        prefixes = [re.sub(r"([\\*?\[])", r"\\\1", path) for path in self.paths]
        return [f":(icase,glob){prefix}/**/{ending}" for prefix in prefixes for ending in endings] + [
            f":(literal){path}" for path in self.paths
        ]


@dataclass(frozen=True, slots=True)
class _Sifted:
    """A file worth reading: what to look at in it."""

    change: FileChange
    language: Language | Markup
    hunks: tuple[Hunk, ...]
    regions: tuple[code.Region, ...]

    @property
    def size(self) -> int:
        """How many edits there can be, roughly."""
        return len(self.regions) or len(self.hunks)


class CommitReader:
    """Turns commits into candidates, batch by batch. What it keeps between batches saves time and changes nothing."""

    def __init__(self, task: MiningTask) -> None:
        self.task = task
        self.recipe = task.recipe
        self.languages = frozenset(task.languages)
        self.versions = Versions(task.repository, task.recipe)
        self.shallow = git.shallow_commits(task.repository)

    def __enter__(self) -> CommitReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.versions.close()

    def run(self, commits: Sequence[str]) -> MinedBatch:
        """The candidates of a batch."""
        batch = MinedBatch(tuple(commits))
        for change in walk(self.task.repository, commits, self.task.pathspecs(), renames=self.recipe.renames):
            if isinstance(change, Unreadable):
                batch.tallies[change.identity] = Counter(unreadable=1)
                continue
            tally = batch.tallies[change.commit.identity] = Counter()
            batch.edits += self._edits(change, tally)
        # Without its parents a commit gives nothing, and git does not say so.
        for commit in self.shallow.intersection(commits):
            batch.tallies[commit] = Counter(unreadable=1)
        return batch

    def _edits(self, change: CommitChange, tally: Counter[str]) -> list[Edit]:
        """The candidates of a commit, in order; of a commit with very many, those of a sample of its files."""
        local: Counter[str] = Counter()
        todo = [sifted for item in change.files if (sifted := self._sift(item, local)) is not None]
        tally.update(local)
        if self.recipe.drops("mass-reformatting") and _is_reformatting(local):
            tally["mass-reformatting"] += sum(sifted.size for sifted in todo)
            return []
        room = self.recipe.max_per_commit if self.recipe.drops("commit-cap") else sys.maxsize
        if sum(sifted.size for sifted in todo) > room:
            todo.sort(key=lambda sifted: crc32((change.commit.identity + _printable(sifted.change.path)).encode()))
        found: list[Edit] = []
        tried = 0
        for sifted in todo:
            if len(found) >= room or tried >= _TRIES * room:
                tally["commit-cap"] += sifted.size
                continue
            tried += sifted.size
            cut = list(self._cut(change, sifted, tally))
            found += cut
            if len(found) > room:
                tally["commit-cap"] += len(found) - room
                del found[room:]
        return sorted(found, key=_place)

    def _sift(self, item: FileChange, tally: Counter[str]) -> _Sifted | None:
        """What is worth reading a file for, judged by its name and its hunks alone."""
        language, recipe = language_of(item.path), self.recipe
        if language is None or language.name not in self.languages:
            return None
        tally["files"] += 1
        if not item.hunks:
            tally["too-large"] += 1
            return None
        tally["hunks"] += len(item.hunks)
        for name, test in (("vendored", filters.is_vendored), ("generated", filters.is_generated_name)):
            if recipe.drops(name) and test(item.path):
                tally[name] += len(item.hunks)
                return None
        passing = []
        for hunk in item.hunks:
            if isinstance(language, Markup):
                reason = prose.refuse_by_text(hunk, recipe)
            else:
                reason = code.refuse_by_text(hunk, language, recipe)
            if reason is None:
                passing.append(hunk)
            else:
                tally[reason] += 1
        if isinstance(language, Markup):
            return _Sifted(item, language, tuple(passing), ()) if passing else None
        regions = tuple(code.find_regions(item.hunks, passing, recipe, tally))
        return _Sifted(item, language, tuple(passing), regions) if regions else None

    def _cut(self, change: CommitChange, sifted: _Sifted, tally: Counter[str]) -> Iterator[Edit]:
        texts = self.versions.texts(sifted.change)
        if isinstance(texts, str):
            tally[texts] += sifted.size
            return
        language = sifted.language
        if isinstance(language, Markup):
            found = prose.extract(sifted.hunks, language, *texts, self.recipe, tally)
        else:
            parsed = self.versions.parse(language, sifted.change, sifted.regions, texts)
            found = code.extract(sifted.regions, *parsed, self.recipe, tally)
        name, path = self.task.repository.name, _printable(sifted.change.path)
        commit = change.commit
        for number, (edit, lines_before, lines_after) in enumerate(found):
            source = Source(
                repository=name,
                commit=commit.identity,
                path=path,
                author=commit.author,
                author_date=commit.date,
                lines_before=lines_before,
                lines_after=lines_after,
                message=commit.message,
            )
            yield replace(edit, id=f"{name}|{commit.identity}|{path}_{number}", source=source)


def _place(edit: Edit) -> tuple[str, tuple[int, int]]:
    source = edit.source
    assert source is not None and source.lines_before is not None
    return source.path, source.lines_before


def _is_reformatting(tally: Counter[str]) -> bool:
    return tally["hunks"] >= _MASS_HUNKS and tally["formatting"] >= _MASS_SHARE * tally["hunks"]


def _printable(path: str) -> str:
    """A path that fits UTF-8 storage: bytes that are none show as backslash escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
