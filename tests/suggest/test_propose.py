"""What an edit could mean elsewhere: hypotheses, and where they match."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from editvec.core.edit import Demonstration
from editvec.core.splice import TextEdit, splice
from editvec.suggest.intents import intents_of, shown_edits
from editvec.suggest.locate import locate
from editvec.suggest.propose import propose
from editvec.suggest.searched import EditMatch, SearchedFile

LINES = (
    "    int total = getPrice(order, 3);",
    "    if (order == null) { return Optional.empty(); }",
    '    log.info("paid {} of {}", paid, total);',
    "    for (Item item : order.items()) {",
    "    assertEquals(2, list.size());",
    "",
    '    return new Money(total, Currency.of("EUR"));',
    "    }",
    "    const cast = static_cast<int>(values[index + 1]);",
    "    path.join(base, name);",
)
WORDS = ("getPrice", "fetchPrice", "order", "value", "0")
NEW_WORDS = ("await", "std::", "checked(", ", true", ".unwrap()")
"""Words that are not in the lines: what stands beside a place already is not put in again."""


@st.composite
def edited_texts(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A text, and the text with one or two tokens replaced, put in or taken out in one line."""
    lines = draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=8))
    at = draw(st.integers(0, len(lines) - 1))
    words = lines[at].split(" ")
    for _ in range(draw(st.integers(1, 2))):
        here = draw(st.integers(0, len(words) - 1))
        kind = draw(st.sampled_from(("replace", "insert", "remove")))
        if kind == "replace":
            words[here] = draw(st.sampled_from(WORDS))
        elif kind == "insert":
            words.insert(here + 1, draw(st.sampled_from(NEW_WORDS)))
        elif words[here]:
            words[here] = ""
    after = [*lines[:at], " ".join(words), *lines[at + 1 :]]
    return "\n".join([*lines, ""]).encode(), "\n".join([*after, ""]).encode()


def found_in(before: bytes, after: bytes, files: list[SearchedFile]) -> list[EditMatch]:
    """The matches in files of everything that a change of a text could mean."""
    edits = shown_edits(Demonstration("a.java", before, after))
    return [match for intent in intents_of(edits) for match in locate(propose(intent), files)[0]]


def written(match: EditMatch) -> bytes:
    """The file of a match with its edit made."""
    return splice(match.file.data, [TextEdit(match.start, match.end, match.after)])


@given(edited_texts())
def test_a_shown_edit_is_among_the_results_of_its_own_hypotheses(texts: tuple[bytes, bytes]) -> None:
    before, after = texts
    edits = shown_edits(Demonstration("a.java", before, after))
    assume(edits and all(propose(intent) for intent in intents_of(edits)))
    results = [written(match).split() for match in found_in(before, after, [SearchedFile("a.java", "java", before)])]
    assert after.split() in results


@given(edited_texts(), st.lists(st.sampled_from(LINES), max_size=8))
def test_nothing_is_proposed_twice_and_no_match_lies_outside_its_file(
    texts: tuple[bytes, bytes], lines: list[str]
) -> None:
    data = "\n".join(lines).encode()
    matches = found_in(*texts, [SearchedFile("b.java", "java", data)])
    keys = [(match.start, match.end, match.after) for match in matches]
    assert len(keys) == len(set(keys))
    for match in matches:
        assert 0 <= match.start <= match.end <= len(data)
        assert data[match.start : match.end] != match.after


def results(before: str, after: str, text: str) -> set[str]:
    """What the change of a line could make of another text."""
    demonstration = (before + "\n").encode(), (after + "\n").encode()
    matches = found_in(*demonstration, [SearchedFile("b.java", "java", text.encode())])
    return {written(match).decode() for match in matches}


def test_names_may_differ() -> None:
    assert "use(b.bar(), 2)" in results("use(a.foo(), 1)", "use(a.bar(), 1)", "use(b.foo(), 2)")
    assert "eq(right, left);" in results("eq(a, b);", "eq(b, a);", "eq(left, right);")


def test_a_part_of_a_name_is_changed_in_other_names() -> None:
    assert "fetchBar(x)" in results("getFoo(x)", "fetchFoo(x)", "getBar(x)")
    assert "StringBuilderTest" in results("StrBuilder b;", "StringBuilder b;", "StrBuilderTest")


def test_what_is_wrapped_may_be_any_expression() -> None:
    shown = ("put(size_t(a.b), p);", "put(checked(size_t(a.b)), p);")
    assert "put(checked(size_t(c[i + 1])), q);" in results(*shown, "put(size_t(c[i + 1]), q);")


def test_an_argument_is_added_whatever_the_others_are() -> None:
    assert "parse(words, span[1], true)" in results("parse(ws, s[0])", "parse(ws, s[0], true)", "parse(words, span[1])")


def test_what_is_there_already_is_not_added_again() -> None:
    assert results("path.join(a)", "path.resolve(path.join(a))", "path.resolve(path.join(b))") == set()


def test_a_sign_is_not_doubled() -> None:
    assert results('log("a " + x);', 'log($"a {x}");', 'log($"b {y}");') == set()
    assert "f(&&b)" not in results("f(a)", "f(&a)", "f(&b)") and "f(&b)" in results("f(a)", "f(&a)", "f(b)")
    assert "f(((b)))" in results("f((a))", "f(((a)))", "f((b))")


def test_white_space_and_line_breaks_of_the_place_are_kept() -> None:
    assert "call(  new_name ,\n  b)" in results("call(old_name, b)", "call(new_name, b)", "call(  old_name ,\n  b)")


def test_a_line_is_added_below_lines_of_the_same_kind_with_their_indentation() -> None:
    before = "func TestA(t *testing.T) {\n\trun(t)\n}"
    after = "func TestA(t *testing.T) {\n\tt.Parallel()\n\trun(t)\n}"
    found = results(before, after, "  func TestB(t *testing.T) {\n  \tgo(t)\n  }")
    assert "  func TestB(t *testing.T) {\n  \tt.Parallel()\n  \tgo(t)\n  }" in found


def test_changes_that_mean_the_same_are_one_intent() -> None:
    before = b"a.getFoo();\nb.getBar();\nc = null;\n"
    after = b"a.fetchFoo();\nb.fetchBar();\nc = none;\n"
    intents = intents_of(shown_edits(Demonstration("a.js", before, after)))
    assert [len(each.edits) for each in intents] == [2, 1]
