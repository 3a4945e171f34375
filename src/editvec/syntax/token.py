"""Tokens with their place: what every tokenizer gives and what losslessness is said of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Token(NamedTuple):
    """A token of a file: its text and the bytes [start, end) that it takes there."""

    text: str
    start: int
    end: int


def decode(data: bytes) -> str:
    """Any bytes as text that `encode` turns back into the same bytes."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes that `decode` made this text of."""
    return text.encode("utf-8", "surrogateescape")


def gaps(data: bytes, tokens: Iterable[Token]) -> list[bytes]:
    """What stands before, between and behind the tokens: one more gap than there are tokens."""
    found = []
    at = 0
    for token in tokens:
        found.append(data[at : token.start])
        at = token.end
    found.append(data[at:])
    return found


def join(tokens: Iterable[Token], between: list[bytes]) -> bytes:
    """The file again, from its tokens and its gaps."""
    parts = [between[0]]
    for token, gap in zip(tokens, between[1:], strict=True):
        parts += (encode(token.text), gap)
    return b"".join(parts)
