"""Tokens with their positions, as every tokenizer returns them; a file can be rebuilt from tokens and gaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Token(NamedTuple):
    """A token of a file: its text and the bytes [start, end) that it spans."""

    text: str
    start: int
    end: int


def decode(data: bytes) -> str:
    """Return any bytes as text that `encode` turns back into the same bytes."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes that `decode` turned into this text."""
    return text.encode("utf-8", "surrogateescape")


def gaps(data: bytes, tokens: Iterable[Token]) -> list[bytes]:
    """Return the bytes before, between and behind the tokens: one more gap than there are tokens."""
    found = []
    at = 0
    for token in tokens:
        found.append(data[at : token.start])
        at = token.end
    found.append(data[at:])
    return found


def join(tokens: Iterable[Token], between: list[bytes]) -> bytes:
    """Return the file rebuilt from its tokens and its gaps."""
    parts = [between[0]]
    for token, gap in zip(tokens, between[1:], strict=True):
        parts += (encode(token.text), gap)
    return b"".join(parts)
