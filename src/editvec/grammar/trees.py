"""The two trees of an edit, whose tokens are the ones that a model sees."""

from __future__ import annotations

from editvec.edit import Edit, Tokens, Version
from editvec.grammar.grammar import UnseenError
from editvec.syntax import languages, tree
from editvec.syntax.fragment import parse_fragment
from editvec.syntax.languages import Language
from editvec.syntax.tree import Tree


def edit_trees(edit: Edit) -> tuple[Tree, Tree]:
    """The trees before and after: those that the data came with, or else parsed. UnseenError where there are none."""
    return before_tree(edit), _tree(edit, edit.after, edit.model_after)


def before_tree(edit: Edit) -> Tree:
    """The tree before alone."""
    return _tree(edit, edit.before, edit.model_before)


def _tree(edit: Edit, version: Version, tokens: Tokens) -> Tree:
    if version.tree is not None:
        return tree.loads(version.tree)
    language = languages.get(edit.language)
    if not isinstance(language, Language):
        raise UnseenError(f"{edit.language} has no trees")
    found = parse_fragment(language, version.text)
    if found is None:
        raise UnseenError("its text does not parse by itself")
    if found.tokens() != version.tokens:
        raise UnseenError("its tokens by itself are not those that it has in its file")
    return _with_tokens(found, tokens)


def _with_tokens(node: Tree, tokens: Tokens) -> Tree:
    if node.leaf:
        return Tree(node.kind, node.field, (), tokens[node.position], node.position, True)
    return Tree(node.kind, node.field, tuple([_with_tokens(child, tokens) for child in node.children]))
