"""The tree type for both tree-sitter's trees and Roslyn data.

A `Tree` is a node with a kind, the name of the field that it fills in its parent ("" for none), and children. A leaf
is a token with its text and its position in the token list. Two kinds do not come from a grammar: `LIST` groups the
children of a repeated field, and `ABSENT` stands for a missing optional child. A negative position marks a leaf that
is not among the tokens (an optional token that was left out, or the braces of a wrapping block).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

LIST = "*"
ABSENT = "?"
NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Tree:
    """A node (with children and without text) or a leaf (with a text and without children)."""

    kind: str
    field: str = ""
    children: tuple[Tree, ...] = ()
    text: str | None = None
    position: int = NOWHERE
    leaf: bool = False

    def leaves(self) -> Iterator[Tree]:
        """Yield every leaf below the node, left to right, including those that are not tokens."""
        stack = [self]
        while stack:
            node = stack.pop()
            if node.leaf:
                yield node
            else:
                stack.extend(reversed(node.children))

    def nodes(self) -> list[Tree]:
        """Return the nodes and tokens, parents before children, left to right.

        Absent children and leaves that are not tokens are left out.
        """
        found: list[Tree] = []
        stack = [self]
        while stack:
            node = stack.pop()
            if not node.is_absent and (not node.leaf or node.position >= 0):
                found.append(node)
                stack.extend(reversed(node.children))
        return found

    def tokens(self) -> tuple[str, ...]:
        """Return the tokens that the tree spans, in order."""
        return tuple(leaf.text or "" for leaf in self.leaves() if leaf.position >= 0)

    def size(self) -> int:
        """Return the number of nodes in the tree, including tokens, without lists and absent children."""
        if self.is_absent or (self.leaf and self.position < 0):
            return 0
        own = 0 if self.is_list else 1
        return own + sum(child.size() for child in self.children)

    @property
    def is_absent(self) -> bool:
        """Return whether the node stands for a missing child (a leaf of that kind is the token `?`)."""
        return self.kind == ABSENT and not self.leaf

    @property
    def is_list(self) -> bool:
        """Return whether the node groups the children of a repeated field (a leaf of that kind is the token `*`)."""
        return self.kind == LIST and not self.leaf


def dumps(tree: Tree) -> str:
    """Return the tree as one compact line of JSON for the store."""
    return orjson.dumps(_pack(tree)).decode()


def loads(text: str) -> Tree:
    """Return the tree that `dumps` wrote."""
    return _unpack(orjson.loads(text))


def _pack(tree: Tree) -> list[Any]:
    if tree.leaf:
        return [tree.kind, tree.field, tree.text, tree.position]
    return [tree.kind, tree.field, [_pack(child) for child in tree.children]]


def _unpack(packed: list[Any]) -> Tree:
    if len(packed) == 4:
        return Tree(packed[0], packed[1], (), packed[2], packed[3], True)
    return Tree(packed[0], packed[1], tuple([_unpack(child) for child in packed[2]]))
