"""What the scorer knows of a match: numbers about the edit, the match, its file, and all matches together."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from editvec.suggest.hypothesis import EditHypothesis, Level, NamePart, TokenHole
from editvec.suggest.intents import Intent
from editvec.suggest.likeness import LIKENESS, Spot, likeness
from editvec.suggest.locate import EditMatch, SearchedFile
from editvec.syntax.lexer import is_word

_MAX_SHOWN = 8
_TEST = re.compile(r"(?:^|[/_.-])(?:tests?|specs?|examples?|bench(?:marks?)?|docs?)(?:[/_.-]|$)|Tests?\.\w+$", re.I)

_OF_EDIT = (
    "num_shown",
    "num_runs",
    "num_removed",
    "num_added",
    "only_inserts",
    "only_removes",
    "removed_words",
    "added_words",
    "longest_removed",
    "longest_added",
    "one_name",
    "num_intents",
    "num_refused",
    "prose",
    "starts_line",
    "more_lines",
)
_OF_MATCH = (
    *(f"level_{level.name.lower()}" for level in Level),
    "num_hypotheses",
    "count_rarest",
    "count_commonest",
    "literals",
    "holes",
    "context",
    "hits_on_line",
    "position_on_line",
    "in_file",
    "in_file_share",
    "num_files",
    "num_matches",
    "same_line_text",
    "in_folder_share",
    "above_shown",
    "rank",
    "alike",
    "best_alike",
    "next_match",
    "added_in_file",
    "added_in_files",
    "removed_in_file",
    "added_near",
    "file_touched",
    "test",
    "test_shown",
    "like_shown_context",
    "shown_context_share",
    "contexts",
)

FEATURES = (
    *_OF_EDIT,
    *_OF_MATCH,
    *(f"most_{name}" for name in LIKENESS),
    *(f"least_{name}" for name in LIKENESS),
    *(f"shown_{name}" for name in LIKENESS),
    *(f"refused_{name}" for name in LIKENESS),
)
"""The names of the features, in the order of the columns."""


def features(
    intent: Intent,
    hypotheses: Sequence[EditHypothesis],
    counts: Sequence[int],
    matches: Sequence[EditMatch],
    files: Sequence[SearchedFile],
    *,
    refused: Sequence[EditMatch] = (),
    touched: frozenset[str] = frozenset(),
    num_intents: int = 1,
) -> NDArray[np.float32]:
    """Return the features of the matches of an intent, of shape [len(matches), len(FEATURES)].

    `counts` are the numbers of matches of each hypothesis. `refused` are matches that a person refused. `touched` are
    the files with other edits.
    """
    if not matches:
        return np.zeros((0, len(FEATURES)), np.float32)
    shown = [Spot.of_shown(edit) for edit in intent.edits[-_MAX_SHOWN:]]
    spots = [Spot.of_match(match) for match in matches]
    most, least = _compared(spots, shown)
    pairs = [likeness(one, other) for one, other in combinations(shown, 2)]
    between = np.min(pairs, 0) if pairs else np.full(len(LIKENESS), -1, np.float32)
    against = [Spot.of_match(match) for match in refused[-_MAX_SHOWN:]]
    no = _compared(spots, against)[0] if against else np.full((len(spots), len(LIKENESS)), -1, np.float32)
    edit = _of_edit(intent, num_intents, len(refused), matches[0].file.language)
    own = _of_matches(intent, hypotheses, counts, matches, files, spots, shown, most, touched)
    return np.hstack(
        [np.tile(edit, (len(matches), 1)), own, most, least, np.tile(between, (len(matches), 1)), no], dtype=np.float32
    )


def _compared(spots: Sequence[Spot], others: Sequence[Spot]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the likeness of each place to the one of `others` that it is most like, and the least over all."""
    tables = np.stack([[likeness(spot, other) for other in others] for spot in spots])
    total = _overall(tables)
    best = tables[np.arange(len(spots)), total.argmax(1)]
    least = tables.min(1)
    # A distance is the other way round: the largest is the least alike.
    least[:, LIKENESS.index("distance")] = tables[:, :, LIKENESS.index("distance")].max(1)
    return best, least


