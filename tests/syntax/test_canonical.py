"""Laws of canonical names: exactly invertible; by declaration and scope, not by mere name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.edit import Canonical
from editvec.syntax.canonical import Naming, Passage, canonicalise, restore
from editvec.syntax.languages import Language, get
from editvec.syntax.treesitter import Parsed
from tests.syntax.samples import SAMPLES


def _passages(name: str, text: str) -> tuple[Parsed, Passage]:
    language = get(name)
    assert isinstance(language, Language)
    parsed = Parsed(language, text.encode())
    return parsed, Passage(parsed, parsed.leaves(0, len(parsed.data)))


def _canonical(name: str, text: str, naming: Naming = Naming.SCOPED) -> Canonical:
    _, passage = _passages(name, text)
    return canonicalise(passage, passage, passage, passage, naming)


def _renamed(name: str, text: str, naming: Naming = Naming.SCOPED) -> set[str]:
    return set(_canonical(name, text, naming).names)


@pytest.mark.parametrize("naming", list(Naming))
@pytest.mark.parametrize("name", SAMPLES)
def test_restore_undoes_canonicalise(name: str, naming: Naming) -> None:
    _, passage = _passages(name, SAMPLES[name])
    tokens = tuple(leaf.text for leaf in passage.leaves)
    canonical = canonicalise(passage, passage, passage, passage, naming)
    assert restore(canonical) == (tokens, tokens, tokens, tokens)
    assert canonical.before != tokens
    assert len(canonical.before) == len(tokens)


words = st.sampled_from(
    [
        "VAR0",
        "VAR1",
        "VAR17",
        "LITERAL",
        "x",
        "y",
        "Total",
        "this.",
        "other.",
        "=",
        "+",
        "(",
        ")",
        ";",
        ",",
        "0",
        "1",
        "2",
        "1.0",
        "'c'",
        '"s"',
        '$"{x}"',
        "return",
        "var",
        "int",
        "=>",
    ]
)


@given(st.lists(words, max_size=25), st.lists(words, max_size=25), st.sampled_from(list(Naming)))
def test_restore_undoes_canonicalise_of_anything(one: list[str], other: list[str], naming: Naming) -> None:
    frame = "class A {{ int Total; int VAR0; void M(int x, int VAR1) {{ {} }} }}"
    _, before = _passages("csharp", frame.format(" ".join(one)))
    _, after = _passages("csharp", frame.format(" ".join(other)))
    canonical = canonicalise(before, after, after, before, naming)
    old, new = (tuple(leaf.text for leaf in passage.leaves) for passage in (before, after))
    assert restore(canonical) == (old, new, new, old)


def test_names_are_numbered_by_first_use_over_before_after_context() -> None:
    text = "class A {{ int f; void M(int a, int b) {{ {} }} }}"
    passages = []
    for body in ("b = 1;", "b = a;", "f = 2;"):
        parsed, _ = _passages("csharp", text.format(body))
        start = parsed.data.index(body.encode())
        passages.append(Passage(parsed, parsed.leaves(start, start + len(body))))
    canonical = canonicalise(passages[0], passages[1], passages[2], passages[0], Naming.SCOPED)
    assert canonical.before == ("VAR0", "=", "1", ";")
    assert canonical.after == ("VAR0", "=", "VAR1", ";")
    assert canonical.context_before == ("VAR2", "=", "LITERAL", ";")
    assert canonical.names == ("b", "a", "f")
    assert canonical.literals == ("2",)


def test_a_member_that_shares_a_locals_name_is_not_renamed() -> None:
    canonical = _canonical("csharp", "class A { void M(B other, int Price) { Use(other.Price, Price: Price); } }")
    body = " ".join(canonical.before)
    assert "Use ( VAR0 . Price , Price : VAR1 )" in body


def test_the_authors_reading_renames_wherever_the_name_stands() -> None:
    canonical = _canonical("csharp", "class A { void M(B other, int Price) { Use(other.Price); } }", Naming.BY_NAME)
    assert "Use ( VAR0 . VAR1 )" in " ".join(canonical.before)


def test_a_local_counts_in_its_own_function_only() -> None:
    canonical = _canonical("csharp", "class A { void M() { int x = 1; } int N() { return x; } }")
    assert "int VAR0 = 1" in " ".join(canonical.before)
    assert "return x" in " ".join(canonical.before)


@pytest.mark.parametrize(
    ("name", "text", "renamed"),
    [
        ("csharp", SAMPLES["csharp"], {"total", "Price", "a", "other", "b", "x", "z", "w", "q", "t"}),
        ("python", SAMPLES["python"], {"LIMIT", "kind", "a", "b", "c", "d", "y", "i", "j", "fh", "v"}),
        ("java", SAMPLES["java"], {"f", "a", "b", "x", "y", "s", "q", "u", "v", "r", "e"}),
        ("javascript", SAMPLES["javascript"], {"limit", "f", "a", "b", "d", "e", "x", "y", "z", "s"}),
        ("typescript", SAMPLES["typescript"], {"f", "a", "b", "d", "e", "x", "p"}),
        ("go", SAMPLES["go"], {"limit", "s", "a", "rest", "r", "err", "x", "y", "i", "v", "k"}),
        ("rust", SAMPLES["rust"], {"LIMIT", "a", "b", "p", "q", "x", "y", "t", "n", "c", "r"}),
        ("cpp", SAMPLES["cpp"], {"f_", "q", "a", "b", "x", "y", "s", "k"}),
    ],
)
def test_what_is_declared_is_renamed_and_nothing_else(name: str, text: str, renamed: set[str]) -> None:
    assert _renamed(name, text) == renamed


def test_kept_literals() -> None:
    canonical = _canonical("csharp", "class A { void M() { F(0, 1, 2, 1.0, true, null, 'c', \"s\"); } }")
    assert canonical.literals[:4] == ("2", "1.0", "'c'", '"s"')
