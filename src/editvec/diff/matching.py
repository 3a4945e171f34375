"""Matching of an edit's two trees by the rule of the paper (section 3.2).

Tokens match according to their alignment. Inner nodes match if all the tokens below them are equal.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from editvec.diff.alignment import Alignment, Tag
from editvec.syntax.tree import Tree


class Matching(NamedTuple):
    """Pairs of indices into `Tree.nodes()`, the first of before and the second of after."""

    equal: tuple[tuple[int, int], ...]
    replaced: tuple[tuple[int, int], ...]


def match(before: Tree, after: Tree, alignment: Alignment) -> Matching:
    """Return the matching of two trees, given the alignment of their tokens."""
    spans, others = _spans(before), _spans(after)
    where: dict[tuple[str, bool, int, int], list[int]] = defaultdict(list)
    for place, (kind, leaf, low, high) in reversed(list(enumerate(others))):
        where[kind, leaf, low, high].append(place)
    twins = {
        place.before: place.after
        for place in alignment.positions
        if place.tag is Tag.EQUAL and place.before is not None and place.after is not None
    }
    ends: dict[int, int] = {}
    for one in sorted(twins, reverse=True):
        # The end of the run of equal tokens that begins here and is contiguous in both versions.
        ends[one] = ends[one + 1] if twins.get(one + 1) == twins[one] + 1 else one + 1
    tokens = ({low: place for place, (_, leaf, low, _) in enumerate(found) if leaf} for found in (spans, others))
    first, second = tokens
    equal = [(first[one], second[other]) for one, other in twins.items() if one in first and other in second]
    for place, (kind, leaf, low, high) in enumerate(spans):
        if leaf or low == high:
            continue
        start = twins.get(low)
        if start is not None and ends[low] >= high:
            # If several nodes span the same tokens, outer nodes match outer nodes.
            candidates = where[kind, leaf, start, start + high - low]
            if candidates:
                equal.append((place, candidates.pop()))
    replaced = [
        (first[place.before], second[place.after])
        for place in alignment.positions
        if place.tag is Tag.REPLACED and place.before in first and place.after in second
    ]
    return Matching(tuple(sorted(equal)), tuple(replaced))


def _spans(tree: Tree) -> list[tuple[str, bool, int, int]]:
    """Return for each node its kind, whether it is a token, and the range of tokens that it spans."""
    spans: list[tuple[str, bool, int, int]] = []
    at = 0

    def visit(node: Tree) -> None:
        nonlocal at
        if node.is_absent or (node.leaf and node.position < 0):
            return
        mine, start = len(spans), at
        spans.append((node.kind, node.leaf, start, start))
        if node.leaf:
            at += 1
        for child in node.children:
            visit(child)
        spans[mine] = (node.kind, node.leaf, start, at)

    visit(tree)
    return spans
