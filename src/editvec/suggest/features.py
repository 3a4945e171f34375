"""What the scorer knows of a match: numbers about the edit, the match, its file, and all matches together."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from editvec.suggest.declared import declares, num_declarations
from editvec.suggest.hypothesis import EditHypothesis, Level, NamePart, TokenHole
from editvec.suggest.intents import DemoEdit, Intent
from editvec.suggest.likeness import LIKENESS, Spot, likeness
from editvec.suggest.roles import RoleReader
from editvec.suggest.searched import EditMatch, SearchedFile
from editvec.syntax.lexer import is_word

_MAX_SHOWN = 8
_NEAR_SPANS = 12
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
    "typed",
    "old_declared",
    "new_declared",
    "shown_declares",
    "local",
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
    "declares",
    "between_shown",
    "shown_in_file",
    "alternatives",
    "support",
    "repeats",
)

FEATURES = (
    *_OF_EDIT,
    *_OF_MATCH,
    *(f"most_{name}" for name in LIKENESS),
    *(f"least_{name}" for name in LIKENESS),
    *(f"shown_{name}" for name in LIKENESS),
    *(f"refused_{name}" for name in LIKENESS),
    *(f"above_{name}" for name in LIKENESS),
    *(f"mean_{name}" for name in LIKENESS),
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
    reader = RoleReader()
    shown = [Spot.of_shown(edit, reader) for edit in intent.edits[-_MAX_SHOWN:]]
    spots = [Spot.of_match(match, reader) for match in matches]
    most, least = _compared(spots, shown)
    pairs = [likeness(one, other) for one, other in combinations(shown, 2)]
    between = np.min(pairs, 0) if pairs else np.full(len(LIKENESS), -1, np.float32)
    against = [Spot.of_match(match, reader) for match in refused[-_MAX_SHOWN:]]
    no = _compared(spots, against)[0] if against else np.full((len(spots), len(LIKENESS)), -1, np.float32)
    edit = _of_edit(intent, num_intents, len(refused), matches[0].file.language)
    names = _of_names(intent, shown, files)
    rows = _MatchRows(intent, hypotheses, counts, matches, files, spots, shown, most, touched)
    own = np.array([rows.row(number) for number in range(len(matches))], np.float32)
    of_all = [np.tile(each, (len(matches), 1)) for each in (np.concatenate([edit, names]), between, most.mean(0))]
    return np.hstack([of_all[0], own, most, least, of_all[1], no, _above(most), of_all[2]], dtype=np.float32)


def _above(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return for each number of a table the share of the rows that are more alike in its column."""
    shares = np.empty_like(table)
    for column, values in enumerate(table.T):
        order = np.sort(values)
        shares[:, column] = 1 - np.searchsorted(order, values, "right") / len(values)
    return shares


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
            edit.before.num_lines <= edit.last_line - edit.first_line,
        ],
        np.float32,
    )


def _offset(edit: DemoEdit) -> int:
    at = min(edit.runs[0].low, len(edit.old.starts) - 1)
    return max(0, edit.old.starts[at] - edit.before.line_starts[edit.first_line]) if at >= 0 else 0


def _of_names(intent: Intent, shown: Sequence[Spot], files: Sequence[SearchedFile]) -> NDArray[np.float32]:
    """Return how often the names that an edit removes and adds are declared, and whether the removed one is local."""
    edit = intent.edits[0]
    removed = max((each for each in edit.removed if is_word(each)), key=len, default=b"")
    added = max((each for each in edit.added if is_word(each) and each not in edit.removed), key=len, default=b"")
    counts = [math.log1p(num_declarations(name, files)) if name else -1.0 for name in (removed, added)]
    texts = shown[0].lines[0]
    declared = bool(removed) and any(declares(texts, at) for at, token in enumerate(texts) if token == removed)
    return np.array([*counts, declared, _share_in_function(removed, shown[0])], np.float32)


def _share_in_function(name: bytes, spot: Spot) -> float:
    """Return the share of a name's occurrences in a file that are in the function around a place."""
    if not name or spot.role is None or spot.role.function[0] < 0:
        return -1.0
    first, last = spot.role.function
    starts = spot.lexed.line_starts
    inside = spot.lexed.data[starts[first] : starts[min(last + 1, len(starts) - 1)]].count(name)
    return inside / max(1, spot.lexed.data.count(name))


