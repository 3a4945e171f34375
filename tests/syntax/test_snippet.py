"""Snippets: what somebody typed, as models read it, and answers in their words."""

from __future__ import annotations

import pytest

from editvec.core.edit import Edit
from editvec.diff import Tag, align
from editvec.syntax.snippet import Written, restore_answer, snippet_edit


def _answer(edit: Edit, answer: str) -> Written | None:
    tokens = tuple(answer.split())
    pairs = [
        (place.before, place.after)
        for place in align(edit.model_before, tokens).positions
        if place.tag is Tag.EQUAL and place.before is not None and place.after is not None
    ]
    return restore_answer(edit, tokens, pairs, {})


@pytest.mark.parametrize(
    ("language", "before", "after", "canonical_before", "canonical_after"),
    [
        ("csharp", "x = x + 1;", "x++;", "VAR0 = VAR0 + 1 ;", "VAR0 ++ ;"),
        ("csharp", 'Log("a", count);', "Log(count);", "Log ( LITERAL , VAR0 ) ;", "Log ( VAR0 ) ;"),
        ("csharp", "foo(bar.Baz);", "", "foo ( VAR0 . Baz ) ;", ""),
        ("csharp", "VAR0 = count;", "LITERAL();", "VAR0 = VAR1 ;", "VAR2 ( ) ;"),
        ("python", "total = total + 42", "total += 42", "VAR0 = VAR0 + LITERAL", "VAR0 += LITERAL"),
        (
            "python",
            "y = load(a, 42)",
            "y = cache.load(a, 42, 'x')",
            "VAR0 = load ( VAR1 , LITERAL )",
            "VAR0 = cache . load ( VAR1 , LITERAL , 'x' )",
        ),
        ("csharp", 'F("x");', "F(nameof(x));", "F ( LITERAL ) ;", "F ( nameof ( VAR0 ) ) ;"),
        ("markdown", "the  cat sat.", "a cat sat.", "the cat sat .", "a cat sat ."),
    ],
)
def test_snippets_are_read_as_models_read(
    language: str, before: str, after: str, canonical_before: str, canonical_after: str
) -> None:
    edit = snippet_edit(before, after, language)
    assert edit.model_before == tuple(canonical_before.split())
    assert edit.model_after == tuple(canonical_after.split())


def test_broken_code_is_still_tokens() -> None:
    assert snippet_edit("x = = ) 1", "", "csharp").before.tokens == ("x", "=", "=", ")", "1")


@pytest.mark.parametrize(
    ("before", "answer", "text"),
    [
        ("count = count + 1;", "VAR0 ++ ;", "count++;"),
        ("Log( a,  b );", "Log ( VAR1 , VAR0 ) ;", "Log( b, a );"),
        ('Say("hi",   name);', "Say ( LITERAL , VAR0 , 0 ) ;", 'Say("hi",   name, 0);'),
        ('Say("hi");', "Tell ( LITERAL ) ;", 'Tell("hi");'),
        ("[A]\n  internal int F()", "[ A ] int F ( )", "[A]\n  int F()"),
        ("[A]\n  int F()", "[ A ] internal int F ( )", "[A]\n  internal int F()"),
        ("F(a,\n  b);", "F ( VAR0 , 1 , VAR1 ) ;", "F(a,\n  1, b);"),
        ("F(a,\n  b, c);", "F ( VAR0 , VAR2 ) ;", "F(a,\n  c);"),
        ("a = F();", "VAR0 = [ ] ;", "a = [];"),
        ("a = F();", "VAR0 = { } ;", "a = {};"),
        ("a = b;", "VAR0 = ( VAR1 [ 0 ] ) ;", "a = (b[0]);"),
    ],
)
def test_answers_are_in_the_words_and_the_spacing_of_before(before: str, answer: str, text: str) -> None:
    written = _answer(snippet_edit(before, "", "csharp"), answer)
    assert written is not None
    assert written.text == text


@pytest.mark.parametrize("answer", ["VAR7 ;", "F ( LITERAL ) ;"])
def test_what_before_has_no_words_for_is_no_answer(answer: str) -> None:
    assert _answer(snippet_edit('G(x, "a", "b");', "", "csharp"), answer) is None
