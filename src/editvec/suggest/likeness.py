"""How alike two places are: what stands around them, on which lines, in which call, block and file.

A place is what was shown, what was refused, or a match. All numbers are computed from tokens and lines, so they mean
the same in every language.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from editvec.suggest.intents import DemoEdit
from editvec.suggest.roles import RoleReader, SyntacticRole
from editvec.suggest.searched import EditMatch
from editvec.syntax.brackets import opening_of
from editvec.syntax.lexer import QUOTES, LexedText, Tokens, is_number, is_word

_T = TypeVar("_T")
_FAR = 12
"""Maximum number of tokens that are compared on each side."""
_MAX_PARENTS = 8
_MAX_LINE = 400
_MAX_HEADER = 400
"""Maximum number of lines above a place in which its block's header is looked for."""

LIKENESS = (
    "left",
    "right",
    "left_kinds",
    "right_kinds",
    "inside",
    "line",
    "line_above",
    "line_below",
    "line_equal",
    "line_kinds_equal",
    "head",
    "indent",
    "callee",
    "argument",
    "bracket",
    "receiver",
    "state",
    "block",
    "same_block",
    "same_file",
    "same_folder",
    "path",
    "name",
    "distance",
    "role_kind",
    "role_parents",
    "role_field",
    "same_function",
    "function_kind",
)
"""The names of the numbers that `likeness` returns."""


class Spot:
    """A place in a file: tokens [low, high) among the tokens of the lines around it."""

    def __init__(
        self, path: str, lexed: LexedText, tokens: Tokens, low: int, high: int, line: int, role: SyntacticRole | None
    ) -> None:
        self.path, self.lexed, self.texts, self.low, self.high = path, lexed, tokens.texts, low, high
        self.line, self.role = line, role

    @classmethod
    def of_shown(cls, edit: DemoEdit, reader: RoleReader) -> Spot:
        """Return the place of an edit that was shown, as it was before the edit."""
        line = min(edit.first_line, max(0, edit.before.num_lines - 1))
        low, high = edit.runs[0].low, edit.runs[-1].high
        role = reader.role_before(edit, *_span(edit.old, low, high))
        return cls(edit.path, edit.before, edit.old, low, high, line, role)

    @classmethod
    def of_match(cls, match: EditMatch, reader: RoleReader) -> Spot:
        """Return the place of a match."""
        file, tokens = match.file, match.window.tokens
        role = reader.role(file, *_span(tokens, match.low, match.high))
        return cls(file.path, file.lexed, tokens, match.low, match.high, match.line, role)

    @cached_property
    def left(self) -> list[bytes]:
        """Return the tokens in front of the place, the nearest first."""
        return list(self.texts[max(0, self.low - _FAR) : self.low])[::-1]

    @cached_property
    def right(self) -> list[bytes]:
        """Return the tokens behind the place, the nearest first."""
        return list(self.texts[self.high : self.high + _FAR])

    @cached_property
    def left_kinds(self) -> list[bytes]:
        """Return the tokens in front of the place with all names made equal."""
        return [kind_of(token) for token in self.left]

    @cached_property
    def right_kinds(self) -> list[bytes]:
        """Return the tokens behind the place with all names made equal."""
        return [kind_of(token) for token in self.right]

    @cached_property
    def inside(self) -> list[bytes]:
        """Return the tokens of the place itself."""
        return list(self.texts[self.low : self.high])

    @cached_property
    def lines(self) -> tuple[list[bytes], frozenset[bytes], frozenset[bytes], frozenset[bytes]]:
        """Return the tokens of the line, and the distinct tokens of the line and of those above and below it.

        Of very long lines, only the first tokens count: they would be compared once for each place.
        """
        tokens = self.lexed.line(self.line).texts[:_MAX_LINE]
        above, below = (self.lexed.line(self.line + step).texts[:_MAX_LINE] for step in (-1, 1))
        return tokens, frozenset(tokens), frozenset(above), frozenset(below)

    @cached_property
    def line_kinds(self) -> list[bytes]:
        """Return the tokens of the line with all names made equal."""
        return [kind_of(token) for token in self.lines[0]]

    @cached_property
    def indent(self) -> bytes:
        """Return the indentation of the line."""
        return self.lexed.indent_of(self.line)

    @cached_property
    def call(self) -> tuple[bytes, bytes, int]:
        """Return the name in front of the bracket around the place, the bracket, and the number of commas between."""
        opening = opening_of(self.texts, self.low)
        if opening is None:
            return b"", b"", 0
        name = self.texts[opening - 1] if opening and is_word(self.texts[opening - 1]) else b""
        return name, self.texts[opening], self.texts[opening + 1 : self.low].count(b",")

    @cached_property
    def receiver(self) -> bytes:
        """Return what stands in front of a dot, an arrow or colons in front of the place."""
        left = self.left
        return left[1] if len(left) > 1 and left[0] in (b".", b"->", b"::", b"?.") else b""

    @cached_property
    def state(self) -> int:
        """Return whether the place is in code (0), in a string (1) or in a comment (2), as far as its line shows."""
        tokens = self.lines[0]
        quote = b""
        ahead = self._num_ahead()
        for token in tokens[:ahead]:
            if quote:
                quote = b"" if token == quote else quote
            elif token in QUOTES:
                quote = token
            elif token in (b"//", b"#", b"/*"):
                return 2
        return 1 if quote else 2 if tokens[:1] in ([b"*"], [b"//"], [b"#"]) else 0

    def _num_ahead(self) -> int:
        """Return the number of tokens of the line in front of the place."""
        tokens = self.lines[0]
        for count in range(min(len(tokens), self.low), -1, -1):
            if list(self.texts[self.low - count : self.low]) == tokens[:count]:
                return count
        return 0

    @cached_property
    def header(self) -> int:
        """Return the line that the block around the place begins with, or -1."""
        indent = len(self.indent)
        for line in range(self.line - 1, max(-1, self.line - _MAX_HEADER), -1):
            text = self.lexed.text_of(line)
            if text.strip() and len(text) - len(text.lstrip()) < indent:
                return line
        return -1

    @cached_property
    def header_tokens(self) -> frozenset[bytes]:
        """Return the distinct tokens of the line that the block begins with."""
        return frozenset(self.lexed.line(self.header).texts)

    @cached_property
    def path_parts(self) -> tuple[str, ...]:
        """Return the folders of the file."""
        return tuple(self.path.split("/")[:-1])

    @cached_property
    def name_words(self) -> frozenset[str]:
        """Return the words of the file's name."""
        name = self.path.rpartition("/")[2]
        return frozenset("".join(each if each.isalnum() else " " for each in name).split())


