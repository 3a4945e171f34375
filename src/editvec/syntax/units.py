"""Units: the statements, members and headers that a changed range of a parsed file touches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter as ts

from editvec.syntax.languages.base import Language


class Unit(NamedTuple):
    """A statement, a member, or the header of one with a body: the bytes [start, end) and the node's kind."""

    start: int
    end: int
    kind: str
    whole: bool
    """Whether the unit is a whole node; False for a header or another part around a body."""
    parent: int
    """The id of the node that contains the unit; units with the same parent are siblings."""


def find_units(language: Language, data: bytes, root: ts.Node, start: int, end: int) -> list[Unit]:
    """Return the units that the bytes [start, end) touch, in order; of nested units only the innermost."""
    finder = _Finder(language, data, start, end)
    # Code can be nested more deeply than Python calls functions, so the steps below a node wait on a stack.
    waiting = [finder.look_in(root)]
    while waiting:
        below = next(waiting[-1], None)
        if below is None:
            waiting.pop()
        else:
            waiting.append(below)
    return finder.found


_Steps = Iterator["_Steps"]
"""Work on a node: it yields the work on the nodes below, which is to be done before it goes on."""


class _Finder:
    """A collector of the units that one range touches."""

    def __init__(self, language: Language, data: bytes, start: int, end: int) -> None:
        self.language = language
        self.data = data
        self.start = start
        self.end = end
        self.found: list[Unit] = []

    def look_in(self, body: ts.Node) -> _Steps:
        """Collect the units directly in a body that the range touches."""
        language = self.language
        in_body = body.type in language.bodies
        for child in _children_touching(body, self.start, self.end):
            kind = child.type
            if kind in language.comments:
                continue
            if kind in language.units or (in_body and child.is_named and self._is_tail(child)):
                yield self._split(child, body.id)
            elif child.child_count:
                yield self.look_in(child)

    def _is_tail(self, node: ts.Node) -> bool:
        """Return whether a node is a unit because of its position, not its kind.

        This is the case for an expression that ends a body.
        """
        return node.type not in self.language.bodies and not node.is_error

    def _touches(self, low: int, high: int) -> bool:
        """Return whether the range shares a byte with [low, high).

        For an empty range, return whether it lies strictly inside.
        """
        return low < self.end and self.start < high if self.start < self.end else low < self.start < high

    def _split(self, node: ts.Node, parent: int) -> _Steps:
        """Collect a unit, or its parts if it contains bodies that span several lines.

        The parts are the texts around those bodies and the units inside them.
        """
        at, end = node.start_byte, node.end_byte
        whole = True
        for body in self._inner_bodies(node, at, end):
            low, high = body.start_byte, body.end_byte
            self._add_part(node, at, low)
            if self._touches(low, high):
                if body.type in self.language.units:
                    yield self._split(body, node.id)
                else:
                    yield self.look_in(body)
            at, whole = high, False
        if not whole:
            self._add_part(node, at, end)
        elif self._touches(at, end):
            self.found.append(Unit(at, end, node.type, True, parent))

    def _add_part(self, node: ts.Node, low: int, high: int) -> None:
        """Collect a part of a node, without white space at its ends, if the range touches it."""
        if self._touches(low, high):
            text = self.data[low:high].rstrip()
            high = low + len(text)
            low = high - len(text.lstrip())
            if low < high and self._touches(low, high):
                self.found.append(Unit(low, high, node.type, False, node.id))

    def _inner_bodies(self, node: ts.Node, start: int, end: int) -> Iterator[ts.Node]:
        """Yield the outermost bodies and units inside a unit that are separate from it.

        These are bodies that span several lines, and units that start on a line of their own.
        """
        language = self.language
        line_end = self.data.find(b"\n", start, end)
        if line_end < 0:
            return
        waiting = [iter(node.children)]
        ends = [line_end]
        while waiting:
            child = next(waiting[-1], None)
            if child is None:
                waiting.pop()
                ends.pop()
                continue
            low, high = child.start_byte, child.end_byte
            if high <= ends[-1]:
                continue
            kind = child.type
            own_line = low > ends[-1] and kind in language.units and kind not in language.inline_units
            if own_line or kind in language.bodies:
                yield child
            elif child.child_count and (line_end := self.data.find(b"\n", low, high)) >= 0:
                waiting.append(iter(child.children))
                ends.append(line_end)


def _children_touching(node: ts.Node, start: int, end: int) -> Iterator[ts.Node]:
    """Yield the children that touch the bytes [start, end], without visiting the children before them."""
    cursor = node.walk()
    if cursor.goto_first_child_for_byte(start) is None and not cursor.goto_first_child():
        return
    while True:
        child = cursor.node
        if child is None or child.start_byte > end:
            return
        yield child
        if not cursor.goto_next_sibling():
            return
