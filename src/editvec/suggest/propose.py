"""Propose what an edit could mean elsewhere: hypotheses from the most specific to the most general.

A hypothesis is executable. Its elements describe consecutive tokens of a file, and its operations say what becomes of
them. Nothing is thrown away here: how likely a match is, the scorer says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from editvec.suggest.hypothesis import (
    EditHypothesis,
    Element,
    HoleKind,
    Level,
    NamePart,
    Operation,
    Part,
    TokenHole,
    is_searchable,
    is_shape,
)
from editvec.suggest.intents import DemoEdit, Intent, Run, name_change
from editvec.syntax.brackets import closing_of, num_commas, opening_of, unbalanced_pieces
from editvec.syntax.lexer import CLOSING, OPENING, is_number, is_word

_MAX_EDITS = 6
"""Maximum number of shown edits that hypotheses are made from; all of them count when matches are scored."""
_MAX_RUNS = 6
_MAX_LINE_WORDS = 8
_MAX_FREE_WORDS = 6
_MAX_SHAPES = 16
"""Maximum number of hypotheses without a rare token, which are looked for in the nearest files only."""
_FREE = 100
"""The first number of a hole for a word that may differ."""
_SHAPES = ((2, 1), (1, 2), (2, 2), (3, 1), (3, 2), (1, 1))
_CONTEXTS = ((1, 1), (1, 0), (0, 1), (2, 0), (0, 2), (2, 1), (1, 2), (3, 0), (0, 3))
"""Numbers of tokens in front of and behind an edit that a hypothesis fixes, where the edit alone says too little."""


def propose(intent: Intent) -> list[EditHypothesis]:
    """Return the hypotheses of an intent, without repetitions."""
    found: dict[tuple[object, ...], EditHypothesis] = {}
    for edit in intent.edits[:_MAX_EDITS]:
        for each in _hypotheses(edit):
            if is_searchable(each) or (is_shape(each) and sum(map(is_shape, found.values())) < _MAX_SHAPES):
                found.setdefault((each.elements, each.operations), each)
    return list(found.values())


def _hypotheses(edit: DemoEdit) -> Iterator[EditHypothesis]:
    build = _Builder(edit)
    runs = edit.runs
    yield from build.around(Level.EXACT, runs, names=False, gaps=Level.EXACT)
    if build.moved:
        yield from build.around(Level.NAMES, runs, names=True, gaps=Level.EXACT)
        build.hole_kind = HoleKind.OPERAND
        yield from build.around(Level.NAMES, runs, names=True, gaps=Level.EXACT)
        build.hole_kind = HoleKind.WORD
    for gaps in (Level.GAPS, Level.BRACKETS):
        yield from build.around(gaps, runs, names=False, gaps=gaps)
        if build.moved:
            yield from build.around(gaps, runs, names=True, gaps=gaps)
    if 1 < len(runs) <= _MAX_RUNS:
        for run in runs:
            yield from build.around(Level.ONE_RUN, (run,), names=False, gaps=Level.EXACT)
        yield from build.one_word_free()
    for run in runs[:_MAX_RUNS]:
        yield from build.name_part(run)
    if len(runs) == 1:
        yield from build.call(runs[0])
        yield from build.line(runs[0])
        yield from build.shape(runs[0])


class _Builder:
    """Makes hypotheses of one shown edit."""

    def __init__(self, edit: DemoEdit) -> None:
        self.edit = edit
        self.old, self.new = edit.old.texts, edit.new.texts
        added = set(edit.added)
        self.moved = [
            token for token in dict.fromkeys(edit.removed) if token in added and (is_word(token) or is_number(token))
        ]
        self.indent = edit.before.indent_of(edit.first_line)
        self.hole_kind = HoleKind.WORD
        self.free: frozenset[bytes] = frozenset()
        """Words that may differ, beside those that are on both sides."""

    def around(self, level: Level, runs: Sequence[Run], *, names: bool, gaps: Level) -> Iterator[EditHypothesis]:
        """Yield hypotheses with as much context as they need, at least."""
        low, high = runs[0].low, runs[-1].high
        bare = self._build(level, runs, 0, 0, names=names, gaps=gaps)
        if bare is not None:
            yield bare
            if not all(run.low == run.high for run in runs) and is_searchable(bare):
                return
        for num_left, num_right in _CONTEXTS:
            if num_left <= low and high + num_right <= len(self.old):
                made = self._build(level, runs, num_left, num_right, names=names, gaps=gaps)
                if made is not None:
                    yield made

    def _needs(self, run: Run) -> tuple[int, int]:
        """Return how many tokens to the left and to the right an operation needs to know where it is."""
        _, keep_left, keep_right, _ = self._text(run)
        if run.low == run.high:
            return (0, 1) if keep_left else (1, 0) if keep_right else (1, 1)
        return int(not keep_left), int(not keep_right)

    def _text(self, run: Run) -> tuple[bytes, bool, bool, bytes]:
        """Return the text in front of what is added, whether white space is kept on each side, and the text behind."""
        old, new = self.edit.old, self.edit.new
        data, data_now = self.edit.before.data, self.edit.after.data
        gap_left = data[old.ends[run.low - 1] if run.low else 0 : _start(old.starts, run.low, data)]
        gap_right = data[old.ends[run.high - 1] if run.high else 0 : _start(old.starts, run.high, data)]
        left = data_now[new.ends[run.start - 1] if run.start else 0 : _start(new.starts, run.start, data_now)]
        right = data_now[new.ends[run.end - 1] if run.end else 0 : _start(new.starts, run.end, data_now)]
        if run.low == run.high:
            if left == gap_left and run.low < len(old.texts):
                return b"", True, False, right
            if right == gap_left and run.low:
                return left, False, True, b""
            # At an end of the file there is only one side by which the position can be told.
            if not run.low:
                return b"", True, False, right
            if run.low == len(old.texts):
                return left, False, True, b""
            return left, False, False, right
        if run.start == run.end:
            if left == gap_left:
                return b"", True, False, b""
            if left == gap_right:
                return b"", False, True, b""
            if not run.low or run.high == len(old.texts):
                return b"", True, True, b""
            return left, False, False, b""
        keep_left, keep_right = left == gap_left or not run.low, right == gap_right or run.high == len(old.texts)
        return b"" if keep_left else left, keep_left, keep_right, b"" if keep_right else right

    def one_word_free(self) -> Iterator[EditHypothesis]:
        """Yield the edit with its context fixed, except for one word between the changes."""
        runs = self.edit.runs
        between = {
            token
            for one, other in pairwise(runs)
            for token in self.old[one.high : other.low]
            if is_word(token) and token not in self.moved
        }
        for word in sorted(between)[:_MAX_FREE_WORDS]:
            self.free = frozenset({word})
            yield from self.around(Level.ONE_WORD, runs, names=bool(self.moved), gaps=Level.EXACT)
        self.free = frozenset()

    def shape(self, run: Run) -> Iterator[EditHypothesis]:
        """Yield an insertion next to tokens of the same kinds: all words and numbers may differ, signs may not."""
        if run.low != run.high:
            return
        for num_left, num_right in _SHAPES:
            if num_left <= run.low and run.high + num_right <= len(self.old):
                context = self.old[run.low - num_left : run.high + num_right]
                self.free = frozenset(token for token in context if is_word(token) or is_number(token))
                made = self._build(Level.SHAPE, (run,), num_left, num_right, names=False, gaps=Level.EXACT)
                if made is not None:
                    yield made
        self.free = frozenset()

    def _build(
        self, level: Level, runs: Sequence[Run], num_left: int, num_right: int, *, names: bool, gaps: Level
    ) -> EditHypothesis | None:
        moved = {token: number for number, token in enumerate(self.moved)} if names else {}
        elements: list[Element] = []
        places: dict[bytes, int] = {}
        holes = len(moved)
        free = {token: _FREE + number for number, token in enumerate(sorted(self.free))}

        def take(tokens: Sequence[bytes]) -> None:
            for token in tokens:
                if token in moved:
                    places.setdefault(token, len(elements))
                    elements.append(TokenHole(moved[token], self.hole_kind))
                elif token in free:
                    places.setdefault(token, len(elements))
                    elements.append(TokenHole(free[token], HoleKind.WORD))
                else:
                    elements.append(token)

        bounds = []
        changed = False
        left, right = self._needs(runs[0])[0], self._needs(runs[-1])[1]
        if left > runs[0].low or runs[-1].high + right > len(self.old):
            return None
        if left and not num_left:
            # The operation must know where the token in front of it ends, whatever that token is.
            elements.append(TokenHole(-1, HoleKind.TOKEN))
        take(self.old[runs[0].low - num_left : runs[0].low])
        for at, run in enumerate(runs):
            if at:
                gap = self.old[runs[at - 1].high : run.low]
                if gaps is Level.GAPS:
                    for piece in unbalanced_pieces(gap):
                        if len(piece) == 1 and (piece[0] in OPENING or piece[0] in CLOSING):
                            take(piece)
                        else:
                            elements.append(TokenHole(holes, HoleKind.OPERAND))
                            holes, changed = holes + 1, True
                else:
                    holes, more = self._brackets(gap, gaps, holes, elements, take)
                    changed |= more
            low = len(elements)
            holes, more = self._brackets(self.old[run.low : run.high], gaps, holes, elements, take)
            changed |= more
            bounds.append((low, len(elements)))
        take(self.old[runs[-1].high : runs[-1].high + num_right])
        if right and not num_right:
            elements.append(TokenHole(-2, HoleKind.TOKEN))
        if gaps is not Level.EXACT and not changed:
            return None
        operations = tuple(
            self._operation(run, low, high, {**moved, **free}, places)
            for run, (low, high) in zip(runs, bounds, strict=True)
        )
        if not elements:
            return None
        return EditHypothesis(level, tuple(elements), operations, self.indent, num_left, num_right)

    def _brackets(
        self, tokens: Sequence[bytes], gaps: Level, holes: int, elements: list[Element], take: object
    ) -> tuple[int, bool]:
        """Add tokens to the elements; with `Level.BRACKETS`, what stands in brackets becomes a hole."""
        assert callable(take)
        if gaps is not Level.BRACKETS:
            take(tokens)
            return holes, False
        at, changed = 0, False
        while at < len(tokens):
            take(tokens[at : at + 1])
            close = closing_of(tokens, at) if tokens[at] in OPENING else None
            if close is not None and close > at + 1 and not set(tokens[at + 1 : close]) & set(self.moved):
                elements.append(TokenHole(holes, HoleKind.INSIDE))
                holes, changed, at = holes + 1, True, close
            else:
                at += 1
        return holes, changed

    def _operation(self, run: Run, low: int, high: int, moved: dict[bytes, int], places: dict[bytes, int]) -> Operation:
        front, keep_left, keep_right, behind = self._text(run)
        parts: list[Part] = [front] if front else []
        new, data = self.edit.new, self.edit.after.data
        for at in range(run.start, run.end):
            if at > run.start:
                parts.append(data[new.ends[at - 1] : new.starts[at]])
            token = new.texts[at]
            parts.append(places[token] if token in moved and token in places else token)
        if behind:
            parts.append(behind)
        return Operation(low, high, keep_left, keep_right, _joined(parts))

    def name_part(self, run: Run) -> Iterator[EditHypothesis]:
        """Yield the change of a part of a name, for other names that have this part."""
        if run.high - run.low != 1 or run.end - run.start != 1:
            return
        old, new = self.old[run.low], self.new[run.start]
        if not is_word(old) or not is_word(new):
            return
        left, was, now, right = name_change(old, new)
        if len(was) > 1 and (left or right):
            yield EditHypothesis(
                Level.NAME_PART, (NamePart(was, now),), (Operation(0, 1, True, True, ()),), self.indent
            )

    def call(self, run: Run) -> Iterator[EditHypothesis]:
        """Yield changes at the end of a call's arguments, or behind a call, whatever its arguments are."""
        low, high = run.low, run.high
        opening = opening_of(self.old, low)
        if opening is not None and opening > 0 and is_word(self.old[opening - 1]) and high < len(self.old):
            if self.old[high] == OPENING[self.old[opening]] and opening + 1 < low:
                head: tuple[Element, ...] = (self.old[opening - 1], self.old[opening], TokenHole(0, HoleKind.OPERAND))
                yield self._around_run(run, head, (self.old[high],))
            elif low - opening > 1 and self.old[low - 1] == b"," and self.old[opening] == b"(":
                count = num_commas(self.old[opening + 1 : low])
                head = (self.old[opening - 1], self.old[opening])
                for number in range(count):
                    head += (TokenHole(number, HoleKind.OPERAND), b",")
                yield self._around_run(run, head, (self.old[high],))
        if low and self.old[low - 1] in CLOSING:
            start = opening_of(self.old, low - 1)
            if start is not None and start > 0 and is_word(self.old[start - 1]):
                head = (self.old[start - 1], self.old[start], TokenHole(0, HoleKind.INSIDE), self.old[low - 1])
                yield self._around_run(run, head, ())

    def _around_run(self, run: Run, head: tuple[Element, ...], tail: tuple[Element, ...]) -> EditHypothesis:
        removed = tuple(self.old[run.low : run.high])
        operation = self._operation(run, len(head), len(head) + len(removed), {}, {})
        if not tail and not (run.low == run.high and operation.keep_right) and not operation.keep_right:
            tail = (self.old[run.high],) if run.high < len(self.old) else ()
        return EditHypothesis(Level.CALL, (*head, *removed, *tail), (operation,), self.indent, len(head), len(tail))

    def line(self, run: Run) -> Iterator[EditHypothesis]:
        """Yield the insertion of text next to a whole line, in which one word may differ."""
        if run.low != run.high:
            return
        edit = self.edit
        _, keep_left, keep_right, _ = self._text(run)
        above = edit.before.line(edit.first_line - 1 if edit.first_line == edit.last_line else edit.first_line).texts
        below = edit.before.line(edit.last_line if edit.first_line == edit.last_line else edit.first_line).texts
        for tokens, is_left in ((above, True), (below, False)):
            size = len(tokens)
            here = self.old[run.low - size : run.low] if is_left else self.old[run.low : run.low + size]
            if not tokens or list(here) != list(tokens) or (is_left and run.low < size):
                continue
            words = [at for at, token in enumerate(tokens) if is_word(token)][:_MAX_LINE_WORDS]
            for hole in [None, *words]:
                body: tuple[Element, ...] = tuple(
                    TokenHole(0, HoleKind.WORD) if at == hole else token for at, token in enumerate(tokens)
                )
                extra: tuple[Element, ...] = ()
                if is_left and not keep_right:
                    extra = (self.old[run.low],) if run.low < len(self.old) else ()
                elif not is_left and not keep_left:
                    extra = (self.old[run.low - 1],) if run.low else ()
                if (is_left and not keep_right and not extra) or (not is_left and not keep_left and not extra):
                    continue
                elements = (*body, *extra) if is_left else (*extra, *body)
                at = len(body) if is_left else len(extra)
                operation = self._operation(run, at, at, {}, {})
                yield EditHypothesis(Level.LINE, elements, (operation,), self.indent, at, len(elements) - at)


def _start(starts: Sequence[int], at: int, data: bytes) -> int:
    return starts[at] if at < len(starts) else len(data)


def _joined(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts with neighbouring texts joined."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, bytes) and isinstance(last, bytes):
            joined[-1] = last + part
        elif part != b"":
            joined.append(part)
    return tuple(joined)
