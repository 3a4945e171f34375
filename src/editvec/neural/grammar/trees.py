"""The two trees of an edit, with the tokens that a model sees."""

from __future__ import annotations

from editvec.core.edit import Edit, Tokens, Version
from editvec.neural.grammar.grammar import UnseenError
from editvec.syntax import languages, tree
from editvec.syntax.languages import Language
from editvec.syntax.parse import parse_fragment
from editvec.syntax.tree import Tree

_EMPTY = "empty"
"""The kind of a token without text."""


def edit_trees(edit: Edit, *, parsed: bool = False) -> tuple[Tree, Tree]:
    """Return the trees of before and after.

    These are the trees that came with the data. If there are none, or with `parsed`, they are tree-sitter's.

    Raises:
        UnseenError: The edit has no trees.
    """
    return before_tree(edit, parsed=parsed), _tree(edit, edit.after, edit.model_after, parsed)


def before_tree(edit: Edit, *, parsed: bool = False) -> Tree:
    """Return the tree of before.

    Raises:
        UnseenError: The edit has no tree.
    """
    return _tree(edit, edit.before, edit.model_before, parsed)


def _tree(edit: Edit, version: Version, tokens: Tokens, parsed: bool) -> Tree:
    """Return the tree of a version of an edit, with the given tokens."""
    if version.tree is not None and not parsed:
        return tree.loads(version.tree)
    language = languages.get(edit.language)
    if not isinstance(language, Language):
        raise UnseenError(f"{edit.language} has no trees")
    # Published data can contain tokens without text, such as the omitted size of `new object[]`; parsers do not.
    real = tuple(token for token in version.tokens if token)
    found = parse_fragment(language, version.text)
    if found is None or found.tokens() != real:
        # In published data, some spaces are missing from the text. The tokens are correct.
        found = parse_fragment(language, " ".join(real)) or found
    if found is None:
        raise UnseenError("its text does not parse on its own")
    if found.tokens() != real:
        raise UnseenError("its tokens, parsed on their own, differ from those in its file")
    (whole,) = _with_tokens(found, tokens, [at for at, token in enumerate(version.tokens) if token])
    if whole.tokens() != tokens:
        raise UnseenError("its first token has no text")
    return whole


def _with_tokens(node: Tree, tokens: Tokens, places: list[int]) -> list[Tree]:
    """Return the node with new tokens, as a list of siblings.

    The text of the i-th token of the tree is at `places[i]` of `tokens`. Tokens between these have no text and become
    siblings after the token.
    """
    if not node.leaf:
        inside = [each for child in node.children for each in _with_tokens(child, tokens, places)]
        return [Tree(node.kind, node.field, tuple(inside))]
    first = places[node.position]
    behind = places[node.position + 1] if node.position + 1 < len(places) else len(tokens)
    own = Tree(node.kind, node.field, (), tokens[first], first, True)
    return [own, *(Tree(_EMPTY, "", (), tokens[at], at, True) for at in range(first + 1, behind))]
