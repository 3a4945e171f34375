"""The one tree type: what tree-sitter parses and what Roslyn data holds look the same from above.

A `Tree` is a node with a kind, the name of the field it fills in its parent ("" for none), and children; a leaf
is a token with its text and its position in the token list. Two kinds are ours: `LIST` groups the children of a
repeated field, `ABSENT` stands for an optional child that is not there. A negative position marks a leaf that is
not among the tokens (an optional token left out, or the braces of a wrapping block).
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
    """A node (children, no text) or a leaf (a text, no children)."""

    kind: str
    field: str = ""
    children: tuple[Tree, ...] = ()
    text: str | None = None
    position: int = NOWHERE
    leaf: bool = False

    def leaves(self) -> Iterator[Tree]:
        """Every leaf below, left to right, those that are not tokens too."""
        stack = [self]
        while stack:
            node = stack.pop()
            if node.leaf:
                yield node
            else:
                stack.extend(reversed(node.children))

    def nodes(self) -> list[Tree]:
        """The nodes and tokens, parents before children, left to right; what is absent or no token is none of them."""
        found: list[Tree] = []
        stack = [self]
        while stack:
            node = stack.pop()
            if not node.is_absent and (not node.leaf or node.position >= 0):
                found.append(node)
                stack.extend(reversed(node.children))
        return found

    def tokens(self) -> tuple[str, ...]:
        """The tokens that the tree spans, in order."""
        return tuple(leaf.text or "" for leaf in self.leaves() if leaf.position >= 0)

    def size(self) -> int:
        """How many nodes stand in the tree, tokens included, absent ones not."""
        if self.is_absent or (self.leaf and self.position < 0):
            return 0
        own = 0 if self.is_list else 1
        return own + sum(child.size() for child in self.children)

    @property
    def is_absent(self) -> bool:
        """Whether this stands for a child that is not there (a leaf of that kind is the token `?`)."""
        return self.kind == ABSENT and not self.leaf

    @property
    def is_list(self) -> bool:
        """Whether this groups the children of a repeated field (a leaf of that kind is the token `*`)."""
        return self.kind == LIST and not self.leaf


def dumps(tree: Tree) -> str:
    """The tree as one compact line of JSON, for the store."""
    return orjson.dumps(_pack(tree)).decode()


def loads(text: str) -> Tree:
    """The tree that `dumps` wrote."""
    return _unpack(orjson.loads(text))


def _pack(tree: Tree) -> list[Any]:
    if tree.leaf:
        return [tree.kind, tree.field, tree.text, tree.position]
    return [tree.kind, tree.field, [_pack(child) for child in tree.children]]


def _unpack(packed: list[Any]) -> Tree:
    if len(packed) == 4:
        return Tree(packed[0], packed[1], (), packed[2], packed[3], True)
    return Tree(packed[0], packed[1], tuple([_unpack(child) for child in packed[2]]))
