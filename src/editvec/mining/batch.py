"""Extraction of candidate edits from a batch of commits: the part of mining that depends only on the commits.

It runs in a worker process. Its result depends only on the repository's objects and the recipe, so the result of a
batch can be cached.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from zlib import crc32

from editvec.core.edit import Edit, Source
from editvec.core.errors import LimitError
from editvec.mining.extract import code, prose
from editvec.mining.extract.versions import Versions
from editvec.mining.recipes import Recipe
from editvec.syntax.languages import Language, Markup, get, language_of
from editvec.vcs import filters, git
from editvec.vcs.history import CommitChange, FileChange, Hunk, Unreadable, walk

_TRIES = 4
"""Candidates tried per commit, as a multiple of its cap; it limits the cost of a renaming at a thousand places."""
_MASS_HUNKS = 40
_MASS_SHARE = 0.5


@dataclass(slots=True)
class MinedBatch:
    """The result of mining a batch of commits: candidate edits, and for each commit the counts by filter."""

    commits: tuple[str, ...]
    edits: list[Edit] = field(default_factory=list)
    tallies: dict[str, Counter[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MiningTask:
    """The input of a worker: the repository, the recipe, the languages and the paths."""

    repository: git.Repository
    recipe: Recipe
    languages: tuple[str, ...]
    paths: tuple[str, ...]
    """Paths below which to mine, as `options.pick_paths` returns them; empty for the whole repository."""

    def pathspecs(self) -> list[str]:
        """Return the pathspecs for git: files of the languages, below the given paths."""
        endings = [f"*{ext}" for name in self.languages for ext in get(name).extensions]
        if not self.paths:
            return [f":(icase){ending}" for ending in endings]
        prefixes = [re.sub(r"([\\*?\[])", r"\\\1", path) for path in self.paths]
        return [f":(icase,glob){prefix}/**/{ending}" for prefix in prefixes for ending in endings] + [
            f":(literal){path}" for path in self.paths
        ]


@dataclass(frozen=True, slots=True)
class _Sifted:
    """A changed file that passed the filters by name and by hunk, with the hunks and regions to extract from."""

    change: FileChange
    language: Language | Markup
    hunks: tuple[Hunk, ...]
    regions: tuple[code.Region, ...]

    @property
    def size(self) -> int:
        """Return the approximate number of edits in the file."""
        return len(self.regions) or len(self.hunks)


class CommitReader:
    """An extractor of candidate edits from batches of commits; its caches do not affect the results."""

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

    def run(self, commits: Sequence[str], check: Callable[[], None] | None = None) -> MinedBatch:
        """Return the candidate edits of a batch of commits.

        `check` is called before each commit; it raises an exception to stop.
        """
        batch = MinedBatch(tuple(commits))
        for change in walk(self.task.repository, commits, self.task.pathspecs(), renames=self.recipe.renames):
            if check is not None:
                check()
            if isinstance(change, Unreadable):
                batch.tallies[change.identity] = Counter(unreadable=1)
                continue
            tally = batch.tallies[change.commit.identity] = Counter()
            batch.edits += self._edits(change, tally)
        # A commit at the boundary of a shallow clone has no diff, and git does not report that.
        for commit in self.shallow.intersection(commits):
            batch.tallies[commit] = Counter(unreadable=1)
        return batch

    def _edits(self, change: CommitChange, tally: Counter[str]) -> list[Edit]:
        """Return the candidates of a commit in order; if there are too many, those of a sample of its files."""
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
        """Filter a file by its name and its hunks alone; return None if nothing remains."""
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
        try:
            yield from self._cut_texts(change, sifted, texts, tally)
        except LimitError:
            tally["too-slow"] += sifted.size

    def _cut_texts(
        self, change: CommitChange, sifted: _Sifted, texts: tuple[bytes, bytes], tally: Counter[str]
    ) -> Iterator[Edit]:
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
    """Return a path as valid Unicode; bytes that are not UTF-8 become backslash escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