def _overall(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return one number for how alike places are, from the columns of `likeness`, of any leading shape."""
    at = LIKENESS.index
    sides = np.minimum(table[..., at("left")], 6) + np.minimum(table[..., at("right")], 6)
    kinds = 0.3 * (table[..., at("left_kinds")] + table[..., at("right_kinds")])
    near = 1.5 * table[..., at("same_file")] + table[..., at("same_folder")] + table[..., at("callee")]
    total: NDArray[np.float32] = sides + kinds + 4 * table[..., at("line")] + near
    return total


def _of_edit(intent: Intent, num_intents: int, num_refused: int, language: str) -> NDArray[np.float32]:
    edit = intent.edits[0]
    removed, added = edit.removed, edit.added
    words, new_words = [each for each in removed if is_word(each)], [each for each in added if is_word(each)]
    return np.array(
        [
            len(intent.edits),
            len(edit.runs),
            len(removed),
            len(added),
            not removed,
            not added,
            len(words),
            len(new_words),
            max(map(len, words), default=0),
            max(map(len, new_words), default=0),
            len(removed) == len(added) == len(words) == len(new_words) == 1,
            num_intents,
            num_refused,
            language in ("markdown", "rst", "latex", "text", "prose", "asciidoc"),
            not edit.before.text_of(edit.first_line)[: _offset(edit)].strip() if edit.runs[0].low else True,
            edit.last_line - edit.first_line != 1 or edit.last_line_now - edit.first_line_now != 1,
        ],
        np.float32,
    )


def _offset(edit: object) -> int:
    from editvec.suggest.intents import DemoEdit

    assert isinstance(edit, DemoEdit)
    at = min(edit.runs[0].low, len(edit.old.starts) - 1)
    return max(0, edit.old.starts[at] - edit.before.line_starts[edit.first_line]) if at >= 0 else 0


def _of_matches(
    intent: Intent,
    hypotheses: Sequence[EditHypothesis],
    counts: Sequence[int],
    matches: Sequence[EditMatch],
    files: Sequence[SearchedFile],
    spots: Sequence[Spot],
    shown: Sequence[Spot],
    most: NDArray[np.float32],
    touched: frozenset[str],
) -> NDArray[np.float32]:
    alike = _overall(most)
    order = np.sort(alike)
    per_line = Counter((match.file.path, match.line) for match in matches)
    seen: Counter[tuple[str, int]] = Counter()
    per_file = Counter(match.file.path for match in matches)
    per_folder = Counter(spot.path_parts for spot in spots)
    contexts = [(*spot.left[:1], b"|", *spot.right[:1]) for spot in spots]
    per_context = Counter(contexts)
    shown_contexts = {(*spot.left[:1], b"|", *spot.right[:1]) for spot in shown}
    texts = Counter(b" ".join(spot.lines[0]) for spot in spots)
    lines_of: dict[str, list[int]] = {}
    for match in matches:
        lines_of.setdefault(match.file.path, []).append(match.line)
    for lines in lines_of.values():
        lines.sort()
    words = _WordsOfFiles(intent, files)
    first_shown = {spot.path: spot.line for spot in reversed(shown)}
    tests_shown = any(_TEST.search(spot.path) for spot in shown)
    specifics = [_specificity(each) for each in hypotheses]
    rows = []
    for number, (match, spot) in enumerate(zip(matches, spots, strict=True)):
        path = match.file.path
        here = (path, match.line)
        seen[here] += 1
        levels = {hypotheses[index].level for index in match.hypotheses}
        best = max(match.hypotheses, key=lambda index: specifics[index])
        hypothesis = hypotheses[best]
        own_counts = [counts[index] for index in match.hypotheses]
        lines = lines_of[path]
        at = bisect_left(lines, match.line)
        gaps = [abs(lines[i] - match.line) for i in (at - 1, at + per_line[here]) if 0 <= i < len(lines)]
        first = first_shown.get(path)
        rows.append(
            [
                *(level in levels for level in Level),
                len(match.hypotheses),
                math.log1p(min(own_counts)),
                math.log1p(max(own_counts)),
                specifics[best],
                sum(isinstance(each, TokenHole) for each in hypothesis.elements),
                hypothesis.num_left + hypothesis.num_right,
                per_line[here],
                seen[here],
                math.log1p(per_file[path]),
                per_file[path] / len(matches),
                math.log1p(len(per_file)),
                math.log1p(len(matches)),
                math.log1p(texts[b" ".join(spot.lines[0])]),
                per_folder[spot.path_parts] / len(matches),
                -1 if first is None else float(match.line < first),
                1 - np.searchsorted(order, alike[number], "left") / len(matches),
                alike[number],
                order[-1] - alike[number],
                math.log1p(min(gaps)) if gaps else 10,
                *words.of(match),
                path in touched,
                _TEST.search(path) is not None,
                tests_shown,
                contexts[number] in shown_contexts,
                sum(per_context[each] for each in shown_contexts) / len(matches),
                math.log1p(len(per_context)),
            ]
        )
    return np.array(rows, np.float32)


def _specificity(hypothesis: EditHypothesis) -> float:
    """Return the number of tokens that a hypothesis fixes; holes count against it a little."""
    literals = sum(isinstance(each, bytes) for each in hypothesis.elements)
    parts = sum(isinstance(each, NamePart) for each in hypothesis.elements)
    return literals + 0.5 * parts - 0.1 * (len(hypothesis.elements) - literals - parts)


class _WordsOfFiles:
    """How often the words that an edit adds and removes occur in files."""

    def __init__(self, intent: Intent, files: Sequence[SearchedFile]) -> None:
        edit = intent.edits[0]
        self._added = sorted({each for each in edit.added if is_word(each)} - set(edit.removed), key=len)[-3:]
        self._removed = sorted({each for each in edit.removed if is_word(each)}, key=len)[-1:]
        self._in_files = math.log1p(sum(all(word in file.data for word in self._added) for file in files))
        self._counts: dict[tuple[str, bytes], int] = {}

    def of(self, match: EditMatch) -> tuple[float, float, float, float]:
        """Return the counts of added words in the file, of files with them, of removed words, and of added nearby."""
        if not self._added:
            return -1, -1, self._count(match.file, self._removed), 0
        near = match.window.tokens.texts
        return (
            self._count(match.file, self._added),
            self._in_files,
            self._count(match.file, self._removed),
            sum(word in near for word in self._added) / len(self._added),
        )

    def _count(self, file: SearchedFile, words: Sequence[bytes]) -> float:
        if not words:
            return -1
        for word in words:
            if (file.path, word) not in self._counts:
                self._counts[file.path, word] = file.data.count(word)
        return math.log1p(min(self._counts[file.path, word] for word in words))
