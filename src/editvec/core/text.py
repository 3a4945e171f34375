"""Texts as bytes: encodings and the positions of line starts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from editvec.core.splice import TextEdit


class FileText:
    """The bytes of a file and the same text in UTF-8.

    A file that is neither UTF-8 nor UTF-16 is decoded as Latin-1, byte by byte.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.codec = _codec(data)
        self.utf8 = data if self.codec == "utf-8" else data.decode(self.codec).encode()

    def edit(self, start: int, end: int, text: str) -> TextEdit:
        """Convert an edit of the UTF-8 text to an edit of the file's bytes.

        A line ending that the edit adds follows the file's convention; a line that the edit keeps also keeps its
        ending.

        Raises:
            UnicodeEncodeError: The file's encoding cannot represent a character of `text`.
        """
        if self.has_crlf:
            kept = {line for line in self.utf8[start:end].decode().split("\n")[:-1] if line and not line.endswith("\r")}
            lines = text.split("\n")
            ends = ["\n" if line.endswith("\r") or line in kept else "\r\n" for line in lines[:-1]]
            text = "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))
        if self.codec == "utf-8":
            return TextEdit(start, end, text.encode())
        low, high = (int(self._sizes[offset]) for offset in (start, end))
        return TextEdit(low, high, text.encode(self.codec))

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """Return the size in the file's encoding of what precedes each offset of the UTF-8 text."""
        data = np.frombuffer(self.utf8, np.uint8)
        # UTF-16 has one unit per character, and two for a character that UTF-8 writes in four bytes.
        units = ((data & 0xC0) != 0x80).astype(np.int64) + (data >= 0xF0)
        return np.concatenate(([0], np.cumsum(units * (1 if self.codec == "latin-1" else 2))))

    @cached_property
    def has_crlf(self) -> bool:
        """Return whether most lines end with a carriage return and a line feed."""
        return 2 * self.utf8.count(b"\r\n") > self.utf8.count(b"\n")


def _codec(data: bytes) -> str:
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        # The byte order mark stays in the text as a character, so that encoding restores the same bytes.
        codec = "utf-16-le" if data.startswith(BOM_UTF16_LE) else "utf-16-be"
        try:
            if data.decode(codec).encode(codec) == data:
                return codec
        except UnicodeDecodeError:
            return "latin-1"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


_NEWLINE = ord("\n")


@lru_cache(64)
def line_starts(data: bytes) -> Sequence[int]:
    """Return the byte offset of each line's first byte, followed by the length of the data.

    The result is cached because several callers ask about the same version of a file.
    """
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE) + 1
    starts: list[int] = [0, *ends.tolist()]
    return starts if len(starts) > 1 and starts[-1] == len(data) else [*starts, len(data)]


def line_of(starts: Sequence[int], offset: int) -> int:
    """Return the 0-based line that contains an offset."""
    return bisect_right(starts, offset) - 1


BOM = b"\xef\xbb\xbf"
"""The byte order mark that some editors write at the start of a UTF-8 file."""


def as_utf8(data: bytes) -> bytes | None:
    """Return the text as UTF-8 without a byte order mark, or None for binary data.

    Data that is not valid UTF-8 is decoded as Latin-1. Data that contains a zero byte counts as binary.
    """
    if data.startswith(BOM):
        data = data[len(BOM) :]
    if b"\0" in data:
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1").encode()
    return data


def line_and_column(data: bytes, offset: int) -> tuple[int, int]:
    """Return the line and the column of an offset, both counted from 1; columns count characters."""
    start = data.rfind(b"\n", 0, offset) + 1
    return bisect_left(line_starts(data), start) + 1, len(data[start:offset].decode(errors="replace")) + 1
