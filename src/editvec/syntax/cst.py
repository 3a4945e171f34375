"""Concrete syntax trees for templates: nodes with their bytes and tokens, without comments.

This module owns the trees that anti-unification compares. They keep the structure of tree-sitter's trees, also inside
strings, because ast-grep works on the same trees.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

import tree_sitter as ts

from editvec.syntax.facts import facts_of
from editvec.syntax.languages import Language
from editvec.syntax.token import decode

_LARGE = 6_000
"""The size in bytes above which a node is too large to be part of a pattern."""

Key = tuple[str, ...]
"""The content of a node: the texts of its tokens."""


class Node:
    """A node of a parsed text, with the bytes [start, end) and the tokens [low, high) that it spans."""

    __slots__ = (
        "below",
        "children",
        "code",
        "end",
        "field",
        "high",
        "kind",
        "low",
        "named",
        "parent",
        "start",
        "whole",
    )

    def __init__(self, code: Cst, node: ts.Node, field: str, parent: Node | None) -> None:
        self.code = code
        self.kind = node.type
        self.field = field
        self.named = node.is_named
        self.parent = parent
        self.start, self.end = node.start_byte, node.end_byte
        self.low = self.high = len(code.tokens)
        self.children: list[Node] = []
        self.below: frozenset[tuple[str, Key]] | None = None
        self.whole = True
        """Whether the node has all its children; False if children far from the span were left out."""

    @property
    def text(self) -> str:
        """Return the bytes of the node as text."""
        return decode(self.code.data[self.start : self.end])

    @property
    def key(self) -> Key:
        """Return the texts of the node's tokens, which do not depend on white space."""
        return tuple(self.code.tokens[self.low : self.high])

    @property
    def is_leaf(self) -> bool:
        """Return whether the node is a token."""
        return not self.children

    def walk(self) -> Iterator[Node]:
        """Yield the node and all its descendants, parents before children, left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def contents(self) -> frozenset[tuple[str, Key]]:
        """Return the kinds and keys of the node and all its descendants."""
        if self.below is None:
            self.below = frozenset((node.kind, node.key) for node in self.walk())
        return self.below


def parse(language: Language, data: bytes) -> ts.Tree:
    """Return the tree-sitter tree of a whole text.

    Raises:
        LimitError: The text takes too long to parse.
    """
    return facts_of(language).parse(data)


def num_errors(language: Language, data: bytes) -> int:
    """Return the number of places in a text that the parser could not read."""
    return errors_in(parse(language, data).root_node)


def errors_in(root: ts.Node) -> int:
    """Return the number of places below a node that the parser could not read."""
    waiting = [root]
    errors = 0
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            errors += 1
        elif node.has_error:
            waiting += node.children
    return errors


class Cst:
    """A text and its tree; with a span, large nodes keep only the children that touch it."""

    def __init__(self, language: Language, data: bytes, span: tuple[int, int] | None = None) -> None:
        self.language = language
        self.data = data
        self.span = span or (0, len(data))
        self.tokens: list[str] = []
        self.spans: list[tuple[int, int]] = []
        """The bytes [start, end) of each token."""
        tree = parse(language, data)
        self.has_error = tree.root_node.has_error
        self.root = self._build(tree)

    def _build(self, tree: ts.Tree) -> Node:
        """Build the tree without comments and empty nodes.

        The function uses a stack instead of recursion, because files can be deeply nested.
        """
        comments = self.language.comments
        start, end = self.span
        root = Node(self, tree.root_node, "", None)
        open_nodes: list[tuple[Node, list[tuple[ts.Node, str]]]] = [(root, _children(tree.root_node))]
        while open_nodes:
            node, waiting = open_nodes[-1]
            if not waiting:
                open_nodes.pop()
                if not node.children and node.end > node.start and node is not root:
                    self.tokens.append(node.text)
                    self.spans.append((node.start, node.end))
                node.high = len(self.tokens)
                continue
            child, field = waiting.pop()
            low, high = child.start_byte, child.end_byte
            if child.type in comments or low == high or (not child.child_count and self.data[low:high].isspace()):
                continue
            if node.end - node.start > _LARGE and (high < start or low > end):
                node.whole = False
                continue
            below = Node(self, child, field, node)
            node.children.append(below)
            open_nodes.append((below, _children(child)))
        return root

    def token_at(self, offset: int) -> int:
        """Return the index of the first token that ends behind an offset."""
        return bisect_right(self._ends, offset)

    @cached_property
    def _ends(self) -> list[int]:
        return [end for _, end in self.spans]

    def around(self, low: int, high: int) -> list[Node]:
        """Return the nodes that contain the tokens [low, high), from the root down.

        For an empty range, these are the nodes that touch it.
        """
        found: list[Node] = []
        level = [self.root]
        while level:
            found += level
            level = [
                child
                for node in level
                for child in node.children
                if child.low <= low and high <= child.high and child.low < child.high
            ]
        return found


def _children(node: ts.Node) -> list[tuple[ts.Node, str]]:
    """Return the children with the names of their fields, in reverse order."""
    return [(child, node.field_name_for_child(at) or "") for at, child in enumerate(node.children)][::-1]
