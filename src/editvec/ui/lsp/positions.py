"""Positions of the language server protocol in a text: lines and code units on one side, bytes of UTF-8 on the other.

A line ends with a line feed, a carriage return, or both, as the protocol says, and with nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from lsprotocol import types

_END = re.compile(rb"\r\n|\n|\r")
_WIDTHS = {"utf-16": 2, "utf-32": 4}


class Positions:
    """The positions in one text, in the encoding that client and server agreed on."""

    def __init__(self, data: bytes, encoding: str) -> None:
        """Take a text as UTF-8, and "utf-8", "utf-16" or "utf-32" as the encoding of its columns."""
        self.data = data
        self._encoding = encoding

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [0, *(each.end() for each in _END.finditer(self.data))]

    def position(self, offset: int) -> types.Position:
        """Return the position of a byte."""
        line = bisect_right(self._starts, offset) - 1
        return types.Position(line, self._units(self.data[self._starts[line] : offset]))

    def range(self, start: int, end: int) -> types.Range:
        """Return the range of the bytes [start, end)."""
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """Return the byte at a position; a column behind the end of its line is the end of the line."""
        if position.line >= len(self._starts):
            return len(self.data)
        start = self._starts[position.line]
        end = self._starts[position.line + 1] if position.line + 1 < len(self._starts) else len(self.data)
        text = self.data[start:end].rstrip(b"\r\n")
        return start + self._bytes(text, position.character)

    def _units(self, text: bytes) -> int:
        if self._encoding == "utf-8" or text.isascii():
            return len(text)
        wide = text.decode("utf-8", "surrogatepass")
        return len(wide.encode(f"{self._encoding}-le", "surrogatepass")) // _WIDTHS[self._encoding]

    def _bytes(self, text: bytes, units: int) -> int:
        if self._encoding == "utf-8" or text.isascii():
            return min(units, len(text))
        width = _WIDTHS[self._encoding]
        wide = text.decode("utf-8", "surrogatepass").encode(f"{self._encoding}-le", "surrogatepass")[: width * units]
        return len(
            wide.decode(f"{self._encoding}-le", "surrogatepass" if width == 4 else "ignore").encode(
                "utf-8", "surrogatepass"
            )
        )
