"""Search and replace, the baseline for finishing an edit: the tokens changed in the first shown line, for all lines.

The functions take what `editvec.suggest.complete.complete` takes and return what it returns. Imported by finish.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from editvec.core.edit import Demonstration
from editvec.core.match import Suggestion
from editvec.core.text import line_of, line_starts
from editvec.mining.sweeps import changed_runs, line_token_spans
from editvec.syntax.token import encode
from editvec.vcs.worktree import File

_SAME_FILE, _SAME_FOLDER, _ELSEWHERE = 0.9, 0.6, 0.3
"""Confidences: people look at the nearest places first."""
_STEP = 0.2


class Replacement(NamedTuple):
    """A pattern, and the text to write where it matches."""

    pattern: re.Pattern[str]
    text: str


class Seed(NamedTuple):
    """The first line that was shown."""

    path: str
    line: int
    before: str
    after: str


def search_and_replace(
    shown: Sequence[Demonstration],
    files: Sequence[File],
    *,
    refused: Sequence[tuple[str, int]] = (),
    context: int = 0,
    same_folder: bool = False,
) -> list[Suggestion]:
    """Replace everywhere, or in the folder of the shown file; `context` tokens on each side must match as well."""
    seed = first_line(shown)
    found = replacement(seed.before, seed.after, context) if seed else None
    if seed is None or found is None:
        return []
    folder = PurePosixPath(seed.path).parent
    refusals = set(refused)
    return [
        suggestion
        for file in files
        if not same_folder or PurePosixPath(file.path).parent == folder
        for suggestion in _in_file(file, seed, found)
        if (file.path, suggestion.line) not in refusals
    ]


def first_line(shown: Sequence[Demonstration]) -> Seed | None:
    """Return the first line that differs, of the first file."""
    for each in sorted(shown, key=lambda one: one.path):
        sides = (data.decode("utf-8", "replace").split("\n") for data in (each.before, each.after))
        for number, (before, after) in enumerate(zip(*sides, strict=False), 1):
            if before != after:
                return Seed(each.path, number, before, after)
    return None


def replacement(before: str, after: str, context: int) -> Replacement | None:
    """Return the replacement from the first changed token to the last; None for an insertion without context."""
    old, new = line_token_spans(before), line_token_spans(after)
    runs = changed_runs([before[slice(*span)] for span in old], [after[slice(*span)] for span in new])
    if not runs:
        return None
    (low, _, start, _), (_, high, _, end) = runs[0], runs[-1]
    left, right = min(context, low), min(context, len(old) - high)
    low, start, high, end = low - left, start - left, high + right, end + right
    if low == high:
        return None
    searched = before[old[low][0] : old[high - 1][1]]
    pattern = re.escape(searched)
    if re.match(r"\w", searched):
        pattern = rf"(?<![\w$]){pattern}"
    if re.search(r"\w$", searched):
        pattern = rf"{pattern}(?![\w$])"
    return Replacement(re.compile(pattern), after[new[start][0] : new[end - 1][1]] if end > start else "")


def _in_file(file: File, seed: Seed, found: Replacement) -> Iterator[Suggestion]:
    text = file.data.decode("utf-8", "replace")
    starts = line_starts(file.data)
    at = offset = 0
    for match in found.pattern.finditer(text):
        offset, at = offset + len(encode(text[at : match.start()])), match.start()
        line = line_of(starts, offset) + 1
        end = offset + len(encode(match[0]))
        sure = _confidence(file.path, line, seed)
        column = match.start() - text.rfind("\n", 0, match.start())
        yield Suggestion(file.path, line, column, offset, end, match[0], found.text, sure, "search and replace")


def _confidence(path: str, line: int, seed: Seed) -> float:
    if path == seed.path:
        return _SAME_FILE - _STEP * (1 - 1 / (1 + abs(line - seed.line)))
    near = PurePosixPath(path).parent == PurePosixPath(seed.path).parent
    return _SAME_FOLDER if near else _ELSEWHERE
