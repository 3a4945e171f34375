"""What an edit puts in and takes away, whatever the code around it."""

from __future__ import annotations

import pytest

from editvec.diff.signature import ChangedTokens, changed_tokens_between
from editvec.syntax.snippet import snippet_edit


def _gist(before: str, after: str, language: str = "csharp") -> ChangedTokens:
    edit = snippet_edit(before, after, language)
    return changed_tokens_between(edit.model_before, edit.model_after)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("x = x + 1;", "x++;"), ("this.n = this.n + 1;", "this.n++;")),
        (("Log(a);", "Log.Debug(a);"), ("Log(b.C(), d);", "Log.Debug(b.C(), d);")),
        (("Assert.Equal(0, xs.Count);", "Assert.Empty(xs);"), ("Assert.Equal(0, a.B.Count);", "Assert.Empty(a.B);")),
        (('throw new E("x");', "throw new E(nameof(x));"), ('throw new E("y");', "throw new E(nameof(y));")),
    ],
)
def test_the_same_edit_elsewhere_has_the_same_gist(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert _gist(*one) == _gist(*other) != frozenset()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("x = x + 1;", "x++;"), ("x = x - 1;", "x++;")),
        (("x = x + 1;", "x++;"), ("x = x + 2;", "x++;")),
        (("Log(a);", "Log.Debug(a);"), ("Log(a);", "Log.Info(a);")),
        (("Assert.Equal(0, xs.Count);", "Assert.Empty(xs);"), ("Assert.Equal(1, xs.Count);", "Assert.Empty(xs);")),
        (("await A();", "await A().ConfigureAwait(false);"), ("await A().ConfigureAwait(false);", "await A();")),
    ],
)
def test_another_edit_has_another_gist(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert _gist(*one) != _gist(*other)


def test_nothing_changed_has_no_gist() -> None:
    assert _gist("x = 1;", "x = 1;") == frozenset()
