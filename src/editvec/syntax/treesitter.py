"""Programming languages through tree-sitter: files → tokens, units, declared names, trees.

A `Parsed` file answers everything that is asked about a version of a file: which tokens stand in a range and what
role each plays, which units (statements, members, headers) a changed range touches, which names are declared where.
It works on bytes and never fails on any: what the grammar cannot read becomes tokens of kind ERROR.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib import import_module
from itertools import accumulate
from typing import NamedTuple, TypeVar

import tree_sitter as ts

from editvec.syntax.languages.base import Language
from editvec.syntax.layout import near, scan
from editvec.syntax.leaves import Leaf, walk_leaves
from editvec.syntax.token import Token, decode


class Unit(NamedTuple):
    """A statement, a member, or the header of one that has a body: the bytes [start, end) and the node's kind."""

    start: int
    end: int
    kind: str
    whole: bool
    """False for a header or another part around a body."""
    parent: int
    """Identifies the node that the unit stands in: units with the same parent are siblings."""


class LineEdit(NamedTuple):
    """Lines [before, before_end) of one version became lines [after, after_end) of the next; 0-based."""

    before: int
    before_end: int
    after: int
    after_end: int


_T = TypeVar("_T")


class Recent(OrderedDict[int, _T]):
    """A mapping that forgets its oldest entries beyond a size."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def __setitem__(self, key: int, value: _T) -> None:
        super().__setitem__(key, value)
        while len(self) > self.size:
            self.popitem(last=False)


class Facts:
    """A language made ready: its grammar loaded, its queries compiled, its parser waiting."""

    def __init__(self, language: Language) -> None:
        module, function = language.grammar.split(":")
        self.language = language
        self.grammar = ts.Language(getattr(import_module(module), function)())
        self.parser = ts.Parser(self.grammar)
        self.locals = ts.Query(self.grammar, language.locals_query)
        self.members = ts.Query(self.grammar, language.members_query)
        self.authors = ts.Query(self.grammar, language.authors_query or language.locals_query + language.members_query)
        self.skeletons = Recent[tuple[frozenset[str], frozenset[str]]](4_000)
        """Names by what stands outside function bodies: versions of a file mostly share it."""
        self.blocks = Recent[frozenset[str]](200_000)
        """Names by the text that declares them."""


@cache
def facts_of(language: Language) -> Facts:
    """The language made ready, once per process."""
    return Facts(language)


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
    ) -> None:
        """With `places`, the lines [first, last) of interest, only the members there and `margin` lines around them
        are sure to be parsed; names declared elsewhere in the file are known all the same. Where the file is parsed
        whole and so was a `previous` version, what the edits between them left alone is not parsed again."""
        self.language = language
        self.data = data
        self.facts = facts_of(language)
        self.line_starts = line_starts(data)
        """The offset of each line's first byte, and the file's length at the end."""
        self.layout = scan(data) if places is not None and language.braces else None
        self._locals: dict[int, frozenset[str]] = {}
        self.read = (
            near(data, self.layout, self.line_starts, places, margin) if self.layout and places is not None else None
        )
        """The bytes that were parsed, None for all."""
        whole = self.read is None and previous is not None and previous[0].read is None
        self.tree = self._parse(self.read, self._moved(*previous) if previous and whole else None)

    def _moved(self, previous: Parsed, edits: Sequence[LineEdit]) -> ts.Tree:
        """The previous version's tree with its nodes where they are in this version."""
        tree = previous.tree.copy()
        old, new = previous.line_starts, self.line_starts
        for edit in edits:
            size = old[min(edit.before_end, len(old) - 1)] - old[min(edit.before, len(old) - 1)]
            start, end = new[min(edit.after, len(new) - 1)], new[min(edit.after_end, len(new) - 1)]
            last = edit.after + edit.before_end - edit.before
            tree.edit(start, start + size, end, (edit.after, 0), (last, 0), (edit.after_end, 0))
        return tree

    def _parse(self, spans: Sequence[tuple[int, int]] | None, old: ts.Tree | None = None) -> ts.Tree:
        """The tree of the given bytes, or of all."""
        parser = self.facts.parser
        whole = ((0, len(self.data)),)
        parser.included_ranges = [
            ts.Range(self._point(low), self._point(high), low, high) for low, high in spans or whole
        ]
        return parser.parse(self.data, old) if old is not None else parser.parse(self.data)

    def _point(self, offset: int) -> ts.Point:
        row = line_of(self.line_starts, offset)
        return ts.Point(row, offset - self.line_starts[row])

    def leaves(self, start: int, end: int) -> list[Leaf]:
        """The tokens that begin in the bytes [start, end), comments and white space left out."""
        self._make_sure(start, end)
        return list(walk_leaves(self.language, self.data, self.tree, start, end))

    def _make_sure(self, start: int, end: int) -> None:
        """Parses the whole file after all when the bytes [start, end) were left out and are not just white space."""
        if self.read is None:
            return
        at = start
        for low, high in (*self.read, (end, end)):
            if low > at and at < end and not self.data[at : min(low, end)].isspace():
                self.read = None
                self.tree = self._parse(None)
                return
            at = max(at, high)

    @cached_property
    def members(self) -> tuple[frozenset[str], frozenset[str]]:
        """What the file's types declare: reached by the bare name, and through `this` or `self`."""
        if self.layout is None:
            return _captured(self.facts.members, self.tree)
        spans = self.layout.skeleton(self.data)
        key = hash(b"".join([self.data[low:high] for low, high in spans]))
        known = self.facts.skeletons
        if key not in known:
            known[key] = _captured(self.facts.members, self._parse(spans))
        return known[key]

    @cached_property
    def declared_anywhere(self) -> frozenset[str]:
        """Every name that the recipe `iclr19` renames: those declared anywhere in the file."""
        layout = self.layout
        if layout is None:
            return frozenset().union(*_captured(self.facts.authors, self.tree))
        names = self._names_in(layout.skeleton(self.data), None)
        for block in layout.blocks:
            start = layout.segments[block.segment][0]
            names |= self._names_in([(start, block.end)], self.language.member_wrapper)
        return names

    def _names_in(self, spans: Sequence[tuple[int, int]], wrapper: tuple[bytes, bytes] | None) -> frozenset[str]:
        """What a part of the file declares, remembered by its text and by nothing else: for a wrapper, what it declares
        when it stands alone in it."""
        text = b"".join([self.data[low:high] for low, high in spans])
        key = hash(text)
        known = self.facts.blocks
        if key not in known:
            tree = self._parse(spans) if wrapper is None else _parse_alone(self.facts.parser, text.join(wrapper))
            known[key] = frozenset().union(*_captured(self.facts.authors, tree))
        return known[key]

    @cached_property
    def kept_names(self) -> frozenset[int]:
        """Where identifiers stand that the recipe `iclr19` never renames, whatever is declared."""
        captured = ts.QueryCursor(self.facts.authors).captures(self.tree.root_node)
        return frozenset(node.start_byte for node in captured.get("kept", ()))

    def locals_at(self, offset: int) -> frozenset[str]:
        """The local names of the outermost function around an offset."""
        function = self._function_at(offset)
        if function is None:
            return frozenset()
        if function.start_byte not in self._locals:
            captured = ts.QueryCursor(self.facts.locals).captures(function)
            self._locals[function.start_byte] = _texts(captured.get("name", ()))
        return self._locals[function.start_byte]

    def _function_at(self, offset: int) -> ts.Node | None:
        cursor = self.tree.walk()
        while cursor.goto_first_child_for_byte(offset) is not None:
            node = cursor.node
            if node is None or node.start_byte > offset:
                return None
            if node.type in self.language.functions:
                return node
        return None

    def has_error(self, start: int, end: int) -> bool:
        """Whether the smallest node around the bytes [start, end) could not be parsed whole."""
        node = self.tree.root_node.descendant_for_byte_range(start, max(start, end - 1))
        return node is not None and (node.has_error or node.is_error)

    def units(self, start: int, end: int) -> list[Unit]:
        """The units that the bytes [start, end) touch, in order; of nested ones the innermost.

        An empty range touches the unit that it lies strictly inside.
        """
        found: list[Unit] = []
        self._make_sure(start, end)
        self._find_units(self.tree.root_node, start, end, found)
        return found

    def _touches(self, low: int, high: int, start: int, end: int) -> bool:
        return low < end and start < high if start < end else low < start < high

    def _find_units(self, body: ts.Node, start: int, end: int, found: list[Unit]) -> None:
        """Collects the units directly in a body that the range touches."""
        language = self.language
        in_body = body.type in language.bodies
        for child in _children_touching(body, start, end):
            if child.type in language.comments:
                continue
            if child.type in language.units or (in_body and child.is_named and self._is_tail(child)):
                self._split_unit(child, start, end, body.id, found)
            elif child.child_count:
                self._find_units(child, start, end, found)

    def _is_tail(self, node: ts.Node) -> bool:
        """Whether a node that is no unit by its kind is one by its place: an expression that ends a body."""
        return node.type not in self.language.bodies and not node.is_error

    def _split_unit(self, node: ts.Node, start: int, end: int, parent: int, found: list[Unit]) -> None:
        """The unit itself, or, when bodies in it span lines, its parts around them and what is in them."""
        bodies = list(self._inner_bodies(node))
        if not bodies:
            if self._touches(node.start_byte, node.end_byte, start, end):
                found.append(Unit(node.start_byte, node.end_byte, node.type, True, parent))
            return
        at = node.start_byte
        for body in bodies:
            self._add_part(node, at, body.start_byte, start, end, found)
            if self._touches(body.start_byte, body.end_byte, start, end):
                if body.type in self.language.units:
                    self._split_unit(body, start, end, node.id, found)
                else:
                    self._find_units(body, start, end, found)
            at = body.end_byte
        self._add_part(node, at, node.end_byte, start, end, found)

    def _add_part(self, node: ts.Node, low: int, high: int, start: int, end: int, found: list[Unit]) -> None:
        text = self.data[low:high]
        high = low + len(text.rstrip())
        low = high - len(self.data[low:high].lstrip())
        if low < high and self._touches(low, high, start, end):
            found.append(Unit(low, high, node.type, False, node.id))

    def _inner_bodies(self, node: ts.Node) -> Iterator[ts.Node]:
        """The outermost bodies, and units, that span lines or start on a line of their own, inside a unit."""
        language = self.language
        if node.start_point.row == node.end_point.row:
            return
        for child in node.children:
            if child.start_point.row == child.end_point.row and child.start_point.row == node.start_point.row:
                continue
            if child.type in language.bodies:
                if child.start_point.row != child.end_point.row or child.start_point.row != node.start_point.row:
                    yield child
            elif (
                child.type in language.units
                and child.type not in language.inline_units
                and child.start_point.row != node.start_point.row
            ):
                yield child
            elif child.child_count and child.start_point.row != child.end_point.row:
                yield from self._inner_bodies(child)


