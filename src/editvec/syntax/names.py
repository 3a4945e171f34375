"""Names that a file declares outside its parsed parts, looked up one by one with as little parsing as possible.

A name is first searched as a word, and only where the language can declare one. Only the parts of the file that may
declare it are parsed, each by itself. The results are cached by the text of the part, because versions of a file share
nearly all of their parts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from editvec.syntax.facts import Captured, Declarations, Facts
from editvec.syntax.layout import Layout, Span, without
from editvec.syntax.token import encode

_IN_WORD = frozenset(b"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") | frozenset(range(128, 256))
_REACH = 200
"""The number of bytes before a name that are inspected for the text in front of it.

If they hold only white space, the name counts as one that may be declared there.
"""
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(?:if|elif|else|endif)\b[^\n]*", re.M)


class Names:
    """The names of one file with a layout."""

    def __init__(self, facts: Facts, data: bytes, layout: Layout) -> None:
        self.facts = facts
        self.data = data
        self.layout = layout

    def of_types(self, name: str) -> tuple[bool, bool]:
        """Return how the file's types declare a name.

        The first value is whether they declare it so that it is reached as it is, the second whether it is reached
        through `this` or `self`.
        """
        return self._outside_blocks(name, self.facts.members)

    def anywhere(self, name: str, known: Sequence[Span]) -> bool:
        """Return whether a name is declared outside the bytes whose names are known.

        Declarations are those of the recipe `iclr19`.
        """
        word, query = encode(name), self.facts.authors
        if any(self._outside_blocks(name, query)):
            return True
        blocks = self.layout.blocks
        past = 0
        for at in self._places(self.data, word):
            number = bisect_right(blocks, (at + 1,)) - 1
            if number < 0 or not past <= at < blocks[number].end or _is_inside(known, at):
                continue
            past = blocks[number].end
            if any(name in names for names in self._of_block(number, query)):
                return True
        return False

    def _places(self, text: bytes, word: bytes) -> Iterator[int]:
        """Yield the offsets at which a word occurs in a text and may be declared."""
        at = text.find(word)
        while at >= 0:
            end = at + len(word)
            if not (at and text[at - 1] in _IN_WORD) and not (end < len(text) and text[end] in _IN_WORD):
                head = text[max(0, at - _REACH) : at].rstrip()
                if not head or self._may_declare(head, text, end):
                    yield at
            at = text.find(word, end)

    def _may_declare(self, head: bytes, text: bytes, end: int) -> bool:
        """Return whether a name can be declared between `head` and the text from the offset `end` on."""
        declared = self.facts.declared
        return not declared or any(
            behind.match(text, end) and before.match(head, len(head)) for before, behind in declared
        )

    def _outside_blocks(self, name: str, query: Declarations) -> tuple[bool, bool]:
        """Return whether a query captures a name outside all blocks as @name, and whether as @member."""
        answers = query.outside.get(self._key_outside)
        if answers is None:
            answers = query.outside[self._key_outside] = {}
        if name not in answers:
            parts = list(self._outside_with(encode(name), query))
            answers[name] = any(name in bare for bare, _ in parts), any(name in own for _, own in parts)
        return answers[name]

    @cached_property
    def _key_outside(self) -> int:
        """Return a hash of the text outside all blocks and of the nesting of its segments."""
        return hash((self._outside[0], tuple(self.layout.parents)))

    def _outside_with(self, word: bytes, query: Declarations) -> Iterator[Captured]:
        """Yield the names declared by each part outside all blocks that may declare a word."""
        if self._is_glued:
            # The segments cannot be parsed one by one.
            yield self._of_spans(self.layout.skeleton(self.data), query)
            return
        text, starts = self._outside
        asked = set()
        for at in self._places(text, word):
            number = bisect_right(starts, at) - 1
            asked.add(number)
            low, high = self.layout.tail(self.data, number - 1) if number else (0, 0)
            if at - starts[number] < high - low:
                asked.add(number - 1)
        for number in asked:
            yield self._of_segment(number, query)

    @cached_property
    def _is_glued(self) -> bool:
        return self.layout.is_glued(self.data)

    @cached_property
    def _outside(self) -> tuple[bytes, list[int]]:
        """Return the text outside all blocks, and the offset in it at which each segment begins."""
        segments = self.layout.segments
        text = b"{".join([self.data[low:high] for low, high in segments])
        return text, [0, *accumulate([high - low + 1 for low, high in segments])]

    def _of_segment(self, segment: int, query: Declarations) -> Captured:
        """Return the names that a segment and the headers around it declare."""
        known, key = query.by_text, self._key(segment)
        if key not in known:
            # A segment may hold only one branch of an #if. Left in, the directive would break the code around it.
            spans = without(self.layout.alone(self.data, segment), self._directives)
            known[key] = query.names(self.facts.parse(self.data, spans).root_node)
        return known[key]

    def _key(self, segment: int) -> int:
        """Return a hash of the text of a segment, its tail and the headers around it."""
        low, high = self.layout.header(self.data, segment)
        start, end = self.layout.tail(self.data, segment)
        parent = self.layout.parents[segment]
        return hash((self.data[low : high + 1], self.data[start:end], self._key(parent) if parent >= 0 else 0))

    @cached_property
    def _directives(self) -> list[Span]:
        return [directive.span() for directive in _DIRECTIVE.finditer(self.data)] if b"#" in self.data else []

    def _of_spans(self, spans: Sequence[Span], query: Declarations) -> Captured:
        """Return the names that some spans of the file declare together."""
        known, key = query.by_text, hash(b"".join([self.data[low:high] for low, high in spans]))
        if key not in known:
            known[key] = query.names(self.facts.parse(self.data, spans).root_node)
        return known[key]

    def _of_block(self, number: int, query: Declarations) -> Captured:
        """Return the names that a block with its header declares when it is parsed alone."""
        block = self.layout.blocks[number]
        text = self.data[self.layout.header(self.data, block.segment)[0] : block.end]
        known, key = query.by_text, hash(text)
        if key not in known:
            known[key] = query.names(self.facts.parse(text.join(self.facts.language.member_wrapper)).root_node)
        return known[key]


def _is_inside(spans: Sequence[Span], at: int) -> bool:
    """Return whether an offset lies in one of the spans.

    The spans must be in order and must not overlap.
    """
    number = bisect_right(spans, (at + 1,)) - 1
    return number >= 0 and at < spans[number][1]
