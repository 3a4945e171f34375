"""Units: which statements, members and headers a changed range of a parsed file touches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter as ts

from editvec.syntax.languages.base import Language


class Unit(NamedTuple):
    """A statement, a member, or the header of one that has a body: the bytes [start, end) and the node's kind."""

    start: int
    end: int
    kind: str
    whole: bool
    """False for a header or another part around a body."""
    parent: int
    """Identifies the node that the unit stands in: units with the same parent are siblings."""


def find_units(language: Language, data: bytes, root: ts.Node, start: int, end: int) -> list[Unit]:
    """The units that the bytes [start, end) touch, in order; of nested ones the innermost."""
    finder = _Finder(language, data, start, end)
    finder.look_in(root)
    return finder.found


class _Finder:
    """Collects the units that one range touches."""

    def __init__(self, language: Language, data: bytes, start: int, end: int) -> None:
        self.language = language
        self.data = data
        self.start = start
        self.end = end
        self.found: list[Unit] = []

    def look_in(self, body: ts.Node) -> None:
        """Collects the units directly in a body that the range touches."""
        language = self.language
        in_body = body.type in language.bodies
        for child in _children_touching(body, self.start, self.end):
            kind = child.type
            if kind in language.comments:
                continue
            if kind in language.units or (in_body and child.is_named and self._is_tail(child)):
                self._split(child, body.id)
            elif child.child_count:
                self.look_in(child)

    def _is_tail(self, node: ts.Node) -> bool:
        """Whether a node that is no unit by its kind is one by its place: an expression that ends a body."""
        return node.type not in self.language.bodies and not node.is_error

    def _touches(self, low: int, high: int) -> bool:
        """Whether the range shares a byte with [low, high); an empty one, whether it lies strictly inside."""
        return low < self.end and self.start < high if self.start < self.end else low < self.start < high

    def _split(self, node: ts.Node, parent: int) -> None:
        """The unit itself, or, when bodies in it span lines, its parts around them and what is in them."""
        at, end = node.start_byte, node.end_byte
        whole = True
        for body in self._inner_bodies(node, at, end):
            low, high = body.start_byte, body.end_byte
            self._add_part(node, at, low)
            if self._touches(low, high):
                if body.type in self.language.units:
                    self._split(body, node.id)
                else:
                    self.look_in(body)
            at, whole = high, False
        if not whole:
            self._add_part(node, at, end)
        elif self._touches(at, end):
            self.found.append(Unit(at, end, node.type, True, parent))

    def _add_part(self, node: ts.Node, low: int, high: int) -> None:
        if self._touches(low, high):
            text = self.data[low:high].rstrip()
            high = low + len(text)
            low = high - len(text.lstrip())
            if low < high and self._touches(low, high):
                self.found.append(Unit(low, high, node.type, False, node.id))

    def _inner_bodies(self, node: ts.Node, start: int, end: int) -> Iterator[ts.Node]:
        """The outermost bodies, and units, that span lines or start on a line of their own, inside a unit."""
        language = self.language
        line_end = self.data.find(b"\n", start, end)
        if line_end < 0:
            return
        for child in node.children:
            low, high = child.start_byte, child.end_byte
            if high <= line_end:
                continue
            kind = child.type
            own_line = low > line_end and kind in language.units and kind not in language.inline_units
            if own_line or kind in language.bodies:
                yield child
            elif child.child_count:
                yield from self._inner_bodies(child, low, high)


def _children_touching(node: ts.Node, start: int, end: int) -> Iterator[ts.Node]:
    """The children that the bytes [start, end] reach, without looking at the ones before."""
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
