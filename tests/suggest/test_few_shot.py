"""Doing as other edits did: in whose words, with which editors, and only what parses."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import editvec.neural.model
from editvec.core.edit import Tokens
from editvec.neural.candidate import Candidate
from editvec.neural.model import EditModel
from editvec.neural.vocab import MARKS, UNKNOWN
from editvec.suggest.edit import edit as edit_snippet
from editvec.suggest.few_shot import Demonstrations, FewShotEditor, is_made_of
from editvec.syntax.parse import are_sound
from editvec.syntax.snippet import snippet_edit
from tests.neural.edits import edit, small_model, ten_edits

_UNKNOWN = MARKS[UNKNOWN]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('print("count %s" % n)', 'print(f"count {n}")', True),
        ('log("a b")', 'log("b")', True),
        ('log("a")', 'log("c")', False),
        ("log(info)", 'log("info", info)', False),
        ("log(a)", "tracing.log(a)", False),
    ],
)
def test_a_string_made_of_what_goes_says_nothing_elsewhere(before: str, after: str, expected: bool) -> None:
    made = snippet_edit(before, after, "python")
    new = [token for token in made.after.tokens if token not in made.before.tokens]
    assert any(is_made_of(token, made) for token in new) is expected


@pytest.mark.parametrize(
    ("language", "before", "afters", "expected"),
    [
        ("rust", "let f = try!(g(a));", ["let f = g(a)?;", "let f = (g(a)?;", "let f = g(a))?;"], [True, False, False]),
        ("rust", "let f = g(a);", ["let f = h(a);", "let f = = h(a);"], [True, False]),
        ("rust", "if (a", ["if (b", "if (b)", "if ((b"], [True, True, False]),
        ("csharp", "x == null ? null : x.Bar", ["x?.Bar", "x? : Bar"], [True, False]),
        ("csharp", "if (a.Count == 0)", ["if (!a.Any())", "if !a.Any()"], [True, False]),
        ("csharp", "Foo(first, 2)", ["Zorg.Foo(first, 2)", "Zorg.(first, 2)"], [True, False]),
    ],
)
def test_what_is_sound(language: str, before: str, afters: list[str], expected: list[bool]) -> None:
    assert are_sound(language, before, afters) == expected


@pytest.mark.parametrize(
    ("names", "written", "read"),
    [
        (("Zorg",), ("a", _UNKNOWN), ("a", "Zorg")),
        (("Zorg",), (_UNKNOWN, "b", _UNKNOWN), ("Zorg", "b", "Zorg")),
        (("Zorg", "Blatt"), (_UNKNOWN, ".", _UNKNOWN), ("Zorg", ".", "Blatt")),
        (("Zorg", "Blatt"), (_UNKNOWN,), None),
        (("Zorg", "Zorg"), (_UNKNOWN,), ("Zorg",)),
        ((), (_UNKNOWN,), None),
    ],
)
def test_what_has_no_name_has_that_of_the_edit_shown(names: Tokens, written: Tokens, read: Tokens | None) -> None:
    shown = Demonstrations(np.zeros((2, 4), np.float32), (("Other",), names))
    assert shown.named(1, written) == read
    assert shown.without(0).named(0, written) == read
    assert Demonstrations(shown.vectors).named(1, written) is None


@pytest.mark.parametrize(
    ("before", "like", "after"),
    [
        ("Foo(first, 2);", ("Foo(a);", "Zorgblatt.Foo(a);"), "Zorgblatt.Foo(first, 2);"),
        ("Log(name, 2);", ("Log(a);", 'Log(a, "zorgblatt");'), 'Log(name, 2, "zorgblatt");'),
        ("Foo(first, 2);", ("Foo(a);", "zorg.Foo(a);"), "zorg.Foo(first, 2);"),
        ("if (one.IsFrobbed) Go();", ("x = it.IsFrobbed;", "x = it.WasFrobbed;"), "if (one.WasFrobbed) Go();"),
    ],
)
def test_an_example_brings_names_that_the_model_does_not_know(before: str, like: tuple[str, str], after: str) -> None:
    model = editvec.neural.model.load()
    assert not {"Zorgblatt", "WasFrobbed"} & model.vocab.ids.keys()
    assert edit_snippet(before, like=like, model=model)[0].text == after


def _saying(monkeypatch: pytest.MonkeyPatch, model: EditModel, answers: dict[Tokens, float]) -> None:
    said = [Candidate(tokens, math.log(share), True) for tokens, share in answers.items()]
    monkeypatch.setattr(model, "write", lambda examples, vectors, **named: [said for _ in examples])


def test_what_does_not_parse_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, broken = ("f", "(", "y", ")", ";"), ("f", "(", "y", ";")
    edits = [snippet_edit("f(x);", "f(y);", "csharp"), snippet_edit("f(x;", "f(y;", "csharp")]
    model = small_model(edits)
    _saying(monkeypatch, model, {broken: 0.6, sound: 0.3})
    found = FewShotEditor(model).answers(edits, [FewShotEditor(model).show(edits[:1])] * 2)
    assert [{each.tokens for each in some} for some in found] == [{sound}, {sound, broken}]


def test_both_editors_have_a_say(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = ten_edits()
    model = small_model(edits)
    model.second = small_model(edits, editor="graph2tree")
    one, other = ("x", "=", "1", ";"), ("y", "=", "1", ";")
    _saying(monkeypatch, model, {one: 0.6, other: 0.2})
    _saying(monkeypatch, model.second, {other: 0.8})
    # The second one reads trees, and this edit has none that it knows.
    alien = dataclasses.replace(edit("( ( 1", "2"), language="text")
    alien = dataclasses.replace(alien, before=dataclasses.replace(alien.before, tree=None))
    found = FewShotEditor(model).answers([edits[0], alien], [FewShotEditor(model).show(edits[1:3])] * 2)
    shares = [{each.tokens: math.exp(each.log_prob) for each in some} for some in found]
    assert shares[0] == pytest.approx({one: 0.3, other: 0.5})
    assert shares[1] == pytest.approx({one: 0.6, other: 0.2})