def _span(tokens: Tokens, low: int, high: int) -> tuple[int, int]:
    """Return the bytes of the tokens [low, high); for none, those of the tokens on both sides."""
    size = len(tokens.texts)
    if not size:
        return 0, 0
    if low == high:
        low, high = max(0, low - 1), min(size, high + 1)
    return tokens.starts[low], tokens.ends[high - 1]


def kind_of(token: bytes) -> bytes:
    """Return a token with all names and all numbers made equal."""
    return b"w" if is_word(token) else b"0" if is_number(token) else token


def likeness(one: Spot, other: Spot) -> NDArray[np.float32]:
    """Return how alike two places are, as the numbers that `LIKENESS` names, of shape [len(LIKENESS)]."""
    line, words, above, below = one.lines
    other_line, other_words, other_above, other_below = other.lines
    callee, bracket, argument = one.call
    other_callee, other_bracket, other_argument = other.call
    same_file = one.path == other.path
    folders = _num_equal(one.path_parts, other.path_parts)
    most = max(len(one.path_parts), len(other.path_parts))
    return np.array(
        [
            _num_equal(one.left, other.left),
            _num_equal(one.right, other.right),
            _num_equal(one.left_kinds, other.left_kinds),
            _num_equal(one.right_kinds, other.right_kinds),
            one.inside == other.inside,
            _jaccard(words, other_words),
            _jaccard(above, other_above),
            _jaccard(below, other_below),
            line == other_line,
            one.line_kinds == other.line_kinds,
            line[:1] == other_line[:1],
            one.indent == other.indent,
            (callee == other_callee) - (not callee and not other_callee) / 2,
            argument == other_argument,
            bracket == other_bracket,
            (one.receiver == other.receiver) - (not one.receiver and not other.receiver) / 2,
            one.state == other.state,
            _jaccard(one.header_tokens, other.header_tokens),
            same_file and one.header == other.header,
            same_file,
            one.path_parts == other.path_parts,
            folders / most if most else 1,
            _jaccard(one.name_words, other.name_words),
            math.log1p(abs(one.line - other.line)) if same_file else 10,
            *_roles(one.role, other.role, same_file=same_file),
        ],
        np.float32,
    )


def _roles(one: SyntacticRole | None, other: SyntacticRole | None, *, same_file: bool) -> tuple[float, ...]:
    """Return how alike two syntactic roles are; -1 if one is not known."""
    if one is None or other is None:
        return (-1,) * 5
    return (
        one.kinds[:1] == other.kinds[:1],
        min(_MAX_PARENTS, _num_equal(one.kinds, other.kinds)),
        one.field == other.field,
        same_file and one.function[0] == other.function[0],
        one.function_kind == other.function_kind,
    )


def _num_equal(ones: Sequence[object], others: Sequence[object]) -> int:
    """Return the number of equal items at the start of two sequences."""
    count = 0
    for one, other in zip(ones, others, strict=False):
        if one != other:
            break
        count += 1
    return count


def _jaccard(ones: frozenset[_T], others: frozenset[_T]) -> float:
    if not ones and not others:
        return 1.0
    return len(ones & others) / len(ones | others)
