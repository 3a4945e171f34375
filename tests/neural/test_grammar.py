"""The laws of grammars: the oracle's actions build the tree, every beginning can be ended, nothing else is legal."""

from __future__ import annotations

import random
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from editvec.core.edit import Edit, Version
from editvec.core.errors import BadInputError
from editvec.neural.grammar import (
    Derivation,
    Grammar,
    SourceTree,
    TreeCp,
    UnseenError,
    derive,
    edit_trees,
    learn,
    replay,
)
from editvec.neural.grammar.derivation import Text
from editvec.neural.grammar.grammar import Choice, same_tree
from editvec.neural.grammar.oracle import take
from editvec.syntax import languages
from editvec.syntax.languages import Language
from editvec.syntax.parse import parse_fragment
from editvec.syntax.tree import ABSENT, LIST, NOWHERE, Tree, dumps
from tests.syntax.samples import SAMPLES

FIELDS = st.sampled_from(["left", "right", "name", ""])
LEAVES = st.builds(
    Tree,
    st.sampled_from(["id", "op", "?", "*"]),
    FIELDS,
    st.just(()),
    st.sampled_from(["x", "y", "+"]),
    st.sampled_from([0, 0, 0, NOWHERE]),
    st.just(True),
)


def _nodes(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    some = st.lists(children, max_size=4).map(tuple)
    return st.builds(Tree, st.sampled_from(["call", "binary", "block"]), FIELDS, some) | st.builds(
        Tree, st.just(LIST), FIELDS, some
    )


TREES = st.builds(
    Tree,
    st.sampled_from(["root", "call"]),
    st.just(""),
    st.lists(st.recursive(LEAVES | st.builds(Tree, st.just(ABSENT), FIELDS), _nodes, max_leaves=14), max_size=4).map(
        tuple
    ),
)


@given(before=TREES, after=TREES, others=st.lists(TREES, max_size=3))
def test_the_oracles_actions_build_the_tree(before: Tree, after: Tree, others: list[Tree]) -> None:
    grammar = learn([before, after, *others])
    source = SourceTree.of(before)
    actions = derive(grammar, source, after)
    built = replay(grammar, source, actions)
    assert same_tree(built, after)
    assert built.tokens() == after.tokens()
    assert [leaf.position for leaf in built.leaves() if leaf.position >= 0] == list(range(len(built.tokens())))
    for action in actions:
        if isinstance(action, TreeCp):
            first, *rest = (source.nodes[place] for place in action.sources)
            assert all(same_tree(first, other) for other in rest)


@example(trees=[Tree("root", "", (Tree("*", "left", ()),))], seed=378)
@given(trees=st.lists(TREES, min_size=1, max_size=4), seed=st.integers(0, 999))
def test_every_beginning_has_a_legal_action_and_an_end(trees: list[Tree], seed: int) -> None:
    grammar = learn(trees)
    source = SourceTree.of(trees[0])
    nodes = [source.nodes[place] for places in source.places.values() for place in places]
    chance = random.Random(seed)
    derivation = Derivation.start(grammar)
    for _ in range(chance.randint(0, 30)):
        due = derivation.due
        if due is None:
            break
        if isinstance(due, Text):
            derivation = derivation.write("z")
            continue
        assert due.labels or due.may_end
        copies = [node for node in nodes if derivation.copy_label(node) is not None]
        ways = [derivation.expand(label) for label in due.labels] + [derivation.copy(node) for node in copies]
        if due.may_end:
            ways.append(derivation.reduce())
        derivation = chance.choice(ways)
    for _ in range(2000):
        due = derivation.due
        if due is None:
            break
        if isinstance(due, Text):
            derivation = derivation.write("z")
        elif due.may_end:
            derivation = derivation.reduce()
        else:
            derivation = derivation.expand(grammar.shortest[due.slot])
    assert derivation.tree is not None
    # And what was built is of the grammar: its own actions build it again.
    again = derive(grammar, source, derivation.tree)
    assert same_tree(replay(grammar, source, again), derivation.tree)


@given(before=TREES, after=TREES)
def test_a_derivation_keeps_its_past(before: Tree, after: Tree) -> None:
    grammar = learn([before, after])
    source = SourceTree.of(before)
    past = [Derivation.start(grammar)]
    for action in derive(grammar, source, after):
        past.append(take(past[-1], source, action))
    dues = [derivation.due for derivation in past]
    again = Derivation.start(grammar)
    for action, due in zip(derive(grammar, source, after), dues, strict=False):
        assert again.due == due
        again = take(again, source, action)


@given(trees=st.lists(TREES, min_size=1, max_size=3))
def test_a_grammar_comes_back_from_its_file(trees: list[Tree]) -> None:
    grammar = learn(trees)
    assert Grammar.from_json(orjson.loads(orjson.dumps(grammar.to_json()))) == grammar


def test_what_was_never_seen_is_refused() -> None:
    token = Tree("id", "name", (), "x", 0, True)
    grammar = learn([Tree("root", "", (Tree("call", "left", (token,)),))])
    source = SourceTree.of(Tree("root", "", (token,)))
    for after in (
        Tree("root", "", (Tree("binary", "left", (token,)),)),
        Tree("root", "", (Tree("call", "right", (token,)),)),
        Tree("root", "", (Tree("call", "left", (token, token)),)),
        Tree("root", "", (Tree("call", "left", (Tree("id", "name", (), "y", 0, True),)),)),
        Tree("root", "", ()),
        token,
    ):
        with pytest.raises(UnseenError):
            derive(grammar, source, after)


@given(trees=st.lists(TREES, min_size=1, max_size=3))
def test_where_a_copy_fits_is_told_by_slot_and_form(trees: list[Tree]) -> None:
    grammar = learn(trees)
    table = set(grammar.copyable())
    for node in (node for tree in trees for node in tree.nodes()):
        if node.leaf or node.is_list:
            continue
        form = grammar.form_of(node)
        for slot, number in grammar.slot_numbers.items():
            assert (grammar.copy_label(slot, node) is not None) == ((number, form) in table)


def test_a_choice_is_left_where_a_node_is_due() -> None:
    token = Tree("id", "name", (), "x", 0, True)
    call = Tree("call", "left", (token,))
    grammar = learn([Tree("root", "", (call,))])
    due = Derivation.start(grammar).due
    assert isinstance(due, Choice)
    inside = Derivation.start(grammar).expand(due.labels[0])
    assert isinstance(inside.due, Choice)
    # Its token is always x: nothing is left to decide once the node is there.
    assert inside.expand(inside.due.labels[0]).tree is not None


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"labels":[],"slots":[[0,0,[7]]],"fixed":[],"open":[]}'])
def test_a_damaged_grammar_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "grammar.json").write_bytes(content)
    with pytest.raises(BadInputError, match="not a grammar"):
        Grammar.load(tmp_path / "grammar.json")


