"""Whether what a match writes means the same where it will stand: `x + y` for `add(x, y)` does not in `2 * add(a, b)`.

It must be read as a whole again: no node of the new tree may begin in front of it and end inside, or begin inside and
end behind. Where one does, brackets are put around it; where that does not help, nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence

import tree_sitter as ts

from editvec.core.match import Match
from editvec.core.splice import apply_matches
from editvec.syntax.cst import num_errors, parse
from editvec.syntax.languages import Language


def fitting(language: Language, data: bytes, matches: Sequence[Match]) -> list[Match]:
    """Those of some matches, in order and apart, that are read as a whole where they stand, in brackets where need
    be. What is in code that does not parse, before or after, is not judged."""
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
    """Which of the matches would not be read as a whole."""
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
    """Whether a node has some of [start, end) and something beside it, but not all of it."""
    node = root
    while True:
        touching = [child for child in node.children if child.start_byte < end and start < child.end_byte]
        if len(touching) != 1 or not (touching[0].start_byte <= start and end <= touching[0].end_byte):
            return any(child.start_byte < start or child.end_byte > end for child in touching)
        (node,) = touching
