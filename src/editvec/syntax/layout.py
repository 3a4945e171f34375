"""Layout of a file with braces, found without a parser: where its types and its function bodies begin and end.

An edit concerns one member of a file; the bodies of the other members do not have to be parsed to extract the edit.
`find_braces` finds the braces that are code (it skips strings and comments) in a fraction of the time that a parser
takes. `move_braces` carries them over to the next version, and `arrange` builds a layout from them. An outline holds
the braces and the layout. `near` returns the bytes that a parser has to read for given lines: the members there, with
the headers and braces of the types around them. Offsets and lines do not change. If the braces are not balanced, there
is no layout and the whole file is parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

_TO_BRACE = re.compile(
    rb"""(?: [^"'`/{}]++
    | //[^\n]*+ | /\*(?:[^*]++|\*(?!/))*+\*/
    | (?<=@)"(?:[^"]++|"")*+" | (?<=\#)".*?"\# | (?<=R)"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"
    | "{3}.*?"{3} | "(?:[^"\\\n]++|\\.)*+" | '(?:[^'\\\n]|\\[^\n]{1,10}?)' | `(?:[^`\\]++|\\.)*+`
    | [^{}] )*+ (?:(?P<brace>[{}])|\Z)""",
    re.X | re.S,
)
"""Everything up to the next brace outside strings, characters and comments, in any language with braces."""
_LONG = re.compile(rb'/\*|\*/|`|"""|[@#R]"|"\#')
"""The beginning or the end of a token that can span several lines."""
_CONTAINER = re.compile(
    rb"\b(?:namespace|class|struct|interface|enum|record|union|extern|impl|trait|mod|module|type)\b\s*[\w.<:\"(]"
)

_LEAD = re.compile(rb"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|(?:using|import|package)\s[^;{}()=\n]*+;)*+")
_VALUE = rb'\s*+=(?:"(?:[^"\\\n]++|\\.)*+"|[^;{}"])*+;'
_VALUE_BEHIND = re.compile(_VALUE)
_TAIL = re.compile(_VALUE + rb"|\s*+[;,.=)\]][^;{}]*+;?|")
_GLUED = re.compile(rb"[ \t]*+[\w{]")
_OPEN = ord("{")

Span = tuple[int, int]


class Container(NamedTuple):
    """A type or namespace: the index of the segment that ends with its header, and the offsets of its two braces."""

    segment: int
    open: int
    close: int


class Block(NamedTuple):
    """A function's body, or another block outside all functions.

    It has a span and the index of the segment that ends with its header.
    """

    start: int
    end: int
    segment: int


class Layout(NamedTuple):
    """A file as segments of text outside all blocks, the blocks, and the containers around both."""

    segments: list[Span]
    blocks: list[Block]
    containers: list[Container]
    parents: list[int]
    """For each segment, the index of the segment with the header of the container around it, or -1."""

    def header(self, data: bytes, segment: int) -> Span:
        """Return the span of a segment without the comments and imports at its start.

        It is used for a segment that is needed only for its declarations.
        """
        low, high = self.segments[segment]
        lead = _LEAD.match(data, low, high)
        return (lead.end() if lead else low), high

    def alone(self, data: bytes, segment: int) -> list[Span]:
        """Return the spans to parse for one segment: its header, its tail and everything around it.

        The initial value of the previous declaration is left out, as `= "a";` in `string A { get; } = "a"; int B`.
        """
        value = _VALUE_BEHIND.match(data, *self.segments[segment])
        spans = self.around(data, headers=(segment,))
        return without(spans, [value.span()]) if value else spans

    def skeleton(self, data: bytes) -> list[Span]:
        """Return the spans of all headers, the containers' braces, and the blocks' braces without their contents."""
        return self.around(data, headers=range(len(self.segments)))

    def is_glued(self, data: bytes) -> bool:
        """Return whether a declaration continues behind a closing brace, as in `}{` or `} x;`.

        In this case segments cannot be parsed alone.
        """
        ends = [block.end for block in self.blocks] + [container.close + 1 for container in self.containers]
        return any(_GLUED.match(data, end) for end in ends)

    def tail(self, data: bytes, segment: int) -> Span:
        """Return the span behind a segment's block that still belongs to the segment's last declaration.

        For `int[] a = {…}, b;` it is `, b;`. It is (0, 0) if there is none.
        """
        following = segment + 1
        if following == len(self.segments) or self.parents[following] == segment:
            return 0, 0
        tail = _TAIL.match(data, *self.segments[following])
        return tail.span() if tail else (0, 0)

    def around(
        self, data: bytes, *, blocks: Iterable[int] = (), segments: Iterable[int] = (), headers: Sequence[int] = ()
    ) -> list[Span]:
        """Return the spans of the chosen parts and of everything around them that a parser needs.

        The parts are blocks, segments, and headers of segments with their tails, all given by index. The result also
        contains the headers of the blocks, the braces of blocks that are left out, and the headers and braces of all
        containers around the parts.
        """
        kept, whole = set(blocks), set(segments)
        wanted = whole.union(headers, [self.blocks[at].segment for at in kept])
        spans: list[Span] = [self.blocks[at][:2] for at in kept] + [self.tail(data, at) for at in headers]
        for segment in wanted:
            at = bisect_left(self.blocks, (self.segments[segment][1],))
            if at < len(self.blocks) and self.blocks[at].segment == segment and at not in kept:
                start, end, _ = self.blocks[at]
                spans += [(start, start + 1), (end - 1, end)]
        chosen = join(spans + [self.segments[at] for at in wanted])
        for container in self.containers:
            if container.segment in wanted or _met(chosen, container.open, container.close):
                wanted.add(container.segment)
                spans += [(container.open, container.open + 1), (container.close, container.close + 1)]
        spans += [self.segments[at] for at in whole]
        return join(spans + [self.header(data, at) for at in wanted - whole])


class Outline(NamedTuple):
    """The braces of a file that are code, and its layout; the layout is None if the braces are not balanced."""

    braces: list[int]
    layout: Layout | None


class LayoutChange(NamedTuple):
    """The replacement of the bytes [before, before_end) of one version by [after, after_end) of the next."""

    before: int
    before_end: int
    after: int
    after_end: int


def outline_of(data: bytes) -> Outline:
    """Return the outline of a file."""
    braces = list(find_braces(data))
    return Outline(braces, arrange(data, braces))


def move_outline(outline: Outline, before: bytes, after: bytes, changes: Sequence[LayoutChange]) -> Outline:
    """Return the outline of the next version of a file."""
    braces = move_braces(outline.braces, before, after, changes)
    return Outline(braces, arrange(after, braces))


def find_braces(data: bytes, start: int = 0) -> Iterator[int]:
    """Yield the offsets of the braces that are code.

    `start` must not lie inside a string or a comment.
    """
    for match in _TO_BRACE.finditer(data, start):
        at = match.start("brace")
        if at >= 0:
            yield at


def move_braces(braces: Sequence[int], before: bytes, after: bytes, changes: Sequence[LayoutChange]) -> list[int]:
    """Return the braces of the next version of a file, searching only near the changes where possible."""
    moved: list[int] = []
    at = shift = 0
    for change, limit in _apart(braces, changes, len(before)):
        if _LONG.search(before, *change[:2]) or _LONG.search(after, *change[2:]):
            return list(find_braces(after))
        stop = bisect_left(braces, change.before)
        moved += [place + shift for place in braces[at:stop]]
        at, shift = bisect_left(braces, change.before_end), change.after_end - change.before_end
        # This brace behind the change was already known: from here on, the search would find the known braces again.
        for place in find_braces(after, moved[-1] + 1 if moved else 0):
            if place >= change.after_end:
                old = place - shift
                at = bisect_left(braces, old)
                if at < len(braces) and braces[at] == old < limit:
                    break
            moved.append(place)
        else:
            return moved
    return moved + [place + shift for place in braces[at:]]


def _apart(braces: Sequence[int], changes: Sequence[LayoutChange], end: int) -> list[tuple[LayoutChange, int]]:
    """Return the changes, each with the offset where the next one begins.

    Changes without a brace between them are merged.
    """
    joined: list[LayoutChange] = []
    for change in changes:
        if joined:
            last = joined[-1]
            if bisect_left(braces, last.before_end) == bisect_left(braces, change.before):
                joined[-1] = LayoutChange(last.before, change.before_end, last.after, change.after_end)
                continue
        joined.append(change)
    return list(zip(joined, [change.before for change in joined[1:]] + [end], strict=False))


def arrange(data: bytes, braces: Iterable[int]) -> Layout | None:
    """Return the layout of a file with the given braces, or None if they are not balanced."""
    segments: list[Span] = []
    blocks: list[Block] = []
    containers: list[Container] = []
    parents: list[int] = []
    stack: list[tuple[int, int]] = []
    parent = -1
    depth = start = opened = 0
    for at in braces:
        if data[at] == _OPEN:
            if depth:
                depth += 1
                continue
            segments.append((start, at))
            parents.append(parent)
            if _opens_container(data[start:at]):
                parent = len(segments) - 1
                stack.append((parent, at))
                start = at + 1
            else:
                depth, opened = 1, at
        elif depth:
            depth -= 1
            if not depth:
                blocks.append(Block(opened, at + 1, len(segments) - 1))
                start = at + 1
        elif not stack:
            return None
        else:
            segments.append((start, at))
            parents.append(parent)
            containers.append(Container(*stack.pop(), at))
            parent = stack[-1][0] if stack else -1
            start = at + 1
    if stack or depth:
        return None
    segments.append((start, len(data)))
    parents.append(-1)
    return Layout(segments, blocks, containers, parents)


@lru_cache(20_000)
def _opens_container(header: bytes) -> bool:
    """Return whether the text before a brace opens a type or namespace instead of a function.

    The result is cached because versions of a file share most of these texts.
    """
    return _CONTAINER.search(header) is not None


def near(
    data: bytes, layout: Layout, line_starts: Sequence[int], places: Sequence[tuple[int, int]], margin: int
) -> list[Span]:
    """Return the spans that a parser has to read, in order, for some lines of a file.

    `places` are the ranges of lines [first, last) of interest; `margin` lines around each of them are added.
    """
    keep = join([_widen(line_starts, first, last, margin) for first, last in places])
    blocks = [at for span in keep for at in _met(layout.blocks, *span)]
    segments = [at for span in keep for at in _met(layout.segments, *span)]
    return layout.around(data, blocks=blocks, segments=segments)


def join(spans: list[Span]) -> list[Span]:
    """Return the spans in order, with adjacent and overlapping spans merged and empty spans left out."""
    joined: list[Span] = []
    for low, high in sorted(spans):
        if low >= high:
            continue
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def without(spans: Iterable[Span], holes: Sequence[Span]) -> list[Span]:
    """Return the spans without the holes; both are in order."""
    parts: list[Span] = []
    for low, high in spans:
        for start, end in holes:
            if low < end and start < high:
                parts.append((low, start))
                low = max(low, end)
        parts.append((low, high))
    return [(low, high) for low, high in parts if low < high]


def _met(spans: Sequence[tuple[int, ...]], low: int, high: int) -> range:
    """Return the indices of the spans that share a byte with [low, high).

    The spans must be in order and must not overlap.
    """
    first = bisect_left(spans, (low,))
    if first and spans[first - 1][1] > low:
        first -= 1
    return range(first, bisect_left(spans, (high,)))


def _widen(line_starts: Sequence[int], first: int, last: int, margin: int) -> Span:
    end = len(line_starts) - 1
    return line_starts[min(end, max(0, first - margin))], line_starts[min(end, last + margin)]