@pytest.mark.parametrize("name", [name for name, known in languages.known().items() if isinstance(known, Language)])
def test_the_laws_hold_for_every_language(name: str) -> None:
    language = languages.get(name)
    assert isinstance(language, Language)
    lines = [line for line in SAMPLES[name].splitlines() if line.strip()]
    trees = [found for line in lines if (found := parse_fragment(language, line.strip())) is not None]
    whole = parse_fragment(language, SAMPLES[name])
    trees += [whole] if whole is not None else []
    assert len(trees) > 2
    grammar = learn(trees)
    for before in trees:
        source = SourceTree.of(before)
        for after in trees:
            built = replay(grammar, source, derive(grammar, source, after))
            assert same_tree(built, after)
            assert built.tokens() == after.tokens()


def test_the_trees_of_an_edit_hold_the_tokens_that_a_model_sees() -> None:
    from editvec.syntax.snippet import snippet_edit

    edit = snippet_edit("total = total + 5;", "total += 5;", "csharp")
    before, after = edit_trees(edit)
    assert before.tokens() == edit.model_before == ("VAR0", "=", "VAR0", "+", "LITERAL", ";")
    assert after.tokens() == edit.model_after
    with pytest.raises(UnseenError, match="has no trees"):
        edit_trees(snippet_edit("a b", "a c", "markdown"))
    with pytest.raises(UnseenError, match="does not parse"):
        edit_trees(Edit("e", "csharp", Version(") (", (")", "(")), Version("x;", ("x", ";"))))


def test_published_trees_can_be_parsed_anew() -> None:
    tokens = tuple("var VAR0 = new object [  ] { VAR1 ? . Name } ;".split(" "))
    assert "" in tokens
    given = Version("var VAR0=new object[] { VAR1 ?. Name };", tokens, dumps(Tree("own", "", ())))
    edit = Edit("e", "csharp", given, given)
    assert edit_trees(edit)[0].kind == "own"
    before, after = edit_trees(edit, parsed=True)
    assert before.tokens() == after.tokens() == tokens
    grammar = learn([before])
    assert same_tree(replay(grammar, SourceTree.of(before), derive(grammar, SourceTree.of(before), after)), after)
    # No spaces where there should be some: the text does not parse, its tokens do.
    text, tokens = "varVAR0 = 0;x", ("var", "VAR0", "=", "0", ";")
    assert edit_trees(Edit("e", "csharp", Version(text, tokens), Version(text, tokens)))[0].tokens() == tokens
    bad = Version("; ;", ("", ";"))
    with pytest.raises(UnseenError):
        edit_trees(Edit("e", "csharp", bad, bad))


def test_a_kind_of_many_shapes_takes_any_number_of_children() -> None:
    def root(number: int) -> Tree:
        leaves = [Tree("id", "name" if at % 2 else "", (), "xy"[at % 2], at, True) for at in range(number)]
        return Tree("root", "", (Tree("many", "body", tuple(leaves)),))

    grammar = learn([root(number) for number in range(12)])
    assert grammar.open_kinds == {"many"}
    for number in (0, 3, 40):
        after = root(number)
        built = replay(grammar, SourceTree.of(root(1)), derive(grammar, SourceTree.of(root(1)), after))
        assert same_tree(built, after)
    # Few shapes stay as they are: what was never seen is not legal.
    closed = learn([root(number) for number in range(3)])
    assert closed.open_kinds == frozenset()
    with pytest.raises(UnseenError):
        derive(closed, SourceTree.of(root(1)), root(7))
    # A text that is always the same is taken for granted, over all shapes of an open kind.
    fixed = {(grammar.labels[label].field, text) for (_, label), text in grammar.fixed.items()}
    assert fixed == {("", "x"), ("name", "y")}
