"""Law: tokens + gaps = the file, byte for byte, whatever the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
import tree_sitter as ts
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.text import line_starts
from editvec.syntax import known, tokenize
from editvec.syntax.languages import Language, Markup, code_languages, get, language_of
from editvec.syntax.leaves import Role
from editvec.syntax.parse import likely_language, parse_fragment
from editvec.syntax.token import encode, gaps, join
from editvec.syntax.treesitter import Parsed
from tests.syntax.samples import SAMPLES

NAMES = list(known())
CODE_NAMES = [language.name for language in code_languages()]

pieces = st.sampled_from(
    [b"{", b"}", b"(", b'"', b"'", b"`", b"/*", b"*/", b"//", b"#", b"\n", b"\r\n", b" ", b"\t", b"x", b"=", b";"]
    + [b"class A", b"def f():", b"1.0", b'@"', b'$"{', b"\xef\xbb\xbf", b"\xff", b"\x00", "é".encode(), "漢".encode()]
)
anything = st.one_of(st.binary(max_size=80), st.lists(pieces, max_size=40).map(b"".join))


def check_lossless(name: str, data: bytes) -> None:
    tokens = tokenize(get(name), data)
    between = gaps(data, tokens)
    assert join(tokens, between) == data
    end = 0
    for token in tokens:
        assert end <= token.start < token.end
        assert encode(token.text) == data[token.start : token.end]
        end = token.end


@pytest.mark.parametrize("name", NAMES)
@given(data=anything)
def test_any_bytes_are_tokens_and_gaps(name: str, data: bytes) -> None:
    check_lossless(name, data)


@pytest.mark.parametrize("name", SAMPLES)
@given(cuts=st.data())
def test_damaged_programs_are_tokens_and_gaps(name: str, cuts: st.DataObject) -> None:
    data = SAMPLES[name].encode()
    low = cuts.draw(st.integers(0, len(data)))
    high = cuts.draw(st.integers(low, len(data)))
    check_lossless(name, data[:low] + cuts.draw(pieces) + data[high:])


def _comments(node: ts.Node, language: Language) -> Iterator[bytes]:
    """Yield the texts of the comments below a node."""
    if node.type in language.comments:
        yield node.text or b""
        return
    for child in node.children:
        yield from _comments(child, language)


@pytest.mark.parametrize("name", SAMPLES)
def test_sound_programs_leave_only_space_and_comments_out(name: str) -> None:
    data = SAMPLES[name].encode()
    language = get(name)
    assert isinstance(language, Language)
    parsed = Parsed(language, data)
    assert not parsed.tree.root_node.has_error
    left = b"".join(gaps(data, tokenize(language, data))).split()
    assert b"".join(left) == b"".join(b"".join(_comments(parsed.tree.root_node, language)).split())
    assert "ERROR" not in {leaf.kind for leaf in parsed.leaves(0, len(data))}


@pytest.mark.parametrize("name", SAMPLES)
def test_leaves_of_ranges_are_the_leaves_of_the_file(name: str) -> None:
    language = get(name)
    assert isinstance(language, Language)
    parsed = Parsed(language, SAMPLES[name].encode())
    every = parsed.leaves(0, len(parsed.data))
    starts = parsed.line_starts
    from_gaps = [parsed.leaves(leaf.end, len(parsed.data)) for leaf in every]
    assert from_gaps == [every[at + 1 :] for at in range(len(every))]
    by_line = [leaf for low, high in pairwise(starts) for leaf in parsed.leaves(low, high)]
    assert by_line == every


@pytest.mark.parametrize("name", CODE_NAMES)
def test_every_code_language_has_a_sample(name: str) -> None:
    assert name in SAMPLES


def test_strings_are_one_token_and_a_literal() -> None:
    language = get("csharp")
    assert isinstance(language, Language)
    data = b'class A { string s = $"a{x + "\\n"}b" + @"c""d" + "e"; }'
    literals = [leaf.text for leaf in Parsed(language, data).leaves(0, len(data)) if leaf.role is Role.LITERAL]
    assert literals == ['$"a{x + "\\n"}b"', '@"c""d"', '"e"']


def test_null_conditional_is_two_tokens_as_in_roslyn() -> None:
    texts = [token.text for token in tokenize(get("csharp"), b"class A { int M() { return x?.Foo; } }")]
    assert texts[texts.index("x") :][:4] == ["x", "?", ".", "Foo"]


@given(st.binary(max_size=60))
def test_line_starts(data: bytes) -> None:
    starts = line_starts(data)
    assert b"".join(data[low:high] for low, high in pairwise(starts)) == data
    assert all(data[low - 1 : low] == b"\n" for low in starts[1:-1])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("csharp", "var x = a?.b;"),
        ("python", "x = a.b"),
        ("java", "int x = a.b;"),
        ("javascript", "const x = a?.b"),
        ("typescript", "const x: T = a!.b;"),
        ("go", "x := a.b"),
        ("rust", "let x = a.b;"),
        ("cpp", "auto x = a->b;"),
        ("csharp", "public int P { get; set; }"),
        ("java", "private final int f = 1;"),
        ("csharp", "if (a != null)"),
        ("python", "if a is None:"),
        ("java", "private static String f(Object[] a) throws E"),
        ("javascript", "for (const a of b)"),
        ("typescript", "f(a: T): U"),
        ("tsx", "while (a)"),
        ("go", "if a, ok := b[c]; ok"),
        ("rust", "impl<T> Debug for S<T>"),
        ("cpp", "void f(const S& a) override"),
    ],
)
def test_a_fragment_is_a_tree_of_its_tokens(name: str, text: str) -> None:
    language = get(name)
    assert isinstance(language, Language)
    tree = parse_fragment(language, text)
    assert tree is not None
    assert tree.tokens() == tuple(leaf.text for leaf in Parsed(language, text.encode()).leaves(0, len(text)))
    assert [leaf.position for leaf in tree.leaves()] == list(range(len(tree.tokens())))


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (("count = count + 1;", "count++;"), "csharp"),
        (("Foo(first, 2)", "Zorg.Foo(a)"), "csharp"),
        (("x == null ? null : x.Foo", "x?.Foo"), "csharp"),
        (("if x is None:", "if not x:"), "python"),
        (("f(x)", "assert x, 'late'"), "python"),
        (("public void f() throws Exception", "public void f()"), "java"),
        (("for (const a of b) f(a)", "b.forEach((a) => { f(a) })"), "javascript"),
        (("fn f(&self, a: T)", "fn f(&mut self)"), "rust"),
        (("add the definite article", "add a definite article"), None),
    ],
)
def test_pieces_of_code_are_of_the_first_language_in_which_they_parse(
    texts: tuple[str, ...], language: str | None
) -> None:
    assert likely_language(texts) == language


def test_a_broken_fragment_has_no_tree() -> None:
    language = get("java")
    assert isinstance(language, Language)
    assert parse_fragment(language, "int = = ;") is None


def test_languages_by_file_name() -> None:
    assert language_of("a/b/C.CS") is get("csharp")
    assert language_of("README.md") is get("markdown")
    assert isinstance(get("latex"), Markup)
    assert language_of("Makefile") is None
