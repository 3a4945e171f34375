"""Replay of a sweep: some of its lines are shown, and its commit judges what is suggested for the others.

This module knows what a suggestion is worth, and nothing of how suggestions are made.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from enum import Enum
from typing import NamedTuple

from editvec.core.match import Suggestion
from editvec.core.text import line_of, line_starts
from editvec.mining.sweeps import Sweep, SweepSite, line_tokens
from editvec.syntax.token import encode
from editvec.vcs.git import Repository
from editvec.vcs.history import CommitChange, walk

NO_THRESHOLD = -1.0
"""A threshold below every confidence."""
_NEARER = 1e-9
_MAX_COMPARED = 250_000
"""Maximum product of the lengths of two texts whose order is compared, not only their letters or tokens."""


class Verdict(Enum):
    """What the commit says of a suggestion."""

    RIGHT = "right"
    """The lines read as the commit left them, except for white space."""
    PART = "part"
    """The suggestion is contained in what the commit made of the line, which got other edits as well."""
    DIFFERS = "differs"
    """The commit changed the lines in another way."""
    WRONG = "wrong"
    """The commit left the lines alone."""

    @property
    def is_useful(self) -> bool:
        """Return whether a person would take the suggestion."""
        return self in (Verdict.RIGHT, Verdict.PART)


class LineHunk(NamedTuple):
    """A changed region of a file: first line (1-based) and number of lines before, and the lines after."""

    first: int
    num_before: int
    after: tuple[str, ...]

    @property
    def lines(self) -> set[int]:
        """Return the numbers of the lines before."""
        return set(range(self.first, self.first + self.num_before))


CommitHunks = Mapping[str, Sequence[LineHunk]]
"""The changed regions of each file that a commit modified."""


class LineChange(NamedTuple):
    """What suggestions make of whole lines: first and last line (1-based), their new text and their current text.

    The change is made at every threshold above `above` and up to `confidence`.
    """

    path: str
    first: int
    last: int
    text: str
    old: str
    confidence: float
    above: float = NO_THRESHOLD


def commit_hunks(repository: Repository, commit: str) -> dict[str, list[LineHunk]]:
    """Return the changed regions of the files that a commit with one parent modified; renamed files are not included.

    The result is empty if git cannot read an object of the commit.
    """
    return {
        file.path: [
            LineHunk(
                hunk.before + 1 if hunk.num_before else hunk.before,
                hunk.num_before,
                tuple(line.decode("utf-8", "replace") for line in hunk.sides()[1]),
            )
            for hunk in file.hunks
        ]
        for change in walk(repository, [commit], (), renames=False)
        if isinstance(change, CommitChange)
        for file in change.files
    }


def shown_and_targets(sweep: Sweep, k: int) -> tuple[list[SweepSite], list[SweepSite]]:
    """Return k sites of a sweep drawn at random, always the same ones, and the other sites, both in order.

    The sites are drawn because people begin anywhere, not at the first file of the alphabet.
    """
    sites = sorted(sweep.sites, key=lambda site: (site.path, site.line))
    order = list(range(len(sites)))
    order = random.Random(sweep.commit + sweep.signature).sample(order, len(order))
    return [sites[at] for at in sorted(order[:k])], [sites[at] for at in sorted(order[k:])]


def with_sites(data: bytes, sites: Iterable[SweepSite]) -> bytes:
    """Return a file with the lines of sites as their commit left them; sites behind the last line are ignored."""
    lines = data.split(b"\n")
    for site in sites:
        if site.line <= len(lines):
            keeps_return = lines[site.line - 1].endswith(b"\r") and not site.after.endswith("\r")
            lines[site.line - 1] = site.after.encode() + (b"\r" if keeps_return else b"")
    return b"\n".join(lines)


def with_hunks(data: bytes, hunks: Iterable[LineHunk]) -> bytes:
    """Return a file with changed regions as their commit left them; those that change the number of lines are left."""
    lines = data.split(b"\n")
    for hunk in hunks:
        low, high = hunk.first - 1, hunk.first - 1 + hunk.num_before
        if hunk.num_before and hunk.num_before == len(hunk.after) and high <= len(lines):
            # A region ends its lines as git does, with or without a carriage return.
            lines[low:high] = [encode(line.rstrip("\n")) for line in hunk.after]
    return b"\n".join(lines)


def judge(hunks: Iterable[LineHunk], first_line: int, last_line: int, text: str, old: str = "") -> Verdict:
    """Return what a commit says of new text for the lines `first_line` to `last_line` (1-based, inclusive) of a file.

    `hunks` are the changed regions of that file, and `old` is the current text of the lines.
    """
    for hunk in hunks:
        end = hunk.first + hunk.num_before
        if hunk.num_before and hunk.first <= last_line and first_line < end:
            if _is_right(hunk, first_line, last_line, text):
                return Verdict.RIGHT
            became = "\n".join(hunk.after)
            if hunk.after and first_line == last_line:
                became = most_similar(text, hunk.after)
            return Verdict.PART if old and is_contained(old, text, became) else Verdict.DIFFERS
    return Verdict.WRONG


def most_similar(text: str, lines: Sequence[str]) -> str:
    """Return the line that is most similar to a text; of long lines, only the letters are compared."""
    matcher = SequenceMatcher(None, b=text, autojunk=False)
    best, found = -1.0, ""
    for line in lines:
        matcher.set_seq1(line)
        # The cheap ratios are never below the real one.
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        ratio = matcher.quick_ratio() if len(line) * len(text) > _MAX_COMPARED else matcher.ratio()
        if ratio > best:
            best, found = ratio, line
    return found


def _is_right(hunk: LineHunk, first: int, last: int, text: str) -> bool:
    written = _squeezed(text)
    covers = hunk.first <= first and last < hunk.first + hunk.num_before
    if covers and hunk.num_before == len(hunk.after):
        return written == _squeezed("".join(hunk.after[first - hunk.first : last - hunk.first + 1]))
    return bool(written) and written in _squeezed("".join(hunk.after))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def is_contained(old: str, text: str, new: str) -> bool:
    """Return whether the change from `old` to `text` is part of the change from `old` to `new`.

    It is if `new` has all tokens that were added, none of the tokens that were removed, and is more similar to `text`
    than to `old`.
    """
    before, written, after = line_tokens(old), line_tokens(text), line_tokens(new)
    added, removed = set(written) - set(before), set(before) - set(written)
    if not added <= set(after) or removed & set(after):
        return False
    matchers = [SequenceMatcher(None, tokens, after, autojunk=False) for tokens in (written, before)]
    large = len(written) * len(after) > _MAX_COMPARED
    reached, started = (each.quick_ratio() if large else each.ratio() for each in matchers)
    return reached > started + _NEARER


def line_changes(texts: Mapping[str, bytes], suggestions: Iterable[Suggestion]) -> Iterator[LineChange]:
    """Yield what suggestions make of lines; suggestions that share lines make one change together.

    A threshold may leave some of the suggestions that share lines. There is one change for each group that some
    threshold leaves, with the thresholds that do. `texts` are the current files by path.
    """
    by_path: defaultdict[str, list[Suggestion]] = defaultdict(list)
    for suggestion in suggestions:
        by_path[suggestion.path].append(suggestion)
    for path, here in by_path.items():
        for together in _sharing_lines(texts[path], here):
            steps = sorted({suggestion.confidence for suggestion in together}, reverse=True)
            for confidence, above in zip(steps, [*steps[1:], NO_THRESHOLD], strict=True):
                left = [suggestion for suggestion in together if suggestion.confidence >= confidence]
                for group in _sharing_lines(texts[path], left):
                    yield _change(texts[path], group, confidence, above)


def _sharing_lines(data: bytes, suggestions: Iterable[Suggestion]) -> list[list[Suggestion]]:
    """Return the suggestions for a file in groups that share lines, in order."""
    groups: list[list[Suggestion]] = []
    reached = -1
    for suggestion in sorted(suggestions, key=lambda each: each.start):
        first, last = _lines(data, suggestion)
        if groups and first <= reached:
            groups[-1].append(suggestion)
        else:
            groups.append([suggestion])
        reached = max(reached, last)
    return groups


def _lines(data: bytes, suggestion: Suggestion) -> tuple[int, int]:
    """Return the first and the last line (0-based) of a suggestion; a newline belongs to the line that it ends."""
    starts = line_starts(data)
    # Without a final newline, the last start is the end of the data, where no line starts.
    last_line = len(starts) - 1 if data.endswith(b"\n") else len(starts) - 2
    last_byte = max(suggestion.start, suggestion.end - 1)
    return min(line_of(starts, suggestion.start), last_line), min(line_of(starts, last_byte), last_line)


def _change(data: bytes, group: Sequence[Suggestion], confidence: float, above: float) -> LineChange:
    lines = [line for suggestion in group for line in _lines(data, suggestion)]
    starts = line_starts(data)
    low, high = starts[min(lines)], starts[min(max(lines) + 1, len(starts) - 1)]
    parts: list[bytes] = []
    at = low
    # Not `splice`: alternatives for the same span overlap, and the judge has to see what a careless user would get.
    for suggestion in group:
        parts += (data[at : suggestion.start], encode(suggestion.after))
        at = suggestion.end
    text = b"".join([*parts, data[at:high]]).decode("utf-8", "replace")
    old = data[low:high].decode("utf-8", "replace")
    path = group[0].path
    return LineChange(path, min(lines) + 1, max(lines) + 1, text, old, confidence, above)
