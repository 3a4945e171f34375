"""Tokens as text: the white space is that of the text they come from, of texts like it, or what most people write."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.edit import Version
from editvec.syntax import snippet
from editvec.syntax.spacing import habits_of, spaced


def _version(text: str, language: str = "python") -> Version:
    return snippet.snippet_edit(text, "", language).before


@pytest.mark.parametrize(
    ("before", "tokens", "kept", "text"),
    [
        ("if len(x) == 0:", "if not x :", {0: 0, 2: 3, 3: 7}, "if not x:"),
        ("g: 'T' = f()", "g : T = f ( )", {0: 0, 1: 1, 3: 3, 4: 4, 5: 5, 6: 6}, "g: T = f()"),
        ("if (x)", "if ( x . F ( ) )", {0: 0, 1: 1, 2: 2, 7: 3}, "if (x.F())"),
        ("f(a=1)", "f ( b = 1 )", {0: 0, 1: 1, 3: 3, 4: 4, 5: 5}, "f(b=1)"),
        ("f(a=1)", "f ( a = 1 , b = 2 )", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 9: 5}, "f(a=1, b=2)"),
        ("f(a = 1)", "f ( a = 1 , b = 2 )", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 9: 5}, "f(a = 1, b = 2)"),
        ("f(\n  a,\n)", "f ( a , b , )", {0: 0, 1: 1, 2: 2, 3: 3, 6: 4}, "f(\n  a,\n  b,\n)"),
        ("f(\n  a, b,\n)", "f ( a , b , c , )", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 8: 6}, "f(\n  a, b,\n  c,\n)"),
        ("return -x", "return - y", {0: 0, 1: 1}, "return -y"),
        ("x = f(a=1)", "x = f ( a = 1 ) ; y = 1", dict(enumerate(range(8))), "x = f(a=1); y = 1"),
    ],
)
def test_what_before_does_is_done(before: str, tokens: str, kept: dict[int, int], text: str) -> None:
    assert spaced(_version(before), tuple(tokens.split()), kept, {}, "python") == text


def test_what_before_does_not_say_examples_do() -> None:
    before, habits = _version("x"), habits_of([_version("g( y )")])
    assert spaced(before, ("f", "(", "x", ")"), {2: 0}, habits, "python") == "f( x )"


def test_a_sign_that_means_another_thing_is_spaced_as_that() -> None:
    before = _version("a = x == null ? null : x.F;", "csharp")
    tokens = ("a", "=", "x", "?", ".", "F", ";")
    assert spaced(before, tokens, {0: 0, 1: 1, 2: 2, 3: 5, 4: 9, 5: 10, 6: 11}, {}, "csharp") == "a = x?.F;"


def test_a_text_of_two_minds_has_no_habit() -> None:
    found = habits_of([_version("x = f(a=1)")])
    assert ("", "=") not in found
    assert found["", ")"] == ""


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("csharp", "private Func<List<int>, string[]> f = x => new Dictionary<A, B>();"),
        ("csharp", "if (a < b && c > d) return x ? -1 : +2;"),
        ("csharp", "public class A : B, C"),
        ("csharp", "int? x = a?.b;"),
        ("python", "def f(a: int, b=None, *args: str, **more: t.Any) -> None:"),
        ("python", "x = [y for y in (a, b) if not y]"),
        ("python", "from .app import Flask"),
        ("csharp", "if (!done && !(a is (1, 2))) throw x!.Error;"),
        ("java", "@Until(1.3) private final Supplier<T> s = Foo::new;"),
        ("javascript", "@Input() name = await (x);"),
        ("rust", "use std::io::{self, Read};"),
        ("rust", "pub fn get<'a>(&'a self, i: usize) -> Option<Match<'a>>"),
        ("rust", "let x = vec![a::b(1), c];"),
        ("rust", "for i in 0..n"),
        ("cpp", "std::vector<int> xs = ::make(p->size());"),
        ("python", "@app.route(path)"),
        ("python", "x = a @ b"),
        ("markdown", "See `a`, and (`b`), a well-known way."),
        ("rst", "The well-known and/or `b` of ``c``."),
        ("rst", "See the :func:`a` of (:py:class:`b`), or this: `c`, :data:`d` :ref:`e`."),
        ("markdown", "Try this: `a`, or that:"),
        ("markdown", "You *do* want [a][b] or [c](d)—the `run()` with `--flag`."),
        ("rst", "As shown. ::"),
        ("rst", "See `this`_ and `that`__ here::"),
        ("go", "return append(xs, &T, -1, f(ys...))"),
        ("go", "func f(xs ...int) error"),
    ],
)
def test_what_nobody_says_is_written_as_most_people_do(language: str, text: str) -> None:
    tokens = _version(text, language).tokens
    assert spaced(Version("", ()), tokens, {}, {}, language) == text


@pytest.mark.parametrize(
    ("language", "before", "tokens", "kept", "text"),
    [
        ("csharp", "    F(a);", "G ( a ) ; F ( a ) ;", {5: 0, 6: 1, 7: 2, 8: 3, 9: 4}, "G(a);\n    F(a);"),
        ("csharp", "\tF(a);", "F ( a ) ; G ( ) ;", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}, "F(a);\n\tG();"),
        ("javascript", "f()", "g ( ) ; f ( )", {4: 0, 5: 1, 6: 2}, "g();\nf()"),
        ("java", "x();", "for ( ; ; ) x ( ) ;", {5: 0, 6: 1, 7: 2, 8: 3}, "for (;;) x();"),
        ("go", "f()", "if x := g ( ) ; x", {}, "if x := g(); x"),
    ],
)
def test_a_statement_put_in_has_a_line(
    language: str, before: str, tokens: str, kept: dict[int, int], text: str
) -> None:
    assert spaced(_version(before, language), tuple(tokens.split()), kept, {}, language) == text


@given(st.lists(st.sampled_from(["a", "=", "(", ")", ",", '"s"', "12", ":", "-"]), max_size=12), st.data())
def test_what_is_kept_whole_stays_as_it_was(tokens: list[str], data: st.DataObject) -> None:
    gaps = data.draw(st.lists(st.sampled_from([" ", "  ", "\n "]), min_size=len(tokens), max_size=len(tokens)))
    text = "".join(gap * (at > 0) + token for at, (gap, token) in enumerate(zip(gaps, tokens, strict=True)))
    kept = {at: at for at in range(len(tokens))}
    assert spaced(Version(text, tuple(tokens)), tuple(tokens), kept, {}, "csharp") == text


@given(st.data())
def test_words_stay_apart_whatever_before_does(data: st.DataObject) -> None:
    words = st.sampled_from(["a", "b1", '"', "'s", "(", "=", "-", "+", ".", "&"])
    own = data.draw(st.lists(words, max_size=8))
    before = Version("".join(data.draw(st.sampled_from(["", " "])) + token for token in own), tuple(own))
    tokens = data.draw(st.lists(words, max_size=8))
    places = data.draw(st.lists(st.integers(0, 7), max_size=8, unique=True))
    kept = {at: place for at, place in enumerate(sorted(places)) if at < len(tokens) and place < len(own)}
    tokens = [own[kept[at]] if at in kept else token for at, token in enumerate(tokens)]
    # What stayed side by side stays as it was, also where a text has its own idea of what a token is.
    joined = any(kept.get(at + 1) == place + 1 for at, place in kept.items())
    language = data.draw(st.sampled_from(["csharp", "text"]))
    text = spaced(before, tuple(tokens), kept, {}, language)
    if not joined:
        assert re.findall(r"\w+", text) == [word for token in tokens for word in re.findall(r"\w+", token)]
        assert language == "text" or not re.search(r"\+\+|--|&&", text)
