"""Templates of shown edits, matched in this process: what they find, and that ast-grep finds the same."""

from __future__ import annotations

import pytest

from editvec.core.edit import Demonstration
from editvec.core.splice import TextEdit, splice
from editvec.rules.induction import make_rules
from editvec.rules.matching import match_rules
from editvec.rules.rule import runnable
from editvec.suggest.complete import finder_of, typed_example
from editvec.suggest.hypothesis import EditHypothesis
from editvec.suggest.intents import Intent, intents_of, shown_edits
from editvec.suggest.locate import locate
from editvec.suggest.searched import SearchedFile
from editvec.suggest.trees import propose_trees
from editvec.syntax.snippet import snippet_edit


def intent_of(*shown: tuple[str, str], path: str = "a.cs") -> Intent:
    """The intent of edits that were typed."""
    edits = [edit for before, after in shown for edit in shown_edits(typed_example(before, after, path))]
    (*_, intent) = intents_of(edits) if len(intents_of(edits)) == 1 else [Intent(edits)]
    return intent


def results(intent: Intent, text: str, path: str = "b.cs", language: str = "csharp") -> set[str]:
    """What templates of an intent make of a text."""
    file = SearchedFile(path, language, text.encode())
    matches, _ = locate(list(propose_trees(intent)), [file], finder_of=finder_of)
    return {splice(file.data, [TextEdit(each.start, each.end, each.after)]).decode() for each in matches}


def test_what_an_edit_keeps_may_be_any_expression() -> None:
    intent = intent_of(("total = total + price;", "total += price;"))
    text = "class A { void F() { a.Sum = a.Sum + G(b[1]); } }"
    assert text.replace("a.Sum = a.Sum + G(b[1])", "a.Sum += G(b[1])") in results(intent, text)


def test_several_edits_say_what_may_differ() -> None:
    intent = intent_of(
        ("Assert.Equal(0, items.Count);", "Assert.Empty(items);"),
        ("Assert.Equal(0, map.Keys.Count);", "Assert.Empty(map.Keys);"),
    )
    text = "class A { void F() { Assert.Equal(0, Load(x).Rows.Count); Assert.Equal(1, y.Count); } }"
    found = results(intent, text)
    assert text.replace("Assert.Equal(0, Load(x).Rows.Count)", "Assert.Empty(Load(x).Rows)") in found
    assert not any("Assert.Equal(1" not in each for each in found)


def test_lines_of_a_template_are_indented_as_their_place() -> None:
    shown = Demonstration(
        "a.py",
        b"def f():\n    x = open(a)\n    x.close()\n",
        b"def f():\n    with open(a) as x:\n        pass\n    x.close()\n",
    )
    (intent,) = intents_of(shown_edits(shown))
    text = "class A:\n    def g(self):\n        y = open(b)\n        y.close()\n"
    for each in results(intent, text, "b.py", "python"):
        assert "\n    def g(self):\n" in each
        assert all(line.startswith("        ") for line in each.splitlines()[2:])


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (
            "var x = y == null ? null : y.Name;",
            "var x = y?.Name;",
            "class A { int F() { return b.C == null ? null : b.C.Name; } }",
        ),
        (
            "Check(a, null);",
            "Check(a);",
            "class A { void F() { Other(a, null); Check(b(1), null); Check(c, d, null); } }",
        ),
        ("i = i + 1;", "i++;", "class A { void F() { j = j + 1; k = i + 1; l = l + 2; this.m = this.m + 1; } }"),
    ],
)
def test_ast_grep_finds_what_a_template_finds(before: str, after: str, text: str) -> None:
    rules = [runnable(each.rule) for each in make_rules([snippet_edit(before, after, "csharp")])]
    matches = match_rules(rules, [text.encode()], "csharp")[0]
    assert matches
    ours = {"".join(each.split()) for each in results(intent_of((before, after)), text)}
    for match in matches:
        wanted = splice(text.encode(), [TextEdit(match.start, match.end, (match.replacement or "").encode())])
        assert "".join(wanted.decode().split()) in ours


def test_a_typed_example_needs_no_file_around_it() -> None:
    intent = intent_of(("return xs.get(0);", "return xs.getFirst();"), path="a.java")
    text = "class A { int f() { return rows(1).get(0); } }"
    assert text.replace("rows(1).get(0)", "rows(1).getFirst()") in results(intent, text, "b.java", "java")


def test_a_tree_of_holes_alone_is_no_hypothesis() -> None:
    proposed = list(propose_trees(intent_of(("f(a);", "f((a));"))))
    assert all(isinstance(each, EditHypothesis) and isinstance(each.elements[each.anchor], bytes) for each in proposed)
