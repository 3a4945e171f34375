"""Brackets among tokens: which belong together, and what stands between them."""

from __future__ import annotations

from collections.abc import Sequence

from editvec.syntax.lexer import CLOSING, OPENING


def is_balanced(tokens: Sequence[bytes]) -> bool:
    """Return whether every bracket among the tokens has its partner there."""
    waiting: list[bytes] = []
    for token in tokens:
        if token in OPENING:
            waiting.append(OPENING[token])
        elif token in CLOSING and (not waiting or waiting.pop() != token):
            return False
    return not waiting


def unbalanced_pieces(tokens: Sequence[bytes]) -> list[Sequence[bytes]]:
    """Return the tokens cut at the brackets that have no partner among them; each of these is a piece of its own."""
    waiting: list[int] = []
    alone: list[int] = []
    for at, token in enumerate(tokens):
        if token in OPENING:
            waiting.append(at)
        elif token in CLOSING:
            if waiting:
                waiting.pop()
            else:
                alone.append(at)
    pieces: list[Sequence[bytes]] = []
    start = 0
    for at in sorted(alone + waiting):
        pieces += [tokens[start:at], tokens[at : at + 1]]
        start = at + 1
    return [piece for piece in (*pieces, tokens[start:]) if piece]


def closing_of(tokens: Sequence[bytes], at: int) -> int | None:
    """Return the index of the bracket that closes the one at an index, or None."""
    depth = 0
    for number in range(at, len(tokens)):
        depth += (tokens[number] in OPENING) - (tokens[number] in CLOSING)
        if depth == 0:
            return number
    return None


def opening_of(tokens: Sequence[bytes], at: int, limit: int = 80) -> int | None:
    """Return the index of the innermost bracket that is open in front of a token, or None."""
    depth = 0
    for number in range(at - 1, max(-1, at - 1 - limit), -1):
        if tokens[number] in CLOSING:
            depth += 1
        elif tokens[number] in OPENING:
            if depth == 0:
                return number
            depth -= 1
    return None


def num_commas(tokens: Sequence[bytes]) -> int:
    """Return the number of commas outside all brackets."""
    depth = count = 0
    for token in tokens:
        depth += (token in OPENING) - (token in CLOSING)
        count += token == b"," and depth == 0
    return count
