"""Word diffs: both versions of an edit in their original layout, split into changed and unchanged pieces.

This module does not know colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from editvec.core.edit import Edit, Version
from editvec.diff.alignment import align


class Piece(NamedTuple):
    """A piece of text, and whether the edit changed it."""

    text: str
    changed: bool


def word_diff(edit: Edit) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces of the version before and of the version after.

    White space is kept as in the text, except that the common indentation is removed.
    """
    changed = align(edit.before.tokens, edit.after.tokens).changed
    gone = frozenset(position.before for position in changed)
    come = frozenset(position.after for position in changed)
    return list(_pieces(edit.before, gone)), list(_pieces(edit.after, come))


def _pieces(version: Version, changed: frozenset[int | None]) -> Iterator[Piece]:
    """Yield the pieces of one version, given the indices of its changed tokens."""
    text, differs = "", False
    for gap, token, index in _laid_out(version.text, version.tokens):
        here = index in changed
        # White space is never marked as changed, even between two changed tokens.
        for part, marked in ((gap, False), (token, here)):
            if not part:
                continue
            if marked != differs and text:
                yield Piece(text, differs)
                text = ""
            text, differs = text + part, marked
    if text:
        yield Piece(text, differs)


def _laid_out(text: str, tokens: tuple[str, ...]) -> Iterator[tuple[str, str, int]]:
    """Yield each token with the white space before it, and its index.

    The white space is that of the text, or one space if the tokens do not all occur in the text.
    """
    places: list[int] = []
    at = 0
    for token in tokens:
        found = text.find(token, at)
        if found < 0:
            places = []
            break
        places.append(found)
        at = found + len(token)
    indent = _indentation(text)
    at = 0
    for index, token in enumerate(tokens):
        if places:
            gap = text[at : places[index]]
            at = places[index] + len(token)
            yield re.sub(rf"\r?\n[ \t]{{0,{indent}}}", "\n", gap), token, index
        else:
            yield (" " if index else ""), token, index


def _indentation(text: str) -> int:
    """Return the smallest indentation of the lines after the first."""
    rest = [line for line in text.split("\n")[1:] if line.strip()]
    return min((len(line) - len(line.lstrip()) for line in rest), default=0)


def turns(pieces: Sequence[Piece], *, longest: int = 2_000) -> list[str]:
    """Return texts that alternate between unchanged and changed, starting with an unchanged one.

    Together they have at most `longest` characters.
    """
    found, letters = [""], 0
    for text, changed in pieces:
        text = text[: max(0, longest - letters)]
        letters += len(text)
        if changed == (len(found) % 2 == 0):
            found[-1] += text
        else:
            found.append(text)
    return found