class _MatchRows:
    """The features of each match, with what is counted over all matches."""

    def __init__(
        self,
        intent: Intent,
        hypotheses: Sequence[EditHypothesis],
        counts: Sequence[int],
        matches: Sequence[EditMatch],
        files: Sequence[SearchedFile],
        spots: Sequence[Spot],
        shown: Sequence[Spot],
        most: NDArray[np.float32],
        touched: frozenset[str],
    ) -> None:
        self.hypotheses, self.counts, self.matches, self.spots, self.touched = (
            hypotheses,
            counts,
            matches,
            spots,
            touched,
        )
        self.alike = _overall(most)
        self.order = np.sort(self.alike)
        self.per_line = Counter((match.file.path, match.line) for match in matches)
        self.seen: Counter[tuple[str, int]] = Counter()
        self.per_file = Counter(match.file.path for match in matches)
        self.per_folder = Counter(spot.path_parts for spot in spots)
        self.contexts = [(*spot.left[:1], b"|", *spot.right[:1]) for spot in spots]
        self.per_context = Counter(self.contexts)
        self.shown_contexts = {(*spot.left[:1], b"|", *spot.right[:1]) for spot in shown}
        self.texts = Counter(b" ".join(spot.lines[0]) for spot in spots)
        self.lines_of: dict[str, list[int]] = defaultdict(list)
        self.spans_of: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for match in matches:
            self.lines_of[match.file.path].append(match.line)
            self.spans_of[match.file.path].append((match.start, match.end, len(match.hypotheses)))
        for lines in self.lines_of.values():
            lines.sort()
        for spans in self.spans_of.values():
            spans.sort()
        self.words = _WordsOfFiles(intent, files)
        self.shown_lines: dict[str, list[int]] = defaultdict(list)
        for spot in shown:
            self.shown_lines[spot.path].append(spot.line)
        self.tests_shown = any(_TEST.search(spot.path) for spot in shown)
        self.specifics = [_specificity(each) for each in hypotheses]

    def row(self, number: int) -> list[float]:
        """Return the features of the match with this number; call it once for each, in order."""
        match, spot = self.matches[number], self.spots[number]
        path, num_matches = match.file.path, len(self.matches)
        here = (path, match.line)
        self.seen[here] += 1
        lines = self.shown_lines.get(path, ())
        return [
            *self._of_hypotheses(match),
            self.per_line[here],
            self.seen[here],
            math.log1p(self.per_file[path]),
            self.per_file[path] / num_matches,
            math.log1p(len(self.per_file)),
            math.log1p(num_matches),
            math.log1p(self.texts[b" ".join(spot.lines[0])]),
            self.per_folder[spot.path_parts] / num_matches,
            float(match.line < lines[0]) if lines else -1,
            1 - np.searchsorted(self.order, self.alike[number], "left") / num_matches,
            self.alike[number],
            self.order[-1] - self.alike[number],
            self._next(match),
            *self.words.of(match),
            path in self.touched,
            _TEST.search(path) is not None,
            self.tests_shown,
            self.contexts[number] in self.shown_contexts,
            sum(self.per_context[each] for each in self.shown_contexts) / num_matches,
            math.log1p(len(self.per_context)),
            any(declares(spot.texts, at) for at in range(match.low, match.high) if is_word(spot.texts[at])),
            bool(lines) and min(lines) < match.line < max(lines),
            len(lines),
            *self._alternatives(match),
            match.repeats,
        ]

    def _of_hypotheses(self, match: EditMatch) -> list[float]:
        """Return which hypotheses propose the match, and what the most specific of them is like."""
        levels = {self.hypotheses[index].level for index in match.hypotheses}
        hypothesis = self.hypotheses[max(match.hypotheses, key=lambda index: self.specifics[index])]
        counts = [self.counts[index] for index in match.hypotheses]
        return [
            *(level in levels for level in Level),
            len(match.hypotheses),
            math.log1p(min(counts)),
            math.log1p(max(counts)),
            _specificity(hypothesis),
            sum(isinstance(each, TokenHole) for each in hypothesis.elements),
            hypothesis.num_left + hypothesis.num_right,
        ]

    def _next(self, match: EditMatch) -> float:
        """Return how far the next line with a match is."""
        lines = self.lines_of[match.file.path]
        at = bisect_left(lines, match.line)
        others = (at - 1, at + self.per_line[match.file.path, match.line])
        gaps = [abs(lines[each] - match.line) for each in others if 0 <= each < len(lines)]
        return math.log1p(min(gaps)) if gaps else 10

    def _alternatives(self, match: EditMatch) -> tuple[float, float]:
        """Return how many matches concern these bytes, and which share of their hypotheses proposes this one."""
        spans = self.spans_of[match.file.path]
        at = bisect_left(spans, (match.start, match.end, 0))
        near = spans[max(0, at - _NEAR_SPANS) : at + _NEAR_SPANS]
        support = [
            count
            for start, end, count in near
            if start < max(match.end, match.start + 1) and match.start < max(end, start + 1)
        ]
        return len(support), len(match.hypotheses) / max(1, sum(support))


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
