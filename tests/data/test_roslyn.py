"""Roslyn trees: JSON → Tree → JSON is the identity, and a tree's tokens are the token list."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.data import roslyn
from editvec.syntax import tree
from editvec.syntax.tree import LIST, Tree


def token(value: str | None, position: int) -> dict[str, Any]:
    return {"Constructor": "SyntaxToken", "Value": value, "Position": position}


def node(kind: str, **fields: Any) -> dict[str, Any]:
    return {"Constructor": kind, "Fields": fields}


CALL = node(
    "BlockSyntax",
    OpenBraceToken=token("{", -1),
    Statements=[
        node(
            "LocalDeclarationStatementSyntax",
            Modifiers=[],
            Name=node("IdentifierNameSyntax", Identifier=token("f", 2)),
            Open=token("(", 3),
            Arguments=[
                node("ArgumentSyntax", NameColon=None, Ref=token("", -1), Value=token(text, place))
                for text, place in (("a", 4), ("b", 6))
            ],
            Close=token(")", 8),
            Semicolon=token(";", 9),
        )
    ],
    CloseBraceToken=token("}", -1),
)  # fmt: skip
TOKENS = ("await", "using", "f", "(", "a", ",", "b", ",", ")", ";")


def find(found: Tree, kind: str) -> Tree:
    return next(child for child in _nodes(found) if child.kind == kind)


def _nodes(found: Tree) -> list[Tree]:
    return [found, *(below for child in found.children for below in _nodes(child))]


def test_lost_tokens_are_put_back_and_left_out_again() -> None:
    made = roslyn.from_json(CALL, TOKENS)
    assert made.tokens() == TOKENS
    assert roslyn.to_json(made) == CALL


def test_a_separator_stands_in_its_list() -> None:
    made = roslyn.from_json(CALL, TOKENS)
    lists = [child for child in _nodes(made) if child.kind == LIST and child.field == "Arguments"]
    assert [child.text or child.kind for child in lists[0].children] == ["ArgumentSyntax", ",", "ArgumentSyntax"]


def test_a_leading_keyword_stands_in_its_statement() -> None:
    statement = find(roslyn.from_json(CALL, TOKENS), "LocalDeclarationStatementSyntax")
    assert statement.tokens()[:3] == ("await", "using", "f")


def test_several_missing_tokens_may_claim_one_position() -> None:
    broken = node("BlockSyntax", Statements=[node("X", A=token("a", 0), B=token("", 3), C=token("", 3))])
    tokens = ("a", "", "", "")
    made = roslyn.from_json(broken, tokens)
    assert made.tokens() == tokens
    assert roslyn.to_json(made) == broken


def test_absent_tokens_keep_their_value() -> None:
    for value in ("", None):
        made = roslyn.from_json(node("X", A=token(value, -1), B=token("b", 0)), ("b",))
        assert roslyn.to_json(made) == node("X", A=token(value, -1), B=token("b", 0))


@pytest.mark.parametrize(
    ("bad", "tokens"),
    [
        (node("X", A=token("a", 0)), ("b",)),
        (node("X", A=token("a", 5)), ("a",)),
        (node("X", A=token("b", 1), B=token("a", 0)), ("a", "b")),
        ({"Constructor": "X"}, ()),
        ({"Fields": {}}, ()),
        ("text", ()),
    ],
)
def test_a_tree_that_disagrees_is_refused(bad: Any, tokens: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"tree"):
        roslyn.from_json(bad, tokens)


def test_a_very_deep_tree_is_refused_not_a_crash() -> None:
    deep: dict[str, Any] = token("a", 0)
    for _ in range(5000):
        deep = node("X", A=deep)
    with pytest.raises(ValueError, match="deeper"):
        roslyn.from_json(deep, ("a",))


trees = st.recursive(
    st.builds(lambda text: Tree("leaf", "f", (), text, 0, True), st.text(max_size=3)),
    lambda inner: st.builds(lambda children: Tree("node", "g", tuple(children)), st.lists(inner, max_size=3)),
)


@given(trees)
def test_dumps_and_loads(made: Tree) -> None:
    assert tree.loads(tree.dumps(made)) == made
