"""The two trees of an edit, whose tokens are the ones that a model sees."""

from __future__ import annotations

from editvec.core.edit import Edit, Tokens, Version
from editvec.neural.grammar.grammar import UnseenError
from editvec.syntax import languages, tree
from editvec.syntax.languages import Language
from editvec.syntax.parse import parse_fragment
from editvec.syntax.tree import Tree

_EMPTY = "empty"
"""The kind of a token without a text."""


def edit_trees(edit: Edit, *, parsed: bool = False) -> tuple[Tree, Tree]:
    """Return the trees before and after; UnseenError where there are none.

    They are those that the data came with, or, where it has none or with `parsed`, tree-sitter's.
    """
    return before_tree(edit, parsed=parsed), _tree(edit, edit.after, edit.model_after, parsed)


def before_tree(edit: Edit, *, parsed: bool = False) -> Tree:
    """Return the tree before alone."""
    return _tree(edit, edit.before, edit.model_before, parsed)


def _tree(edit: Edit, version: Version, tokens: Tokens, parsed: bool) -> Tree:
    if version.tree is not None and not parsed:
        return tree.loads(version.tree)
    language = languages.get(edit.language)
    if not isinstance(language, Language):
        raise UnseenError(f"{edit.language} has no trees")
    # Published data can hold tokens without a text (the size that `new object[]` leaves out), which no parser gives.
    real = tuple(token for token in version.tokens if token)
    found = parse_fragment(language, version.text)
    if found is None or found.tokens() != real:
        # The text of published data lacks spaces here and there; its tokens are sound.
        found = parse_fragment(language, " ".join(real)) or found
    if found is None:
        raise UnseenError("its text does not parse by itself")
    if found.tokens() != real:
        raise UnseenError("its tokens by itself are not those that it has in its file")
    (whole,) = _with_tokens(found, tokens, [at for at, token in enumerate(version.tokens) if token])
    if whole.tokens() != tokens:
        raise UnseenError("it begins with a token without a text")
    return whole


def _with_tokens(node: Tree, tokens: Tokens, places: list[int]) -> list[Tree]:
    """Return the node with these tokens: its i-th text is at `places[i]`, those behind it without a text beside it."""
    if not node.leaf:
        inside = [each for child in node.children for each in _with_tokens(child, tokens, places)]
        return [Tree(node.kind, node.field, tuple(inside))]
    first = places[node.position]
    behind = places[node.position + 1] if node.position + 1 < len(places) else len(tokens)
    own = Tree(node.kind, node.field, (), tokens[first], first, True)
    return [own, *(Tree(_EMPTY, "", (), tokens[at], at, True) for at in range(first + 1, behind))]
