"""Find the matches of hypotheses in files: bytes first, then tokens.

A file is searched for the rarest token of a hypothesis. Only the lines around such a token are cut into tokens.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from editvec.core.splice import TextEdit, splice
from editvec.suggest.hypothesis import EditHypothesis, Element, HoleKind, NamePart, Operation, TokenHole, is_searchable
from editvec.suggest.searched import EditMatch, SearchedFile, Window
from editvec.syntax.lexer import CLOSING, OPENING, QUOTES, Tokens, is_number, is_word, lex, subwords

_LONGEST_HOLE = 60
_SEVERAL = 2
"""Number of tokens beside a place from which on they mean that the edit has been made there already."""
_SAY_NOTHING = frozenset((*OPENING, *CLOSING, *QUOTES, b",", b";"))
_NEAR_BYTES = 150_000
"""Maximum size of the nearest files in which hypotheses without a rare token are looked for; the first file counts."""
_MAX_SHAPE_MATCHES = 400
_MAX_OCCURRENCES = 5_000
"""Number of occurrences of its rarest token after which a hypothesis is looked for in the nearest files only."""
_IN_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") | frozenset(
    range(0x80, 0x100)
)
_LONG = (HoleKind.OPERAND, HoleKind.INSIDE)

Spans = list[tuple[int, int]]
"""For each element of a hypothesis, the tokens [low, high) of the window that stand for it."""


MatchFinder = Callable[[SearchedFile, Sequence[int]], Iterator[EditMatch]]
"""A function from a file and the offsets of an anchor in it to matches."""


def locate(
    hypotheses: Sequence[EditHypothesis],
    files: Sequence[SearchedFile],
    limit: int = 6_000,
    finder_of: Callable[[EditHypothesis], MatchFinder] | None = None,
) -> tuple[list[EditMatch], list[int]]:
    """Return the matches of all hypotheses, and how many matches each hypothesis has.

    `files` come nearest first; a hypothesis that has `limit` matches is not looked for in the remaining files. One
    without a rare token is looked for in the nearest files only. `finder_of` returns what finds the matches of a
    hypothesis; the default knows hypotheses about tokens.
    """
    found: dict[tuple[int, int, int, bytes], EditMatch] = {}
    counts = [0] * len(hypotheses)
    literals = [_literals(each) for each in hypotheses]
    anchors = [each.anchor for each in hypotheses]
    finders = [(finder_of or token_finder)(each) for each in hypotheses]
    limits = [limit if is_searchable(each) else _MAX_SHAPE_MATCHES for each in hypotheses]
    looked_at = [0] * len(hypotheses)
    near = _NEAR_BYTES
    for number, file in enumerate(files):
        near -= len(file.data)
        present: dict[bytes, bool] = {}
        offsets: dict[Element, list[int]] = {}
        for index, hypothesis in enumerate(hypotheses):
            if counts[index] >= limits[index] or not _has_all(file.data, literals[index], present):
                continue
            if number and near < 0 and (limits[index] < limit or looked_at[index] > _MAX_OCCURRENCES):
                continue
            anchor = hypothesis.elements[anchors[index]]
            if anchor not in offsets:
                offsets[anchor] = list(_occurrences(file.data, anchor))
            looked_at[index] += len(offsets[anchor])
            for match in finders[index](file, offsets[anchor]):
                counts[index] += 1
                key = (number, match.start, match.end, match.after)
                known = found.setdefault(key, match)
                if not known.hypotheses or known.hypotheses[-1] != index:
                    known.hypotheses.append(index)
                if counts[index] >= limits[index]:
                    break
    return list(found.values()), counts


def token_finder(hypothesis: EditHypothesis) -> MatchFinder:
    """Return what finds the matches of a hypothesis about tokens."""
    return partial(_matches, hypothesis, hypothesis.anchor)


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
    passed = -1
    for offset in offsets:
        line = file.lexed.line_of(offset)
        tokens = file.lexed.line(line)
        here = bisect_right(tokens.starts, offset) - 1
        # Most occurrences are ruled out by the tokens beside them, before the lines around them are read.
        if here < 0 or tokens.ends[here] <= offset or not _may_match(elements, anchor, tokens.texts, here):
            continue
        window = file.window(line)
        at = bisect_left(window.tokens.starts, tokens.starts[here])
        spans = _match_at(elements, anchor, window.tokens.texts, at)
        match = None if spans is None else _edit_of(hypothesis, file, window, spans)
        if match is not None and match.start >= passed:
            passed = max(match.end, match.start + 1)
            yield match


def _may_match(elements: Sequence[Element], anchor: int, texts: Sequence[bytes], here: int) -> bool:
    """Return whether the tokens of the anchor's line fit, as far as each element stands for one of them."""
    for step, last in ((1, len(elements)), (-1, -1)):
        at = here
        for number in range(anchor, last, step):
            if not 0 <= at < len(texts) or _is_long(elements[number]):
                break
            if not _fits(elements[number], texts[at]):
                return False
            at += step
    return True


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
    depth, end = 0, at
    limit = min(len(texts), at + _LONGEST_HOLE)
    while end < limit:
        if texts[end] in QUOTES and (closing := _quote(texts, range(end + 1, limit), texts[end])) is not None:
            end = closing
        depth += (texts[end] in OPENING) - (texts[end] in CLOSING)
        if depth < 0 or (depth == 0 and texts[end] == b";"):
            return
        end += 1
        if depth == 0:
            yield end


