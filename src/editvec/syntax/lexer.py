"""Tokens of any text, without a grammar.

Code in any language and prose are cut in the same way: words, numbers, operators, and single other characters. The
inside of a string or a comment is cut like the rest. This is for searching many files quickly; what needs to know what
a token means asks a parser.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from editvec.core.text import line_starts

_TOKEN = re.compile(
    rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*"
    rb"|[0-9](?:[A-Za-z0-9_]|\.[0-9])*"
    rb"|===|!==|\.\.\.|<=>|==|!=|<=|>=|&&|\|\||->|=>|\+\+|--|::|\?\.|\?\?|:=|\+=|-=|\*=|/=|\|=|//|/\*|\*/"
    rb"|[^\s]"
)
_WORD = re.compile(rb"[A-Za-z_$\x80-\xff]")
_SUBWORD = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z\x80-\xff]+|[0-9]+|[_$]+|[A-Z]")

OPENING = {b"(": b")", b"[": b"]", b"{": b"}"}
CLOSING = frozenset(OPENING.values())
QUOTES = frozenset((b'"', b"'", b"`"))


class Tokens(NamedTuple):
    """Consecutive tokens of a text: their bytes, and where they start and end in the text."""

    texts: list[bytes]
    starts: list[int]
    ends: list[int]


def lex(data: bytes, start: int = 0, end: int | None = None) -> Tokens:
    """Return the tokens of the bytes [start, end) of a text."""
    found = list(_TOKEN.finditer(data, start, len(data) if end is None else end))
    return Tokens([each[0] for each in found], [each.start() for each in found], [each.end() for each in found])


def is_word(token: bytes) -> bool:
    """Return whether a token is a name or a keyword."""
    return _WORD.match(token) is not None


def is_number(token: bytes) -> bool:
    """Return whether a token is a number."""
    return token[:1].isdigit()


def subwords(token: bytes) -> list[bytes]:
    """Return the parts of a name, cut at underscores and where lower case turns into upper case."""
    return _SUBWORD.findall(token) or [token]


class LexedText:
    """A text that is cut into tokens line by line, as far as it is asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lines: dict[int, Tokens] = {}

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """Return the offset of each line's first byte, followed by the length of the text."""
        return line_starts(self.data)

    @property
    def num_lines(self) -> int:
        """Return the number of lines."""
        return len(self.line_starts) - 1

    def line_of(self, offset: int) -> int:
        """Return the 0-based line that contains an offset."""
        return min(bisect_right(self.line_starts, offset), self.num_lines) - 1

    def line(self, number: int) -> Tokens:
        """Return the tokens of a line, counted from 0; there are none outside the text."""
        known = self._lines.get(number)
        if known is None:
            if not 0 <= number < self.num_lines:
                return Tokens([], [], [])
            known = self._lines[number] = lex(self.data, self.line_starts[number], self.line_starts[number + 1])
        return known

    def lines(self, first: int, last: int) -> Tokens:
        """Return the tokens of the lines [first, last)."""
        found = Tokens([], [], [])
        for number in range(max(first, 0), min(last, self.num_lines)):
            line = self.line(number)
            found.texts.extend(line.texts)
            found.starts.extend(line.starts)
            found.ends.extend(line.ends)
        return found

    def text_of(self, number: int) -> bytes:
        """Return the bytes of a line without its line end."""
        if not 0 <= number < self.num_lines:
            return b""
        return self.data[self.line_starts[number] : self.line_starts[number + 1]].rstrip(b"\r\n")

    def indent_of(self, number: int) -> bytes:
        """Return the white space at the start of a line."""
        text = self.text_of(number)
        return text[: len(text) - len(text.lstrip())]
