"""The layout of a file with braces, without a parser: where its types and its function bodies begin and end.

An edit concerns one member of a file; the other members' bodies need not be parsed to cut it out. `scan` finds the
blocks by their braces (strings and comments respected) in a fraction of a parser's time, and `near` says which bytes
a parser has to read for some places: the members there, with the headers and braces of the types around them.
Offsets and lines stay what they are. Where braces do not add up there is no layout, and all is parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

_LEXICAL = re.compile(
    rb"""[^"'`/{}]*+(?:
      (?P<open>\{) | (?P<close>\})
    | //[^\n]*+ | /\*(?:[^*]|\*(?!/))*+\*/
    | (?<=@)"(?:[^"]|"")*+" | (?<=\#)".*?"\# | (?<=R)"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"
    | "{3}.*?"{3} | "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\[^\n]{1,10}?)' | `(?:[^`\\]|\\.)*+`
    | . | \Z )""",
    re.X | re.S,
)
"""Strings, characters and comments in any of the languages with braces; only the braces are named."""
_CONTAINER = re.compile(
    rb"\b(?:namespace|class|struct|interface|enum|record|union|extern|impl|trait|mod|module|type)\b\s*[\w.<:\"(]"
)

_LEAD = re.compile(rb"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|(?:using|import|package)\s[^;{}()=\n]*+;)*+")

Span = tuple[int, int]


class Container(NamedTuple):
    """A type or namespace: the segment that its header ends, and its two braces."""

    segment: int
    open: int
    close: int


class Block(NamedTuple):
    """A function's body, or another block outside all functions: the segment that its header ends, and its span."""

    segment: int
    start: int
    end: int


class Layout(NamedTuple):
    """The file as segments of text outside all blocks, the blocks, and the containers around both."""

    segments: list[Span]
    blocks: list[Block]
    containers: list[Container]

    def skeleton(self, data: bytes) -> list[Span]:
        """What declares names outside the blocks: the segments without comments and imports at their start, the
        containers' braces, and the blocks' braces with nothing between them."""
        spans = [_header(data, low, high) for low, high in self.segments]
        spans += [(place, place + 1) for container in self.containers for place in container[1:]]
        spans += [
            span for block in self.blocks for span in ((block.start, block.start + 1), (block.end - 1, block.end))
        ]
        return join(spans)


def scan(data: bytes) -> Layout | None:
    """The layout of a file; None when its braces do not add up."""
    segments: list[Span] = []
    blocks: list[Block] = []
    containers: list[Container] = []
    stack: list[tuple[int, int]] = []
    depth = start = opened = 0
    for match in _LEXICAL.finditer(data):
        kind = match.lastgroup
        if kind == "open":
            at = match.end() - 1
            if depth:
                depth += 1
                continue
            segments.append((start, at))
            if _CONTAINER.search(data, start, at):
                stack.append((len(segments) - 1, at))
                start = at + 1
            else:
                depth, opened = 1, at
        elif kind == "close":
            at = match.end() - 1
            if depth:
                depth -= 1
                if not depth:
                    blocks.append(Block(len(segments) - 1, opened, at + 1))
                    start = at + 1
                continue
            if not stack:
                return None
            segments.append((start, at))
            containers.append(Container(*stack.pop(), at))
            start = at + 1
    if stack or depth:
        return None
    segments.append((start, len(data)))
    return Layout(segments, blocks, containers)


def near(
    data: bytes, layout: Layout, line_starts: Sequence[int], places: Sequence[tuple[int, int]], margin: int
) -> list[Span]:
    """What a parser has to read, in order, for the lines [first, last) of interest and some lines around them."""
    keep = join([_widen(line_starts, first, last, margin) for first, last in places])
    kept = {at for at, block in enumerate(layout.blocks) if _meets(keep, block.start, block.end)}
    segments = {at for at, (low, high) in enumerate(layout.segments) if _meets(keep, low, high)}
    return _around(data, layout, kept, segments)


def _around(data: bytes, layout: Layout, blocks: set[int], segments: set[int]) -> list[Span]:
    """Those blocks and segments, with the headers of the blocks and the braces of all containers around them."""
    wanted = segments | {layout.blocks[at].segment for at in blocks}
    spans: list[Span] = [layout.blocks[at][1:] for at in blocks]
    for at, block in enumerate(layout.blocks):
        if block.segment in wanted and at not in blocks:
            spans += [(block.start, block.start + 1), (block.end - 1, block.end)]
    chosen = join(spans + [layout.segments[at] for at in wanted])
    for container in layout.containers:
        if _meets(chosen, container.open, container.close) or container.segment in wanted:
            wanted.add(container.segment)
            spans += [(container.open, container.open + 1), (container.close, container.close + 1)]
    headers = [_header(data, *layout.segments[at]) for at in wanted - segments]
    return join(spans + headers + [layout.segments[at] for at in segments])


def _header(data: bytes, low: int, high: int) -> Span:
    """A segment that is wanted only for what it ends with, without the comments and imports at its start."""
    lead = _LEAD.match(data, low, high)
    return (lead.end() if lead else low), high


def join(spans: list[Span]) -> list[Span]:
    """The spans in order, those that touch made one, empty ones left out."""
    joined: list[Span] = []
    for low, high in sorted(spans):
        if low >= high:
            continue
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def _meets(spans: Sequence[Span], low: int, high: int) -> bool:
    """Whether one of the spans, which are in order and apart, shares a byte with [low, high)."""
    at = bisect_left(spans, (high,)) - 1
    return at >= 0 and spans[at][1] > low


def _widen(line_starts: Sequence[int], first: int, last: int, margin: int) -> Span:
    end = len(line_starts) - 1
    return line_starts[min(end, max(0, first - margin))], line_starts[min(end, last + margin)]
