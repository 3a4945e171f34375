"""What an edit could mean elsewhere: a description of consecutive tokens, and what is made of them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from editvec.rules.holes import Generalised
from editvec.syntax.lexer import is_word


class HoleKind(IntEnum):
    """What may stand for a hole."""

    WORD = 0
    """One name or number."""
    OPERAND = 1
    """One or more tokens with balanced brackets."""
    INSIDE = 2
    """Any number of tokens with balanced brackets."""
    TOKEN = 3
    """One token, whatever it is."""


class TokenHole(NamedTuple):
    """Tokens that may differ between places; holes with the same number stand for the same tokens."""

    number: int
    kind: HoleKind


class NamePart(NamedTuple):
    """A name that has the words `old` in it, which become `new`."""

    old: bytes
    new: bytes


Element = bytes | TokenHole | NamePart
Part = bytes | int
_MIN_SHAPE = 2


class Operation(NamedTuple):
    """What becomes of the elements [low, high): `parts`, texts or the numbers of elements whose text is copied.

    White space in front of and behind the elements is kept or belongs to what is replaced.
    """

    low: int
    high: int
    keep_left: bool
    keep_right: bool
    parts: tuple[Part, ...]


class Level(IntEnum):
    """How a hypothesis generalises what was shown."""

    EXACT = 0
    NAMES = 1
    GAPS = 2
    BRACKETS = 3
    ONE_RUN = 4
    NAME_PART = 5
    CALL = 6
    LINE = 7
    ONE_WORD = 8
    SHAPE = 9
    TREE = 10
    TREE_NAMES = 11
    TREE_WIDE = 12


class EditHypothesis(NamedTuple):
    """A description of consecutive tokens, and what is made of them."""

    level: Level
    elements: tuple[Element, ...]
    operations: tuple[Operation, ...]
    indent: bytes
    """The indentation of the shown edit, which is replaced by that of the place in text of several lines."""
    num_left: int = 0
    num_right: int = 0
    template: Generalised | None = None
    """Trees before and after, which say what matches if there are any; `elements` are the tokens of the tree before."""

    @property
    def anchor(self) -> int:
        """Return the index of the element by which files are searched."""
        return max(range(len(self.elements)), key=lambda at: rarity(self.elements[at]))


def rarity(element: Element) -> int:
    """Return how well files can be searched by an element: more for long names, little for signs, none for holes."""
    if isinstance(element, NamePart):
        return 10 + len(element.old)
    if isinstance(element, TokenHole):
        return -1
    if is_word(element):
        return 10 + len(element)
    return len(element) - 1


def is_shape(hypothesis: EditHypothesis) -> bool:
    """Return whether a hypothesis without a rare token has enough signs to be looked for in a few files."""
    signs = sum(isinstance(each, bytes) for each in hypothesis.elements)
    words = sum(isinstance(each, TokenHole) and each.kind is HoleKind.WORD for each in hypothesis.elements)
    return not is_searchable(hypothesis) and signs >= 1 and signs + words >= _MIN_SHAPE


def is_searchable(hypothesis: EditHypothesis) -> bool:
    """Return whether a hypothesis has a token that is not everywhere."""
    return rarity(hypothesis.elements[hypothesis.anchor]) > 0
