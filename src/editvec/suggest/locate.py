"""Find the matches of hypotheses in files: bytes first, then tokens.

A file is searched for the rarest token of a hypothesis. Only the lines around such a token are cut into tokens.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from editvec.core.splice import TextEdit, splice
from editvec.suggest.hypothesis import EditHypothesis, Element, HoleKind, NamePart, Operation, TokenHole
from editvec.syntax.lexer import CLOSING, OPENING, LexedText, Tokens, is_number, is_word, lex, subwords

_WINDOW = 6
"""Number of lines above and below an anchor in which a hypothesis may match."""
_LONGEST_HOLE = 60
_IN_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") | frozenset(
    range(0x80, 0x100)
)
_LONG = (HoleKind.OPERAND, HoleKind.INSIDE)

Spans = list[tuple[int, int]]
"""For each element of a hypothesis, the tokens [low, high) of the window that stand for it."""


@dataclass(frozen=True, slots=True)
class Window:
    """The tokens of some lines of a file."""

    tokens: Tokens
    first_line: int


class SearchedFile:
    """A file in which edits are looked for."""

    def __init__(self, path: str, language: str, data: bytes) -> None:
        self.path, self.language, self.data = path, language, data
        self.lexed = LexedText(data)
        self._windows: dict[int, Window] = {}

    def window(self, line: int) -> Window:
        """Return the tokens of a line and of the lines around it."""
        if line not in self._windows:
            self._windows[line] = Window(self.lexed.lines(line - _WINDOW, line + _WINDOW + 1), line - _WINDOW)
        return self._windows[line]


@dataclass(eq=False, slots=True)
class EditMatch:
    """A place in a file with what hypotheses would make of it."""

    file: SearchedFile
    start: int
    end: int
    after: bytes
    window: Window
    low: int
    """The first token of the window that the edit concerns; the edit concerns the tokens [low, high)."""
    high: int
    line: int
    """The 0-based line of the first changed byte."""
    hypotheses: list[int] = field(default_factory=list)
    """The numbers of the hypotheses that propose this edit."""


def locate(
    hypotheses: Sequence[EditHypothesis], files: Sequence[SearchedFile], limit: int = 6_000
) -> tuple[list[EditMatch], list[int]]:
    """Return the matches of all hypotheses, and how many matches each hypothesis has.

    `files` come nearest first; a hypothesis that has `limit` matches is not looked for in the remaining files.
    """
    found: dict[tuple[int, int, int, bytes], EditMatch] = {}
    counts = [0] * len(hypotheses)
    literals = [_literals(each) for each in hypotheses]
    anchors = [each.anchor for each in hypotheses]
    for number, file in enumerate(files):
        present: dict[bytes, bool] = {}
        offsets: dict[Element, list[int]] = {}
        for index, hypothesis in enumerate(hypotheses):
            if counts[index] >= limit or not _has_all(file.data, literals[index], present):
                continue
            anchor = hypothesis.elements[anchors[index]]
            if anchor not in offsets:
                offsets[anchor] = list(_occurrences(file.data, anchor))
            for match in _matches(hypothesis, anchors[index], file, offsets[anchor]):
                counts[index] += 1
                key = (number, match.start, match.end, match.after)
                known = found.setdefault(key, match)
                if not known.hypotheses or known.hypotheses[-1] != index:
                    known.hypotheses.append(index)
                if counts[index] >= limit:
                    break
    return list(found.values()), counts


def _literals(hypothesis: EditHypothesis) -> list[bytes]:
    """Return the texts that a file must have for the hypothesis to match, the longest first."""
    found = {each for each in hypothesis.elements if isinstance(each, bytes) and len(each) > 1}
    found |= {each.old for each in hypothesis.elements if isinstance(each, NamePart)}
    return sorted(found, key=len, reverse=True)


def _has_all(data: bytes, literals: Sequence[bytes], present: dict[bytes, bool]) -> bool:
    """Return whether data has all the literals; what is known is kept in `present`."""
    for text in literals:
        known = present.get(text)
        if known is None:
            known = present[text] = text in data
        if not known:
            return False
    return True


def _occurrences(data: bytes, anchor: Element) -> Iterator[int]:
    """Yield where a token may begin that an anchor stands for."""
    text = anchor.old if isinstance(anchor, NamePart) else anchor
    assert isinstance(text, bytes)
    whole = not isinstance(anchor, NamePart) and (is_word(text) or is_number(text))
    at = data.find(text)
    while at >= 0:
        end = at + len(text)
        if not whole or (not (at and data[at - 1] in _IN_WORD) and not (end < len(data) and data[end] in _IN_WORD)):
            yield at
        at = data.find(text, end)


def _matches(
    hypothesis: EditHypothesis, anchor: int, file: SearchedFile, offsets: Sequence[int]
) -> Iterator[EditMatch]:
    elements = hypothesis.elements
    before = elements[anchor - 1] if anchor else None
    behind = elements[anchor + 1] if anchor + 1 < len(elements) else None
    passed = -1
    for offset in offsets:
        line = file.lexed.line_of(offset)
        tokens = file.lexed.line(line)
        here = bisect_right(tokens.starts, offset) - 1
        if here < 0 or tokens.ends[here] <= offset or not _fits(elements[anchor], tokens.texts[here]):
            continue
        # Most occurrences are ruled out by the tokens beside them, before the lines around them are read.
        if behind is not None and here + 1 < len(tokens.texts) and not _may_be(behind, tokens.texts[here + 1]):
            continue
        if before is not None and here and not _may_be(before, tokens.texts[here - 1]):
            continue
        window = file.window(line)
        at = bisect_left(window.tokens.starts, tokens.starts[here])
        spans = _match_at(elements, anchor, window.tokens.texts, at)
        match = None if spans is None else _edit_of(hypothesis, file, window, spans)
        if match is not None and match.start >= passed:
            passed = max(match.end, match.start + 1)
            yield match


def _may_be(element: Element, token: bytes) -> bool:
    """Return whether a token may be the first or the last one that an element stands for."""
    return _is_long(element) or _fits(element, token)


def _match_at(elements: Sequence[Element], anchor: int, texts: Sequence[bytes], at: int) -> Spans | None:
    """Return the spans of all elements if the anchor stands for the token at an index, or None."""
    if not _fits(elements[anchor], texts[at]):
        return None
    right = _forward(elements, anchor + 1, texts, at + 1)
    if right is None:
        return None
    left = _backward(elements, anchor - 1, texts, at)
    if left is None:
        return None
    spans = [*left, (at, at + 1), *right]
    return spans if _consistent(elements, spans, texts) else None


def _fits(element: Element, token: bytes) -> bool:
    if isinstance(element, NamePart):
        return is_word(token) and renamed(token, element) is not None
    if isinstance(element, TokenHole):
        return element.kind is HoleKind.TOKEN or is_word(token) or is_number(token)
    return element == token


def _fits_at(element: Element, texts: Sequence[bytes], at: int) -> bool:
    return 0 <= at < len(texts) and _fits(element, texts[at])


def _is_long(element: Element) -> bool:
    return isinstance(element, TokenHole) and element.kind in _LONG


@lru_cache(4096)
def renamed(token: bytes, part: NamePart) -> bytes | None:
    """Return a name with the words of a part replaced, or None if it does not have them."""
    words, old = subwords(token), subwords(part.old)
    if b"".join(words) != token:
        return None
    for at in range(len(words) - len(old) + 1):
        if words[at : at + len(old)] == old:
            return b"".join([*words[:at], part.new, *words[at + len(old) :]])
    return None


def _forward(elements: Sequence[Element], index: int, texts: Sequence[bytes], at: int) -> Spans | None:
    spans: Spans = []
    for number in range(index, len(elements)):
        element = elements[number]
        if isinstance(element, TokenHole) and element.kind in _LONG:
            for end in _ends(texts, at, element.kind):
                following = elements[number + 1] if number + 1 < len(elements) else None
                if following is not None and not _is_long(following) and not _fits_at(following, texts, end):
                    continue
                rest = _forward(elements, number + 1, texts, end)
                if rest is not None:
                    return [*spans, (at, end), *rest]
            return None
        if at >= len(texts) or not _fits(element, texts[at]):
            return None
        spans.append((at, at + 1))
        at += 1
    return spans


def _ends(texts: Sequence[bytes], at: int, kind: HoleKind) -> Iterator[int]:
    """Yield where a hole that begins at a token may end, the nearest first."""
    if kind is HoleKind.INSIDE:
        yield at
    depth = 0
    for end in range(at, min(len(texts), at + _LONGEST_HOLE)):
        depth += (texts[end] in OPENING) - (texts[end] in CLOSING)
        if depth < 0 or (depth == 0 and texts[end] == b";"):
            return
        if depth == 0:
            yield end + 1


def _backward(elements: Sequence[Element], index: int, texts: Sequence[bytes], at: int) -> Spans | None:
    spans: Spans = []
    for number in range(index, -1, -1):
        element = elements[number]
        if isinstance(element, TokenHole) and element.kind in _LONG:
            for start in _begins(texts, at, element.kind):
                previous = elements[number - 1] if number else None
                if previous is not None and not _is_long(previous) and not _fits_at(previous, texts, start - 1):
                    continue
                rest = _backward(elements, number - 1, texts, start)
                if rest is not None:
                    return [*rest, (start, at), *spans]
            return None
        if at < 1 or not _fits(element, texts[at - 1]):
            return None
        spans.insert(0, (at - 1, at))
        at -= 1
    return spans


def _begins(texts: Sequence[bytes], at: int, kind: HoleKind) -> Iterator[int]:
    """Yield where a hole that ends in front of a token may begin, the nearest first."""
    if kind is HoleKind.INSIDE:
        yield at
    depth = 0
    for start in range(at - 1, max(-1, at - 1 - _LONGEST_HOLE), -1):
        depth += (texts[start] in CLOSING) - (texts[start] in OPENING)
        if depth < 0 or (depth == 0 and texts[start] == b";"):
            return
        if depth == 0:
            yield start


def _consistent(elements: Sequence[Element], spans: Spans, texts: Sequence[bytes]) -> bool:
    """Return whether holes with the same number stand for the same tokens."""
    known: dict[int, list[bytes]] = {}
    for element, (low, high) in zip(elements, spans, strict=True):
        if (
            isinstance(element, TokenHole)
            and known.setdefault(element.number, list(texts[low:high])) != texts[low:high]
        ):
            return False
    return True


def _edit_of(hypothesis: EditHypothesis, file: SearchedFile, window: Window, spans: Spans) -> EditMatch | None:
    tokens, data = window.tokens, file.data
    edits: list[TextEdit] = []
    low, high = len(tokens.texts), 0
    for operation in hypothesis.operations:
        edit = _applied(hypothesis, operation, file, tokens, spans)
        if edit is None or (edits and edit.start < edits[-1].end):
            return None
        edits.append(edit)
        low = min(low, _token_low(operation, spans))
        high = max(high, _token_high(operation, spans))
    start, end = edits[0].start, edits[-1].end
    after = splice(data[start:end], [TextEdit(one.start - start, one.end - start, one.text) for one in edits])
    if after == data[start:end]:
        return None
    return EditMatch(file, start, end, after, window, low, high, file.lexed.line_of(start))


def _token_low(operation: Operation, spans: Spans) -> int:
    return spans[operation.low][0] if operation.low < len(spans) else spans[-1][1]


def _token_high(operation: Operation, spans: Spans) -> int:
    return spans[operation.high - 1][1] if operation.high else spans[0][0]


def _applied(
    hypothesis: EditHypothesis, operation: Operation, file: SearchedFile, tokens: Tokens, spans: Spans
) -> TextEdit | None:
    """Return what an operation changes, or None if that has been done already."""
    low, high = _token_low(operation, spans), _token_high(operation, spans)
    inserts = operation.low == operation.high
    size = len(tokens.texts)
    element = hypothesis.elements[operation.low] if operation.low < len(spans) else b""
    if isinstance(element, NamePart):
        name = renamed(tokens.texts[low], element)
        return None if name is None else TextEdit(tokens.starts[low], tokens.ends[low], name)
    text = _written(hypothesis, operation, file, tokens, spans)
    if inserts and _is_there(text, tokens, low):
        return None
    if (not operation.keep_left or (inserts and operation.keep_right)) and low == 0:
        return None
    if (not operation.keep_right or (inserts and operation.keep_left)) and high >= size:
        return None
    if inserts and operation.keep_left:
        return TextEdit(tokens.starts[low], tokens.starts[low], text)
    if inserts and operation.keep_right:
        return TextEdit(tokens.ends[low - 1], tokens.ends[low - 1], text)
    start = tokens.starts[low] if operation.keep_left else tokens.ends[low - 1]
    end = tokens.ends[high - 1] if operation.keep_right else tokens.starts[high]
    return TextEdit(start, end, text) if start <= end else None


def _written(
    hypothesis: EditHypothesis, operation: Operation, file: SearchedFile, tokens: Tokens, spans: Spans
) -> bytes:
    pieces = []
    for part in operation.parts:
        if isinstance(part, bytes):
            pieces.append(part)
        elif spans[part][0] < spans[part][1]:
            pieces.append(file.data[tokens.starts[spans[part][0]] : tokens.ends[spans[part][1] - 1]])
    text = b"".join(pieces)
    if b"\n" in text:
        at = min(_token_low(operation, spans), len(tokens.starts) - 1)
        indent = file.lexed.indent_of(file.lexed.line_of(tokens.starts[at]))
        text = text.replace(b"\n" + hypothesis.indent, b"\n" + indent)
    return text


def _is_there(text: bytes, tokens: Tokens, at: int) -> bool:
    """Return whether the tokens of a text stand directly in front of or behind a position already.

    Brackets and other signs alone say nothing.
    """
    added = lex(text).texts
    if not any(map(is_word, added)):
        return False
    size = len(added)
    return tokens.texts[at : at + size] == added or tokens.texts[max(0, at - size) : at] == added
