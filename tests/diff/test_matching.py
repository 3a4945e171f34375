"""The matching of trees: tokens as they are aligned, inner nodes where everything below is equal."""

from __future__ import annotations

from hypothesis import given

from editvec.diff import align, match
from editvec.neural.grammar import edit_trees
from editvec.syntax.snippet import snippet_edit
from editvec.syntax.tree import Tree
from tests.neural.test_grammar import TREES


def _shown(before: str, after: str) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    trees = edit_trees(snippet_edit(before, after, "csharp"))
    nodes = [tree.nodes() for tree in trees]
    found = match(*trees, align(trees[0].tokens(), trees[1].tokens()))

    def text(one: int, other: int) -> tuple[str, str]:
        return " ".join(nodes[0][one].tokens()), " ".join(nodes[1][other].tokens())

    return {text(*pair) for pair in found.equal}, {text(*pair) for pair in found.replaced}


def test_equal_subtrees_match_and_what_holds_a_change_does_not() -> None:
    equal, replaced = _shown("F(a.B, c);", "G(a.B, c, 0);")
    assert ("VAR0 . B", "VAR0 . B") in equal
    assert ("F", "G") in replaced
    assert not any("F" in one.split() or "0" in other.split() for one, other in equal)


@given(before=TREES, after=TREES)
def test_what_matches_is_equal_and_matches_once(before: Tree, after: Tree) -> None:
    found = match(before, after, align(before.tokens(), after.tokens()))
    first, second = before.nodes(), after.nodes()
    for one, other in found.equal:
        assert first[one].kind == second[other].kind or first[one].leaf
        assert first[one].tokens() == second[other].tokens()
    for one, other in found.replaced:
        assert first[one].leaf
        assert second[other].leaf
        assert first[one].text != second[other].text
    for side in (0, 1):
        places = [pair[side] for pair in found.equal]
        assert len(places) == len(set(places))


@given(tree=TREES)
def test_a_tree_matches_itself(tree: Tree) -> None:
    found = match(tree, tree, align(tree.tokens(), tree.tokens()))
    nodes = tree.nodes()
    assert {one for one, _ in found.equal} == {place for place, node in enumerate(nodes) if node.tokens()}
    assert all(one == other for one, other in found.equal)
