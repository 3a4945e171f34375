"""Precedence: whether what a match writes keeps its meaning where it will stand, and brackets if it needs them.

For example, `x + y` for `add(x, y)` does not keep its meaning in `2 * add(a, b)`. What is written must be parsed as a
whole: no node of the new tree may begin in front of it and end inside it, or begin inside it and end behind it. If a
node does, brackets are put around what is written. If brackets do not help, nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence

import tree_sitter as ts

from editvec.core.match import Match
from editvec.core.splice import apply_matches
from editvec.syntax.cst import num_errors, parse
from editvec.syntax.languages import Language


def bracketed(language: Language, data: bytes, matches: Sequence[Match]) -> list[Match]:
    """Return the matches that are parsed as a whole where they stand, with brackets where they need them.

    The matches must be in order and must not overlap. A match in code that does not parse, before or after, is not
    judged and is returned as it is.
    """
    torn = _torn(language, data, matches)
    if not torn:
        return list(matches)
    root, allowed = parse(language, data).root_node, num_errors(language, data)

    def parses(match: Match) -> bool:
        return num_errors(language, apply_matches(data, [match])) <= allowed

    torn = {at for at in torn if not _is_torn(root, matches[at].start, matches[at].end) and parses(matches[at])}
    tried = [
        match._replace(replacement=f"({match.replacement})") if at in torn else match
        for at, match in enumerate(matches)
    ]
    still = _torn(language, data, tried)
    return [match for at, match in enumerate(tried) if at not in torn or (at not in still and parses(match))]


def _torn(language: Language, data: bytes, matches: Sequence[Match]) -> set[int]:
    """Return the positions of the matches that would not be parsed as a whole."""
    root = parse(language, apply_matches(data, matches)).root_node
    found = set()
    shift = 0
    for at, match in enumerate(matches):
        text = (match.replacement or "").encode()
        start = match.start + shift
        shift += len(text) - (match.end - match.start)
        inner = text.strip()
        start += len(text) - len(text.lstrip())
        if inner and _is_torn(root, start, start + len(inner)):
            found.add(at)
    return found


def _is_torn(root: ts.Node, start: int, end: int) -> bool:
    """Return whether a node contains some of [start, end) and something beside it, but not all of it."""
    node = root
    while True:
        touching = [child for child in node.children if child.start_byte < end and start < child.end_byte]
        if len(touching) != 1 or not (touching[0].start_byte <= start and end <= touching[0].end_byte):
            return any(child.start_byte < start or child.end_byte > end for child in touching)
        (node,) = touching
