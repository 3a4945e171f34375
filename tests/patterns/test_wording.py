"""A change is named by what it does; messages play no part."""

from __future__ import annotations

import pytest

from editvec.patterns.wording import ChangeKind, changed_signed, changed_words, changes_words, name_change


@pytest.mark.parametrize(
    ("language", "before", "after", "kind", "words"),
    [
        (
            "csharp",
            "Assert.Equal(0, $X.Count)",
            "Assert.Empty($X)",
            ChangeKind.REPLACEMENT,
            "use `Assert.Empty($X)` instead of `Assert.Equal(0, $X.Count)`",
        ),
        ("csharp", "Check($X, null)", "Check($X)", ChangeKind.ARGUMENT_REMOVED, "drop the argument `null` of `Check`"),
        ("go", "$X.Do($Y)", "$X.Do(ctx, $Y)", ChangeKind.ARGUMENT_ADDED, "add the argument `ctx` to `$X.Do`"),
        (
            "java",
            "void f(int a)",
            "void f(int a, int b)",
            ChangeKind.ARGUMENT_ADDED,
            "add the parameter `int b` to `f`",
        ),
        ("csharp", "$X.Run()", "await $X.Run()", ChangeKind.INSERTION, "add `await` to `$X.Run()`"),
        ("javascript", "'use strict';", "", ChangeKind.REMOVAL, "drop `'use strict';`"),
        ("javascript", "test.done();", "done();", ChangeKind.REMOVAL, "drop `test.` from `test.done();`"),
        ("python", "def $F():", "def $F() -> None:", ChangeKind.ANNOTATION, "annotate `def $F():` with `-> None`"),
        ("rust", "$X", "Some($X)", ChangeKind.WRAPPING, "wrap `$X` in `Some(…)`"),
        ("python", "list($X)", "$X", ChangeKind.UNWRAPPING, "unwrap `$X` from `list(…)`"),
        ("go", "f($A, $B)", "f($B, $A)", ChangeKind.REORDERING, "reorder `f($A, $B)` to `f($B, $A)`"),
        ("csharp", "Foo", "Bar", ChangeKind.RENAMING, "use `Bar` instead of `Foo`"),
        ("python", "a.old", "a.new", ChangeKind.RENAMING, "use `a.new` instead of `a.old`"),
        ("go", "f(ctx, 1)", "f(ctx, 2)", ChangeKind.LITERAL, "change `1` to `2` in `f(ctx, 1)`"),
        ("markdown", "can not", "cannot", ChangeKind.WORDS, "write “cannot” instead of “can not”"),
        ("markdown", "very", "", ChangeKind.WORDS, "leave out “very”"),
    ],
)
def test_a_change_is_named_by_its_kind(language: str, before: str, after: str, kind: ChangeKind, words: str) -> None:
    assert name_change(before, after, language) == (kind, words)


def test_a_long_side_is_cut_around_the_change() -> None:
    before = "call(" + ", ".join(f"argument{at}" for at in range(20)) + ", old_name)"
    (_, words) = name_change(before, before.replace("old_name", "x + y"), "python")
    assert words == "use `…argument19, x + y)` instead of `…argument19, old_name)`".replace(
        "…argument19", "…, argument19"
    )


def test_words_of_a_change_are_those_that_come_or_go() -> None:
    assert changed_words("$X.Should().Be($Y)", "$X.ShouldBe($Y)") == {"should", "be"}
    assert changed_words("f($X)", "f($Y)") == frozenset()
    assert changed_signed("x == None", "x is None") == {"-==", "+is"}
    assert changes_words("$X = $X + 1", "$X++")
    assert not changes_words("f($X, 2)", "f($X, 1)")
    assert not changes_words("false", "true")
