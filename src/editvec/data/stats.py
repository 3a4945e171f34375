"""Statistics of edit files. This module only counts; the command line prints the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.data.progress import Stages, counted, silent
from editvec.data.splits import Leak, mark_leaks
from editvec.diff import Tag, align, edit_distance
from editvec.syntax import tree

_FREQUENT_TOKENS = 10


@dataclass(slots=True)
class Distribution:
    """A distribution of integers: each value with its frequency."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, value: int) -> None:
        """Count a value."""
        self.counts[value] += 1

    @property
    def mean(self) -> float:
        """Return the mean; 0 for an empty distribution."""
        total = self.counts.total()
        return sum(value * count for value, count in self.counts.items()) / total if total else 0.0

    def quantile(self, share: float) -> int:
        """Return the smallest value that is at least as large as the given share of the values."""
        wanted, seen = share * self.counts.total(), 0
        for value in sorted(self.counts):
            seen += self.counts[value]
            if seen >= wanted:
                return value
        return 0

    def share_below(self, bound: int) -> float:
        """Return the share of values below a bound."""
        total = self.counts.total()
        return sum(count for value, count in self.counts.items() if value < bound) / total if total else 0.0


@dataclass(slots=True)
class Stats:
    """The statistics of one edit file; tokens are those that a model sees."""

    edits: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    repositories: Counter[str] = field(default_factory=Counter)
    commits: set[str] = field(default_factory=set)
    before: Distribution = field(default_factory=Distribution)
    after: Distribution = field(default_factory=Distribution)
    distance: Distribution = field(default_factory=Distribution)
    tree_before: Distribution = field(default_factory=Distribution)
    tree_after: Distribution = field(default_factory=Distribution)
    vocabulary: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    """Frequencies of changes, each as removed tokens → added tokens."""
    verbatim: Counter[int] = field(default_factory=Counter)

    @property
    def duplicates(self) -> int:
        """Return the number of edits that have the same tokens as an earlier edit."""
        return self.edits - len(self.verbatim)

    def as_json(self, most: int) -> dict[str, Any]:
        """Return all statistics as JSON values, with the `most` frequent repositories and changes."""
        return {
            "edits": self.edits,
            "duplicates": self.duplicates,
            "commits": len(self.commits),
            "languages": dict(self.languages.most_common()),
            "labels": dict(self.labels.most_common()),
            "repositories": dict(self.repositories.most_common(most)),
            "tokens": {"before": _summary(self.before), "after": _summary(self.after)},
            "edit_distance": {
                **_summary(self.distance),
                "share_below_5": round(self.distance.share_below(5), 4),
            },
            "tree_nodes": {"before": _summary(self.tree_before), "after": _summary(self.tree_after)},
            "vocabulary": {
                "tokens": len(self.vocabulary),
                f"seen_{_FREQUENT_TOKENS}_times": self.frequent_tokens,
            },
            "most_frequent": [{"change": change, "edits": count} for change, count in self.changes.most_common(most)],
        }

    @property
    def frequent_tokens(self) -> int:
        """Return the number of tokens that occur often enough to be learned."""
        return sum(count >= _FREQUENT_TOKENS for count in self.vocabulary.values())


def _summary(values: Distribution) -> dict[str, float]:
    return {
        "mean": round(values.mean, 2),
        "median": values.quantile(0.5),
        "p95": values.quantile(0.95),
        "max": values.quantile(1.0),
    }


def measure(edits: Iterable[Edit]) -> Stats:
    """Return the statistics of the edits."""
    stats = Stats()
    for edit in edits:
        before, after = edit.model_before, edit.model_after
        stats.edits += 1
        stats.languages[edit.language] += 1
        if edit.label:
            stats.labels[edit.label] += 1
        if edit.source is not None:
            stats.repositories[edit.source.repository] += 1
            if edit.source.commit:
                stats.commits.add(f"{edit.source.repository} {edit.source.commit}")
        stats.before.add(len(before))
        stats.after.add(len(after))
        stats.distance.add(edit_distance(before, after))
        if edit.before.tree and edit.after.tree:
            stats.tree_before.add(tree.loads(edit.before.tree).size())
            stats.tree_after.add(tree.loads(edit.after.tree).size())
        stats.vocabulary.update(before)
        stats.vocabulary.update(after)
        stats.changes[change_of(before, after)] += 1
        stats.verbatim[hash((before, after))] += 1
    return stats


def change_of(before: Sequence[str], after: Sequence[str]) -> str:
    """Return a short form of a change: removed tokens → added tokens, with … for equal tokens between them."""
    gone: list[str] = []
    come: list[str] = []
    for tag, at, new in align(before, after).positions:
        for side, index, tokens in ((gone, at, before), (come, new, after)):
            if tag is Tag.EQUAL or index is None:
                if side and side[-1] != "…" and tag is Tag.EQUAL:
                    side.append("…")
            else:
                side.append(tokens[index])
    return f"{' '.join(gone).removesuffix(' …') or '∅'}  →  {' '.join(come).removesuffix(' …') or '∅'}"


def leak_as_json(leak: Leak) -> dict[str, Any]:
    """Return the leak between splits as JSON values."""
    return {
        name: {
            "edits": leak.counts[name],
            "seen_before": leak.leaked[name],
            "share": round(leak.share(name), 4),
        }
        for name in leak.counts
    }


@dataclass(slots=True)
class FileStats:
    """The statistics of several edit files."""

    files: dict[str, Stats] = field(default_factory=dict)
    leak: Leak | None = None
    """The number of edits of each file that occur in an earlier file; None for a single file."""
    damage: edit_files.Damage | None = None

    def as_json(self, most: int) -> dict[str, Any]:
        """Return the statistics as JSON values, with the `most` frequent repositories and changes."""
        return {
            "files": {file: found.as_json(most) for file, found in self.files.items()},
            "leak": leak_as_json(self.leak) if self.leak else {},
            "skipped": self.damage.count if self.damage else 0,
        }


def stats(files: Sequence[str | Path], *, skip_bad: bool = False, progress: Stages = silent) -> FileStats:
    """Compute statistics of edit files: lengths, distances, vocabulary, most frequent edits, duplicates.

    For several files, such as the splits of a data set, the result also has the number of edits of each file that
    occur verbatim in an earlier file. With `skip_bad`, damaged lines are skipped and counted.

    Raises:
        BadInputError: A file is damaged.

    Examples:
        >>> import editvec
        >>> editvec.stats(["edits.jsonl.gz"]).files["edits.jsonl.gz"].edits
        54
    """
    damage = edit_files.Damage() if skip_bad else None
    found = FileStats(damage=damage)
    for file in map(str, files):
        read = edit_files.read(file, damage=damage)
        found.files[file] = measure(counted(read, progress, "Counting", total=edit_files.count(file)))
    if len(files) > 1:
        sides = [(str(file), partial(edit_files.read, file, damage=damage and edit_files.Damage())) for file in files]
        found.leak, _ = mark_leaks(sides)
    return found