def _quote(texts: Sequence[bytes], where: range, quote: bytes) -> int | None:
    """Return the index of the next quotation mark of the same kind, or None; a string is never cut."""
    return next((at for at in where if texts[at] == quote and texts[at - 1] != b"\\"), None)


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
    depth, start = 0, at - 1
    limit = max(-1, at - 1 - _LONGEST_HOLE)
    while start > limit:
        if texts[start] in QUOTES and (opening := _quote(texts, range(start - 1, limit, -1), texts[start])) is not None:
            start = opening
        depth += (texts[start] in CLOSING) - (texts[start] in OPENING)
        if depth < 0 or (depth == 0 and texts[start] == b";"):
            return
        if depth == 0:
            yield start
        start -= 1


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
    low, high, repeats = len(tokens.texts), 0, False
    for operation in hypothesis.operations:
        edit = _applied(hypothesis, operation, file, tokens, spans)
        if edit is None or (edits and edit.start < edits[-1].end):
            return None
        at = _token_low(operation, spans)
        num_there = _num_there(edit.text, tokens, at) if operation.low == operation.high else 0
        if num_there >= _SEVERAL:
            return None
        repeats |= num_there == 1
        edits.append(edit)
        low = min(low, at)
        high = max(high, _token_high(operation, spans))
    start, end = edits[0].start, edits[-1].end
    after = splice(data[start:end], [TextEdit(one.start - start, one.end - start, one.text) for one in edits])
    if after == data[start:end]:
        return None
    return EditMatch(file, start, end, after, window, low, high, file.lexed.line_of(start), repeats)


def _token_low(operation: Operation, spans: Spans) -> int:
    return spans[operation.low][0] if operation.low < len(spans) else spans[-1][1]


def _token_high(operation: Operation, spans: Spans) -> int:
    return spans[operation.high - 1][1] if operation.high else spans[0][0]


def _applied(
    hypothesis: EditHypothesis, operation: Operation, file: SearchedFile, tokens: Tokens, spans: Spans
) -> TextEdit | None:
    """Return what an operation changes, or None if a token beside it is missing."""
    low, high = _token_low(operation, spans), _token_high(operation, spans)
    inserts = operation.low == operation.high
    size = len(tokens.texts)
    element = hypothesis.elements[operation.low] if operation.low < len(spans) else b""
    if isinstance(element, NamePart):
        name = renamed(tokens.texts[low], element)
        return None if name is None else TextEdit(tokens.starts[low], tokens.ends[low], name)
    text = _written(hypothesis, operation, file, tokens, spans)
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


def _num_there(text: bytes, tokens: Tokens, at: int) -> int:
    """Return the number of tokens of a text if they stand directly in front of or behind a position already, or 0.

    Several signs, brackets and quotation marks say nothing. One other sign, such as `&`, says as much as two words.
    """
    added = lex(text).texts
    size = len(added)
    words = any(is_word(each) and each != b"$" for each in added)
    if not words and (size != 1 or added[0] in _SAY_NOTHING):
        return 0
    there = tokens.texts[at : at + size] == added or tokens.texts[max(0, at - size) : at] == added
    return (size if words else _SEVERAL) if there else 0
