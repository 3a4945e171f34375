"""Lossless conversion between `Tree` and the JSON of Roslyn trees in the published data files.

The published trees lack some tokens: the separators of lists, and keywords that the extractor's grammar did not know
(`using` and `await` of a declaration, `static` of a lambda). The tokens therefore cannot be restored from a tree
alone. For this reason, reading also takes the token list. Every token that belongs to no leaf is inserted as a leaf of
the field `LOST` into the deepest node that spans both its neighbours; a leading keyword is inserted before the first
child of its statement. Writing omits these leaves. As a result, the tokens of the tree equal the token list, and the
JSON that is written equals the JSON that was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from editvec.syntax.tree import ABSENT, LIST, NOWHERE, Tree

TOKEN = "SyntaxToken"
LOST = "separator"

_LEADING = {
    "using": ("LocalDeclarationStatementSyntax",),
    "await": ("LocalDeclarationStatementSyntax", "ForEachStatementSyntax", "UsingStatementSyntax"),
    "static": ("ParenthesizedLambdaExpressionSyntax", "SimpleLambdaExpressionSyntax"),
}
"""Keywords that the extractor omitted, and the kinds of nodes whose first token they are."""

_MAX_DEPTH = 300
_GHOST = -2
"""Base of encoded positions: if several tokens of broken code have one position, the later get `_GHOST - position`."""


def from_json(node: Any, tokens: Sequence[str]) -> Tree:
    """Return the tree of a published `…CodeAST` value, with every token of `tokens` in it.

    Raises:
        ValueError: The value is not a valid tree, or the tree and the tokens disagree.
    """
    bare = _read(node, "", 0, set())
    claimed = [leaf.position for leaf in bare.leaves() if leaf.position >= 0]
    if claimed != sorted(set(claimed)) or (claimed and claimed[-1] >= len(tokens)):
        raise ValueError("the tree's token positions are not in order")
    missing = sorted(set(range(len(tokens))) - set(claimed))
    tree = _Mender(tokens).mend(bare, missing) if missing else bare
    if tree.tokens() != tuple(tokens):
        raise ValueError("the tree's tokens differ from the token list")
    return tree


def to_json(tree: Tree) -> Any:
    """Return the JSON value of a tree; the inverse of `from_json`."""
    if tree.kind == ABSENT:
        return None
    if tree.kind == LIST:
        return [to_json(child) for child in tree.children if child.field != LOST]
    if tree.leaf:
        position = tree.position if tree.position >= NOWHERE else _GHOST - tree.position
        return {"Constructor": tree.kind, "Value": tree.text, "Position": position}
    fields = {child.field: to_json(child) for child in tree.children if child.field != LOST}
    return {"Constructor": tree.kind, "Fields": fields}


def _read(node: Any, field: str, depth: int, claimed: set[int]) -> Tree:
    if depth > _MAX_DEPTH:
        raise ValueError(f"the tree is deeper than {_MAX_DEPTH} levels")
    if node is None:
        return Tree(ABSENT, field)
    if isinstance(node, list):
        return Tree(LIST, field, tuple([_read(child, "", depth + 1, claimed) for child in node]))
    try:
        kind = node["Constructor"]
        if kind == TOKEN:
            position = node["Position"]
            if position in claimed:
                position = _GHOST - position
            elif position >= 0:
                claimed.add(position)
            return Tree(kind, field, (), node["Value"], position, True)
        children = tuple([_read(child, name, depth + 1, claimed) for name, child in node["Fields"].items()])
    except (KeyError, TypeError, AttributeError):
        raise ValueError("a node of the tree has no valid Constructor, Fields, Value or Position") from None
    return Tree(kind, field, children)


class _Mender:
    """A helper that inserts missing tokens into a tree."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.spans: dict[int, tuple[int, int]] = {}

    def mend(self, tree: Tree, missing: list[int]) -> Tree:
        """Return the tree with the missing tokens inserted; `missing` are their positions in the token list."""
        self._measure(tree)
        return self._mend(tree, missing)

    def _measure(self, tree: Tree) -> tuple[int, int]:
        if tree.leaf:
            span = (tree.position, tree.position) if tree.position >= 0 else (1, 0)
        else:
            inner = [span for child in tree.children if (span := self._measure(child)) != (1, 0)]
            span = (inner[0][0], inner[-1][1]) if inner else (1, 0)
        self.spans[id(tree)] = span
        return span

    def _starts(self, tree: Tree, at: int) -> bool:
        """Return whether the missing token `at` can be the first token of this node, according to `_LEADING`."""
        return tree.kind in _LEADING.get(self.tokens[at], ())

    def _mend(self, tree: Tree, missing: list[int]) -> Tree:
        """Return the tree with missing tokens inserted: each in the child that spans it, else between children."""
        if tree.leaf or not missing:
            return tree
        rest = list(missing)
        children: list[Tree] = []
        for child in tree.children:
            first, last = self.spans[id(child)]
            if first > last:
                children.append(child)
                continue
            before = [at for at in rest if at < first]
            keep = self._leading(child, before)
            children += [self._lost(at) for at in before if at not in keep]
            within = keep + [at for at in rest if first <= at <= last]
            children.append(self._mend(child, within))
            rest = [at for at in rest if at > last]
        behind = [self._lost(at) for at in rest]
        place = len(children)
        while place and self.spans.get(id(children[place - 1])) == (1, 0):
            place -= 1
        children[place:place] = behind
        return Tree(tree.kind, tree.field, tuple(children))

    def _leading(self, child: Tree, before: list[int]) -> list[int]:
        """Return the missing tokens directly before `child` that belong inside it."""
        keep: list[int] = []
        expected = self.spans[id(child)][0] - 1
        for at in reversed(before):
            if at != expected or not self._accepts(child, at):
                break
            keep.insert(0, at)
            expected -= 1
        return keep

    def _accepts(self, tree: Tree, at: int) -> bool:
        if self._starts(tree, at):
            return True
        inner = next((c for c in tree.children if self.spans[id(c)] != (1, 0)), None)
        return inner is not None and not inner.leaf and self._accepts(inner, at)

    def _lost(self, at: int) -> Tree:
        return Tree(TOKEN, LOST, (), self.tokens[at], at, True)