def _parse_alone(parser: ts.Parser, text: bytes) -> ts.Tree:
    """The tree of a text that is all there is."""
    parser.included_ranges = [ts.Range(ts.Point(0, 0), ts.Point(0xFFFFFFFF, 0xFFFFFFFF), 0, 0xFFFFFFFF)]
    return parser.parse(text)


def line_starts(data: bytes) -> list[int]:
    """The offset of each line's first byte, and the length at the end."""
    starts = [0, *accumulate([len(line) + 1 for line in data.split(b"\n")])]
    starts[-1] -= 1
    if len(starts) > 1 and starts[-1] == starts[-2]:
        starts.pop()
    return starts


def line_of(starts: Sequence[int], offset: int) -> int:
    """The 0-based line that an offset lies in."""
    return bisect_right(starts, offset) - 1


def tokenize(language: Language, data: bytes) -> list[Token]:
    """The tokens of a file. Together with the gaps they are the file, byte for byte, whatever the bytes."""
    parsed = Parsed(language, data)
    return [Token(leaf.text, leaf.start, leaf.end) for leaf in parsed.leaves(0, len(data))]


def _captured(query: ts.Query, tree: ts.Tree) -> tuple[frozenset[str], frozenset[str]]:
    """What a query captures as @name and as @member."""
    captured = ts.QueryCursor(query).captures(tree.root_node)
    return _texts(captured.get("name", ())), _texts(captured.get("member", ()))


def _texts(nodes: Iterable[ts.Node]) -> frozenset[str]:
    return frozenset(decode(node.text) for node in nodes if node.text)


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
