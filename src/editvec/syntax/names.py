"""Which names a file declares outside what was parsed of it, asked name by name, with as little parsed as can be.

A name is looked for as a word first, and only where the language can declare one. Only the parts of the file in which
that may be so are parsed, each by itself, and remembered by their text: versions of a file share nearly all of them.
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
"""How far before a name is looked for what stands there; farther off nothing is ruled out."""
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(?:if|elif|else|endif)\b[^\n]*", re.M)


class Names:
    """The names of one file with a layout."""

    def __init__(self, facts: Facts, data: bytes, layout: Layout) -> None:
        self.facts = facts
        self.data = data
        self.layout = layout

    def of_types(self, name: str) -> tuple[bool, bool]:
        """Whether the file's types declare a name: so that its bare name reaches it, and through `this` or `self`."""
        return self._outside_blocks(name, self.facts.members)

    def anywhere(self, name: str, known: Sequence[Span]) -> bool:
        """Whether a name is declared, as the recipe `iclr19` reads it, beyond the bytes whose names are known."""
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
        """Where a word stands in a text such that it may be declared there."""
        at = text.find(word)
        while at >= 0:
            end = at + len(word)
            if not (at and text[at - 1] in _IN_WORD) and not (end < len(text) and text[end] in _IN_WORD):
                head = text[max(0, at - _REACH) : at].rstrip()
                if not head or self._may_declare(head, text, end):
                    yield at
            at = text.find(word, end)

    def _may_declare(self, head: bytes, text: bytes, end: int) -> bool:
        """Whether a name can be declared between a head and the text from an offset on."""
        declared = self.facts.declared
        return not declared or any(
            behind.match(text, end) and before.match(head, len(head)) for before, behind in declared
        )

    def _outside_blocks(self, name: str, query: Declarations) -> tuple[bool, bool]:
        """Whether a query captures a name outside all blocks as @name, and as @member."""
        answers = query.outside.get(self._key_outside)
        if answers is None:
            answers = query.outside[self._key_outside] = {}
        if name not in answers:
            parts = list(self._outside_with(encode(name), query))
            answers[name] = any(name in bare for bare, _ in parts), any(name in own for _, own in parts)
        return answers[name]

    @cached_property
    def _key_outside(self) -> int:
        return hash((self._outside[0], tuple(self.layout.parents)))

    def _outside_with(self, word: bytes, query: Declarations) -> Iterator[Captured]:
        """What the parts outside all blocks declare that may declare a word."""
        if self._is_glued:
            # A segment does not make sense alone.
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
        """What stands outside all blocks, and where each segment begins in it."""
        segments = self.layout.segments
        text = b"{".join([self.data[low:high] for low, high in segments])
        return text, [0, *accumulate([high - low + 1 for low, high in segments])]

    def _of_segment(self, segment: int, query: Declarations) -> Captured:
        """What a segment and the headers around it declare."""
        known, key = query.by_text, self._key(segment)
        if key not in known:
            # Where only one branch of an #if is in the segment, it would break what is around it.
            spans = without(self.layout.alone(self.data, segment), self._directives)
            known[key] = query.names(self.facts.parse(self.data, spans).root_node)
        return known[key]

    def _key(self, segment: int) -> int:
        """Stands for the text of a segment and of the headers around it."""
        low, high = self.layout.header(self.data, segment)
        start, end = self.layout.tail(self.data, segment)
        parent = self.layout.parents[segment]
        return hash((self.data[low : high + 1], self.data[start:end], self._key(parent) if parent >= 0 else 0))

    @cached_property
    def _directives(self) -> list[Span]:
        return [directive.span() for directive in _DIRECTIVE.finditer(self.data)] if b"#" in self.data else []

    def _of_spans(self, spans: Sequence[Span], query: Declarations) -> Captured:
        """What some parts of the file declare together."""
        known, key = query.by_text, hash(b"".join([self.data[low:high] for low, high in spans]))
        if key not in known:
            known[key] = query.names(self.facts.parse(self.data, spans).root_node)
        return known[key]

    def _of_block(self, number: int, query: Declarations) -> Captured:
        """What a block with its header declares when it stands alone."""
        block = self.layout.blocks[number]
        text = self.data[self.layout.header(self.data, block.segment)[0] : block.end]
        known, key = query.by_text, hash(text)
        if key not in known:
            known[key] = query.names(self.facts.parse(text.join(self.facts.language.member_wrapper)).root_node)
        return known[key]


def _is_inside(spans: Sequence[Span], at: int) -> bool:
    """Whether an offset lies in one of the spans, which are in order and apart."""
    number = bisect_right(spans, (at + 1,)) - 1
    return number >= 0 and at < spans[number][1]
