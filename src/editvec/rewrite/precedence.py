"""Precedence: whether what a match writes keeps its meaning where it will stand, and brackets if it needs them.

For example, `x + y` for `add(x, y)` does not keep its meaning in `2 * add(a, b)`. What is written must be parsed as a
whole: no node of the new tree may begin in front of it and end inside it, or begin inside it and end behind it. If a
node does, brackets are put around what is written. If brackets do not help, nothing is written.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import tree_sitter as ts

from editvec.core.match import Match
from editvec.core.splice import apply_matches
from editvec.syntax.cst import num_errors, parse
from editvec.syntax.languages import Language

_MAX_PARSES = 200
"""Maximum number of parses that look for the matches which break a file."""
_MANY = 32
"""Number of children from which on the children of a node are kept."""


def bracketed(language: Language, data: bytes, matches: Sequence[Match]) -> list[Match]:
    """Return the matches that are parsed as a whole where they stand, with brackets where they need them.

    The matches must be in order and must not overlap. A match in code that does not parse, before or after, is not
    judged and is returned as it is.
    """
    torn = _torn(language, data, matches)
    if not torn:
        return list(matches)
    covering = _Covering(parse(language, data).root_node)
    whole = [at for at in sorted(torn) if not covering.is_torn(matches[at].start, matches[at].end)]
    torn = set(_sound_numbers(language, data, matches, whole))
    tried = [
        match._replace(replacement=f"({match.replacement})") if at in torn else match
        for at, match in enumerate(matches)
    ]
    helped = sorted(torn - _torn(language, data, tried))
    kept = set(range(len(matches))) - torn | set(_sound_numbers(language, data, tried, helped))
    return [match for at, match in enumerate(tried) if at in kept]


def sound_matches(language: Language, data: bytes, matches: Sequence[Match]) -> list[Match]:
    """Return the matches with which a text parses as well as before.

    The matches must be in order and must not overlap. They are tried together, then by halves, so that many matches
    take few parses. After too many parses, a group that breaks the text is left out as a whole.
    """
    return [matches[at] for at in _sound_numbers(language, data, matches, range(len(matches)))]


def _sound_numbers(language: Language, data: bytes, matches: Sequence[Match], chosen: Sequence[int]) -> list[int]:
    """Return the positions among `chosen` of the matches with which a text parses as well as before."""
    allowed = num_errors(language, data)
    kept: list[int] = []
    waiting = [list(chosen)] if chosen else []
    for _ in range(_MAX_PARSES):
        if not waiting:
            break
        group = waiting.pop()
        if num_errors(language, apply_matches(data, [matches[at] for at in group])) <= allowed:
            kept += group
        elif len(group) > 1:
            middle = len(group) // 2
            waiting += (group[middle:], group[:middle])
    return kept


def _torn(language: Language, data: bytes, matches: Sequence[Match]) -> set[int]:
    """Return the positions of the matches that would not be parsed as a whole."""
    covering = _Covering(parse(language, apply_matches(data, matches)).root_node)
    found = set()
    shift = 0
    for at, match in enumerate(matches):
        text = (match.replacement or "").encode()
        start = match.start + shift
        shift += len(text) - (match.end - match.start)
        inner = text.strip()
        start += len(text) - len(text.lstrip())
        if inner and covering.is_torn(start, start + len(inner)):
            found.add(at)
    return found


class _Covering:
    """The nodes of a tree that cover a span; a node with many children is searched by bisection."""

    def __init__(self, root: ts.Node) -> None:
        self._root = root
        self._known: dict[int, tuple[list[ts.Node], list[int], list[int]]] = {}

    def is_torn(self, start: int, end: int) -> bool:
        """Return whether a node contains some of [start, end) and something beside it, but not all of it."""
        node = self._root
        while True:
            touching = self._touching(node, start, end)
            if len(touching) != 1 or not (touching[0].start_byte <= start and end <= touching[0].end_byte):
                return any(child.start_byte < start or child.end_byte > end for child in touching)
            (node,) = touching

    def _touching(self, node: ts.Node, start: int, end: int) -> list[ts.Node]:
        if node.child_count < _MANY:
            return [child for child in node.children if child.start_byte < end and start < child.end_byte]
        if node.id not in self._known:
            children = node.children
            ends = [child.end_byte for child in children]
            self._known[node.id] = children, [child.start_byte for child in children], ends
        children, starts, ends = self._known[node.id]
        return children[bisect_right(ends, start) : bisect_left(starts, end)]
