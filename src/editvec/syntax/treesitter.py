"""Files of programming languages, parsed with tree-sitter: tokens, units, declared names and trees.

A `Parsed` file answers all questions about one version of a file: the tokens of a range and their roles, the units
(statements, members, headers) that a changed range touches, and the names that are declared at a position. It works on
bytes and accepts any bytes: text that the grammar cannot read becomes tokens of kind ERROR.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import tree_sitter as ts

from editvec.core.text import line_starts
from editvec.syntax.facts import Captured, facts_of, texts
from editvec.syntax.languages.base import Language
from editvec.syntax.layout import Layout, LayoutChange, Outline, move_outline, near, outline_of
from editvec.syntax.leaves import Leaf, walk_leaves
from editvec.syntax.names import Names
from editvec.syntax.token import Token
from editvec.syntax.units import Unit, find_units


class LineEdit(NamedTuple):
    """The replacement of the lines [before, before_end) of one version by [after, after_end) of the next; 0-based."""

    before: int
    before_end: int
    after: int
    after_end: int


class Parsed:
    """One version of a file, parsed."""

    def __init__(
        self,
        language: Language,
        data: bytes,
        *,
        places: Sequence[tuple[int, int]] | None = None,
        margin: int = 0,
        previous: tuple[Parsed, Sequence[LineEdit]] | None = None,
        outline: Outline | None = None,
    ) -> None:
        """Parse a file, or the parts of it that are needed.

        `places` are the ranges of lines [first, last) of interest. With them, only the members there and `margin`
        lines around them are certain to be parsed; names that are declared elsewhere in the file are still known.
        `previous` is a previous version with the edits from it to this one; the parts that these edits did not change
        are not analysed again. `outline` is the outline of this file, if it is already known.
        """
        self.language = language
        self.data = data
        self.facts = facts_of(language)
        self.line_starts = line_starts(data)
        """The offset of each line's first byte, followed by the length of the file."""
        self._functions: list[tuple[int, int, frozenset[str]]] = []
        self._previous = previous[0] if previous else None
        self._asked: tuple[ts.Tree, tuple[frozenset[str], frozenset[int]]] | None = None
        changes = self._changes(*previous) if previous else None
        self.outline: Outline | None = None
        self.read: list[tuple[int, int]] | None = None
        """The spans of bytes that were parsed; None for the whole file."""
        if places is not None and language.braces:
            if outline is not None:
                self.outline = outline
            elif previous and previous[0].outline is not None and changes is not None:
                self.outline = move_outline(previous[0].outline, previous[0].data, data, changes)
            else:
                self.outline = outline_of(data)
            if self.layout:
                self.read = near(data, self.layout, self.line_starts, places, margin)
        old = None
        if previous and changes is not None and (previous[0].read is None) == (self.read is None):
            old = self._moved(*previous)
        self.tree = self.facts.parse(data, self.read, old)

    @property
    def layout(self) -> Layout | None:
        """Return where types and bodies begin and end, or None if that is unknown."""
        return self.outline.layout if self.outline else None

    def _changes(self, previous: Parsed, edits: Sequence[LineEdit]) -> list[LayoutChange] | None:
        """Return the edits in bytes.

        The result is None if the text between the edits differs in bytes, for example because of another encoding.
        """
        changes = []
        at = new = 0
        for edit in edits:
            change = LayoutChange(
                previous._line(edit.before),
                previous._line(edit.before_end),
                self._line(edit.after),
                self._line(edit.after_end),
            )
            if previous.data[at : change.before] != self.data[new : change.after]:
                return None
            at, new = change.before_end, change.after_end
            changes.append(change)
        return changes if previous.data[at:] == self.data[new:] else None

    def _line(self, number: int) -> int:
        """Return the offset at which a line begins, or the length of the file for lines beyond its end."""
        return self.line_starts[min(number, len(self.line_starts) - 1)]

    def _moved(self, previous: Parsed, edits: Sequence[LineEdit]) -> ts.Tree:
        """Return the previous version's tree with its nodes moved to their positions in this version."""
        tree = previous.tree.copy()
        for edit in edits:
            size = previous._line(edit.before_end) - previous._line(edit.before)
            start, end = self._line(edit.after), self._line(edit.after_end)
            last = edit.after + edit.before_end - edit.before
            tree.edit(start, start + size, end, (edit.after, 0), (last, 0), (edit.after_end, 0))
        return tree

    def leaves(self, start: int, end: int) -> list[Leaf]:
        """Return the tokens that begin in the bytes [start, end), without comments and white space."""
        self._make_sure(start, end)
        return walk_leaves(self.language, self.data, self.tree, start, end)

    def units(self, start: int, end: int) -> list[Unit]:
        """Return the units that the bytes [start, end) touch, in order; of nested units only the innermost.

        An empty range touches a unit if it lies strictly inside it.
        """
        self._make_sure(start, end)
        return find_units(self.language, self.data, self.tree.root_node, start, end)

    def _make_sure(self, start: int, end: int) -> None:
        """Parse the whole file if a part of [start, end) other than white space was not parsed."""
        if self.read is None:
            return
        at = start
        for low, high in (*self.read, (end, end)):
            if low > at and at < end and not self.data[at : min(low, end)].isspace():
                self.read = None
                self.tree = self.facts.parse(self.data)
                return
            at = max(at, high)

    @cached_property
    def _names(self) -> Names | None:
        """Return the names that the file declares outside the parsed parts; None if the whole file was parsed."""
        return Names(self.facts, self.data, self.layout) if self.layout else None

    def declares_member(self, name: str) -> tuple[bool, bool]:
        """Return how the file's types declare a name.

        The first value is whether they declare it so that it is reached as it is, the second whether it is reached
        through `this` or `self`.
        """
        if self._names is not None:
            return self._names.of_types(name)
        bare, own = self._members_here
        return name in bare, name in own

    @cached_property
    def _members_here(self) -> Captured:
        return self.facts.members.names(self.tree.root_node)

    def declares(self, name: str) -> bool:
        """Return whether a name is declared anywhere in the file, by the definition of the recipe `iclr19`."""
        if name in self._authors[0]:
            return True
        if self.read is None or self._names is None:
            return False
        if name not in self._beyond:
            self._beyond[name] = self._names.anywhere(name, self.read)
        return self._beyond[name]

    @cached_property
    def _beyond(self) -> dict[str, bool]:
        """Return a cache: for each name, whether it is declared outside the parsed parts.

        If the unparsed parts are the same as those of the previous version, its cache is used.
        """
        previous = self._previous
        return previous._beyond if previous is not None and previous._unread() == self._unread() else {}

    def _unread(self) -> bytes:
        """Return the bytes that were not parsed."""
        at, parts = 0, []
        for low, high in self.read or ((0, len(self.data)),):
            parts.append(self.data[at:low])
            at = high
        return b"\0".join([*parts, self.data[at:]])

    def keeps(self, offset: int) -> bool:
        """Return whether the recipe `iclr19` never renames the identifier at an offset."""
        return offset in self._authors[1]

    @property
    def _authors(self) -> tuple[frozenset[str], frozenset[int]]:
        """Return the declared names and the offsets of the kept identifiers, both for the recipe `iclr19`.

        They are those of the parsed parts of the file.
        """
        if self._asked is None or self._asked[0] is not self.tree:
            captured = self.facts.authors.captures(self.tree.root_node)
            names = texts(captured, "name") | texts(captured, "member")
            self._asked = self.tree, (names, frozenset([node.start_byte for node in captured.get("kept", ())]))
        return self._asked[1]

    def locals_at(self, offset: int) -> frozenset[str]:
        """Return the local names of the outermost function around an offset."""
        for start, end, names in self._functions:
            if start <= offset < end:
                return names
        function = self._function_at(offset)
        if function is None:
            return frozenset()
        names, _ = self.facts.locals.names(function)
        self._functions.append((function.start_byte, function.end_byte, names))
        return names

    def _function_at(self, offset: int) -> ts.Node | None:
        """Return the outermost function around an offset, or None."""
        cursor = self.tree.walk()
        while cursor.goto_first_child_for_byte(offset) is not None:
            node = cursor.node
            if node is None or node.start_byte > offset:
                return None
            if node.type in self.language.functions:
                return node
        return None

    def has_error(self, start: int, end: int) -> bool:
        """Return whether the smallest node around the bytes [start, end) has a syntax error."""
        node = self.tree.root_node.descendant_for_byte_range(start, max(start, end - 1))
        return node is not None and (node.has_error or node.is_error)


def tokenize(language: Language, data: bytes) -> list[Token]:
    """Return the tokens of a file.

    Whatever the bytes, the tokens and the gaps between them are exactly the file.
    """
    parsed = Parsed(language, data)
    return [Token(leaf.text, leaf.start, leaf.end) for leaf in parsed.leaves(0, len(data))]
