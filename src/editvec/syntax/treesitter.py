"""Programming languages through tree-sitter: files → tokens, units, declared names, trees.

A `Parsed` file answers everything that is asked about a version of a file: which tokens stand in a range and what
role each plays, which units (statements, members, headers) a changed range touches, which names are declared where.
It works on bytes and never fails on any: what the grammar cannot read becomes tokens of kind ERROR.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib import import_module
from itertools import accumulate
from typing import NamedTuple, TypeVar

import numpy as np
import tree_sitter as ts

from editvec.syntax.languages.base import Language
from editvec.syntax.layout import Change, Layout, arrange, find_braces, move_braces, near
from editvec.syntax.leaves import Leaf, walk_leaves
from editvec.syntax.token import Token, decode, encode
from editvec.syntax.units import Unit, find_units

_NEWLINE = ord("\n")


class LineEdit(NamedTuple):
    """Lines [before, before_end) of one version became lines [after, after_end) of the next; 0-based."""

    before: int
    before_end: int
    after: int
    after_end: int


_K = TypeVar("_K")
_T = TypeVar("_T")
Members = tuple[frozenset[str], frozenset[str]]
"""Names reached by the bare name, and through `this` or `self`."""


class Recent(OrderedDict[_K, _T]):
    """A mapping that forgets its oldest entries beyond a size."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def __setitem__(self, key: _K, value: _T) -> None:
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
        self.behind_member = re.compile(language.behind_member)
        self.members_by_text = Recent[int, Members](20_000)
        """Members by the text that declares them: versions of a file mostly share it."""
        self.blocks = Recent[int, frozenset[str]](200_000)
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
        braces: list[int] | None = None,
    ) -> None:
        """With `places`, the lines [first, last) of interest, only the members there and `margin` lines around them
        are sure to be parsed; names declared elsewhere in the file are known all the same. With a `previous` version
        and the edits between them, what those left alone is not looked at again; nor are `braces` that are known."""
        self.language = language
        self.data = data
        self.facts = facts_of(language)
        self.line_starts = line_starts(data)
        """The offset of each line's first byte, and the file's length at the end."""
        self._functions: list[tuple[int, int, frozenset[str]]] = []
        self._members: dict[str, tuple[bool, bool]] = {}
        self._declared: dict[str, bool] = {}
        changes = self._changes(*previous) if previous else None
        self.braces: list[int] | None = None
        self.layout: Layout | None = None
        self.read: list[tuple[int, int]] | None = None
        """The bytes that were parsed, None for all."""
        if places is not None and language.braces:
            if braces is not None:
                self.braces = braces
            elif previous and previous[0].braces is not None and changes is not None:
                self.braces = move_braces(previous[0].braces, previous[0].data, data, changes)
            else:
                self.braces = list(find_braces(data))
            self.layout = arrange(data, self.braces)
            if self.layout:
                self.read = near(data, self.layout, self.line_starts, places, margin)
        old = None
        if previous and changes is not None and (previous[0].read is None) == (self.read is None):
            old = self._moved(*previous)
        self.tree = self._parse(self.read, old)

    def _changes(self, previous: Parsed, edits: Sequence[LineEdit]) -> list[Change] | None:
        """The edits in bytes; None when what is between them is not the same bytes, as in another encoding."""
        changes = []
        at = new = 0
        for edit in edits:
            change = Change(
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
        """Where a line begins, or the file's end."""
        return self.line_starts[min(number, len(self.line_starts) - 1)]

    def _moved(self, previous: Parsed, edits: Sequence[LineEdit]) -> ts.Tree:
        """The previous version's tree with its nodes where they are in this version."""
        tree = previous.tree.copy()
        for edit in edits:
            size = previous._line(edit.before_end) - previous._line(edit.before)
            start, end = self._line(edit.after), self._line(edit.after_end)
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
        return walk_leaves(self.language, self.data, self.tree, start, end)

    def units(self, start: int, end: int) -> list[Unit]:
        """The units that the bytes [start, end) touch, in order; of nested ones the innermost.

        An empty range touches the unit that it lies strictly inside.
        """
        self._make_sure(start, end)
        return find_units(self.language, self.data, self.tree.root_node, start, end)

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

    def declares_member(self, name: str) -> tuple[bool, bool]:
        """Whether the file's types declare a name: so that its bare name reaches it, and through `this` or `self`."""
        if name not in self._members:
            parts = self._all_members
            if parts is None:
                parts = [self._members_of(number) for number in self._segments_with(encode(name))]
            self._members[name] = any(name in bare for bare, _ in parts), any(name in own for _, own in parts)
        return self._members[name]

    @cached_property
    def _all_members(self) -> list[Members] | None:
        """What the file's types declare; None when each segment can be asked alone."""
        layout = self.layout
        if layout is None:
            return [_captured(self.facts.members, self.tree)]
        # Between #if and #endif, too, a segment may not make sense alone.
        if not layout.is_glued(self.data) and b"#if" not in self._outside[0]:
            return None
        spans = layout.skeleton(self.data)
        known, key = self.facts.members_by_text, hash(b"".join([self.data[low:high] for low, high in spans]))
        if key not in known:
            known[key] = _captured(self.facts.members, self._parse(spans))
        return [known[key]]

    @cached_property
    def _outside(self) -> tuple[bytes, list[int]]:
        """What stands outside all blocks, and where each segment begins in it."""
        assert self.layout is not None
        segments = self.layout.segments
        text = b"{".join([self.data[low:high] for low, high in segments])
        return text, [0, *accumulate([high - low + 1 for low, high in segments])]

    def _segments_with(self, word: bytes) -> set[int]:
        """The segments that may declare a word as a member."""
        assert self.layout is not None
        text, starts = self._outside
        found = set()
        at = text.find(word)
        while at >= 0:
            if self.facts.behind_member.match(text, at + len(word)):
                number = bisect_right(starts, at) - 1
                found.add(number)
                low, high = self.layout.tail(self.data, number - 1) if number else (0, 0)
                if at - starts[number] < high - low:
                    found.add(number - 1)
            at = text.find(word, at + 1)
        return found

    def _members_of(self, segment: int) -> Members:
        """What a segment and the headers around it declare, remembered by their text."""
        assert self.layout is not None
        known, key = self.facts.members_by_text, self._key(self.layout, segment)
        if key not in known:
            spans = self.layout.around(self.data, headers=(segment,))
            known[key] = _captured(self.facts.members, self._parse(spans))
        return known[key]

    def _key(self, layout: Layout, segment: int) -> int:
        """Stands for the text of a segment and of the headers around it."""
        low, high = layout.header(self.data, segment)
        start, end = layout.tail(self.data, segment)
        parent = layout.parents[segment]
        return hash((self.data[low : high + 1], self.data[start:end], self._key(layout, parent) if parent >= 0 else 0))

    def declares(self, name: str) -> bool:
        """Whether a name is declared anywhere in the file, as the recipe `iclr19` reads it."""
        if name not in self._declared:
            self._declared[name] = any(name in names for names in self._names_around(encode(name)))
        return self._declared[name]

    def _names_around(self, word: bytes) -> Iterator[frozenset[str]]:
        """What the parts of the file declare that a word stands in, one after the other."""
        yield self._names_outside
        blocks = self.layout.blocks if self.layout else []
        segments = self.layout.segments if self.layout else []
        at = self.data.find(word) if blocks else -1
        while at >= 0:
            # The block around the place, or the one whose header it stands in.
            number = bisect_right(blocks, at, key=lambda block: block.end)
            if number == len(blocks):
                return
            start, end = segments[blocks[number].segment][0], blocks[number].end
            if start <= at:
                yield self._names_in([(start, end)], self.language.member_wrapper)
            at = self.data.find(word, end if start <= at else start)

    @cached_property
    def _names_outside(self) -> frozenset[str]:
        """What is declared outside all blocks, or, where nothing is known of blocks, in the whole file."""
        if self.layout is None:
            return frozenset().union(*_captured(self.facts.authors, self.tree))
        return self._names_in(self.layout.skeleton(self.data), None)

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
        for start, end, names in self._functions:
            if start <= offset < end:
                return names
        function = self._function_at(offset)
        if function is None:
            return frozenset()
        captured = ts.QueryCursor(self.facts.locals).captures(function)
        names = _texts(captured.get("name", ()))
        self._functions.append((function.start_byte, function.end_byte, names))
        return names

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


def _parse_alone(parser: ts.Parser, text: bytes) -> ts.Tree:
    """The tree of a text that is all there is."""
    parser.included_ranges = [ts.Range(ts.Point(0, 0), ts.Point(0xFFFFFFFF, 0xFFFFFFFF), 0, 0xFFFFFFFF)]
    return parser.parse(text)


def line_starts(data: bytes) -> list[int]:
    """The offset of each line's first byte, and the length at the end."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE) + 1
    starts: list[int] = [0, *ends.tolist()]
    return starts if len(starts) > 1 and starts[-1] == len(data) else [*starts, len(data)]


def line_of(starts: Sequence[int], offset: int) -> int:
    """The 0-based line that an offset lies in."""
    return bisect_right(starts, offset) - 1


def tokenize(language: Language, data: bytes) -> list[Token]:
    """The tokens of a file. Together with the gaps they are the file, byte for byte, whatever the bytes."""
    parsed = Parsed(language, data)
    return [Token(leaf.text, leaf.start, leaf.end) for leaf in parsed.leaves(0, len(data))]


def _captured(query: ts.Query, tree: ts.Tree) -> Members:
    """What a query captures as @name and as @member."""
    captured = ts.QueryCursor(query).captures(tree.root_node)
    return _texts(captured.get("name", ())), _texts(captured.get("member", ()))


def _texts(nodes: Iterable[ts.Node]) -> frozenset[str]:
    return frozenset(decode(node.text) for node in nodes if node.text)
