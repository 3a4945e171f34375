"""The two trees of an edit in numbers: nodes in the order of `Tree.nodes()`, and which of them match."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from editvec.diff import Alignment, match
from editvec.grammar import Grammar
from editvec.syntax.tree import Tree

Ids = NDArray[np.int32]
NO_PARENT = NO_TOKEN = -1


@dataclass(frozen=True, slots=True)
class TreePair:
    """Before and after as trees. A node's kind is an index into the grammar's kinds, from 1; 0 is a kind that the
    grammar does not know."""

    before_kinds: Ids
    before_parents: Ids
    """The place of each node's parent, or NO_PARENT."""
    before_tokens: Ids
    """For a node that is a token its place among the tokens, else NO_TOKEN."""
    after_kinds: Ids
    after_parents: Ids
    after_tokens: Ids
    equal_before: Ids
    """Nodes that match as equal: their places before …"""
    equal_after: Ids
    """… and after."""
    replaced_before: Ids
    replaced_after: Ids


def pair_of(before: Tree, after: Tree, alignment: Alignment, grammar: Grammar) -> TreePair:
    """Two trees in numbers."""
    found = match(before, after, alignment)
    return TreePair(
        *_numbers(before, grammar),
        *_numbers(after, grammar),
        *(_array([pair[side] for pair in pairs]) for pairs in (found.equal, found.replaced) for side in (0, 1)),
    )


def _numbers(tree: Tree, grammar: Grammar) -> tuple[Ids, Ids, Ids]:
    kinds: list[int] = []
    parents: list[int] = []
    tokens: list[int] = []
    stack = [(tree, NO_PARENT)]
    num_tokens = 0
    while stack:
        node, parent = stack.pop()
        if node.is_absent or (node.leaf and node.position < 0):
            continue
        at = len(kinds)
        kinds.append(grammar.kind_numbers.get(node.kind, 0))
        parents.append(parent)
        tokens.append(num_tokens if node.leaf else NO_TOKEN)
        num_tokens += node.leaf
        stack.extend((child, at) for child in reversed(node.children))
    return _array(kinds), _array(parents), _array(tokens)


def _array(values: list[int]) -> Ids:
    return np.array(values, np.int32)
