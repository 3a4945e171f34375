"""Reading only what is near gives what reading all gives."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.syntax.languages import Language, code_languages, get
from editvec.syntax.layout import Layout, LayoutChange, arrange, find_braces, move_braces
from editvec.syntax.treesitter import LineEdit, Parsed
from tests.syntax.samples import SAMPLES

BRACED = [language.name for language in code_languages() if language.braces]
METHOD = "    int M{n}(int a{n}) {{\n        var x{n} = a{n} + f; // {{\n        return x{n};\n    }}\n\n"
LARGE = (
    'class A {\n    int f = 1; string s = "}}";\n'
    + "".join(METHOD.format(n=number) for number in range(30))
    + "    int last;\n}\n"
)


def scan(data: bytes) -> Layout | None:
    return arrange(data, find_braces(data))


def _language(name: str) -> Language:
    language = get(name)
    assert isinstance(language, Language)
    return language


@given(st.integers(2, 150))
def test_near_lines_read_as_in_the_whole_file(line: int) -> None:
    whole = Parsed(_language("csharp"), LARGE.encode())
    near = Parsed(_language("csharp"), LARGE.encode(), places=[(line, line + 1)], margin=4)
    low, high = whole.line_starts[line - 1], whole.line_starts[min(line + 2, len(whole.line_starts) - 1)]
    assert near.leaves(low, high) == whole.leaves(low, high)
    touched = [(unit.start, unit.end, unit.kind) for unit in whole.units(low, high)]
    assert [(unit.start, unit.end, unit.kind) for unit in near.units(low, high)] == touched
    for name in ("f", "s", "last", "x3", "a29", "M3", "A"):
        assert near.declares_member(name) == whole.declares_member(name)
        assert near.declares(name) == whole.declares(name) == (name not in ("M3", "A"))
    assert near.locals_at(low + 6) == whole.locals_at(low + 6)


def test_far_bodies_are_not_read() -> None:
    near = Parsed(_language("csharp"), LARGE.encode(), places=[(2, 3)], margin=1)
    assert near.read is not None
    read = b"".join(near.data[low:high] for low, high in near.read)
    assert b"x0 =" in read
    assert b"x20 =" not in read


def test_what_was_left_out_is_read_when_it_is_asked_for() -> None:
    whole = Parsed(_language("csharp"), LARGE.encode())
    near = Parsed(_language("csharp"), LARGE.encode(), places=[(2, 3)], margin=1)
    assert near.leaves(0, len(near.data)) == whole.leaves(0, len(whole.data))


@pytest.mark.parametrize("name", BRACED)
def test_every_line_of_a_sample_reads_the_same(name: str) -> None:
    data = SAMPLES[name].encode()
    whole = Parsed(_language(name), data)
    for line in range(len(whole.line_starts) - 1):
        near = Parsed(_language(name), data, places=[(line, line + 1)], margin=3)
        low, high = whole.line_starts[line], whole.line_starts[line + 1]
        assert [leaf[:3] for leaf in near.leaves(low, high)] == [leaf[:3] for leaf in whole.leaves(low, high)]


@pytest.mark.parametrize("text", [b"class A { void M() { }", b"} class A {", b'class A { string s = "{"; ', b"{{}"])
def test_unbalanced_braces_have_no_layout(text: bytes) -> None:
    assert scan(text) is None


@pytest.mark.parametrize(
    "text",
    [
        b'class A { string s = "{"; }',
        b"class A { char c = '{'; }",
        b"class A { // {\n }",
        b"class A { /* { */ }",
        b'class A { string s = @"{\\"; }',
        b"const x = `{`; function f() { }",
        b'let x = r#"{ " "#; fn f() { }',
        b'auto x = R"({)"; void f() { }',
    ],
)
def test_braces_in_strings_and_comments_do_not_count(text: bytes) -> None:
    layout = scan(text)
    assert layout is not None
    assert len(layout.blocks) + len(layout.containers) == 1


DECLARATIONS = [
    (
        "csharp",
        "class A {\n int x;\n string Y { get; } = F();\n int[] z = { 1 }, w;\n void M(int p) { }\n enum E { Q }\n}\n",
    ),
    (
        "csharp",
        'namespace N {\n [T("x")]\n public class A : B, C {\n  public L<int> E { get; set; } = "e";\n\n'
        "  /// <c>E</c>\n  public L<short> F { get; set; }\n  L D.G { get { return E; } }\n  event H i, j;\n }\n}\n",
    ),
    (
        "csharp",
        "class A {\n#if X\n int k = 1;\n void M() { }\n#else\n long k = 1, n;\n void M() { }\n#endif\n int l;\n}\n",
    ),
    ("java", "class A {\n A x = new A() { };\n int[] y = {1}, z;\n class B { int w; }\n void m(int p) { }\n}\n"),
    ("go", "package p\nvar x = []struct {\n\ta int\n}{\n\t{1},\n}\nfunc f() {\n}\nvar y = 1\n"),
    (
        "cpp",
        "struct S {\n int x{1};\n int* y;\n int z[2];\n};\nint w = 1;\nstruct T { int a; } v = {1};\nvoid f() { }\n",
    ),
    ("rust", "const X: u8 = 1;\nstruct S { y: u8 }\nimpl S { fn f(&self) { } }\nstatic Z: [u8; 1] = [1];\n"),
]


@pytest.mark.parametrize(("name", "text"), DECLARATIONS)
def test_members_are_known_by_the_segment_that_declares_them(name: str, text: str) -> None:
    whole = Parsed(_language(name), text.encode())
    near = Parsed(_language(name), text.encode(), places=[(0, 1)], margin=0)
    assert near.layout is not None
    words = set(re.findall(r"\w+", text))
    assert any(True in whole.declares_member(word) for word in words)
    for word in words:
        assert near.declares_member(word) == whole.declares_member(word), word


@pytest.mark.parametrize("value", ["F()", '"a;b"', '"${a}"', "'x'", '"\\";"', "1\n  + 2"])
def test_a_segment_makes_sense_without_the_value_before_it(value: str) -> None:
    text = f"class A : B {{\n string X {{ get; }} = {value};\n public L<int> Y {{ get; set; }}\n}}\n".encode()
    layout = scan(text)
    assert layout is not None
    segment = next(at for at, (low, high) in enumerate(layout.segments) if b"Y" in text[low:high])
    read = b"".join(text[low:high] for low, high in layout.alone(text, segment))
    assert not Parsed(_language("csharp"), read).tree.root_node.has_error, read
    assert Parsed(_language("csharp"), text, places=[(0, 1)]).declares_member("X") == (True, True)


@pytest.mark.parametrize("name", ["csharp", "java"])
def test_a_long_list_of_names_takes_no_long_time(name: str) -> None:
    text = b"class A {\n void M() {\n  F(" + b"x, " * 100_000 + b"x);\n }\n int y;\n}\n"
    start = time.process_time()
    near = Parsed(_language(name), text, places=[(4, 5)], margin=0)
    assert not near.declares("x")
    assert near.declares("y")
    assert time.process_time() - start < 5


@pytest.mark.parametrize("name", BRACED)
@given(data=st.data())
def test_braces_move_with_the_lines(name: str, data: st.DataObject) -> None:
    before = SAMPLES[name].splitlines(keepends=True) * 2
    strange = ["/*\n", "*/\n", "`\n", '"\n', 'x = @"\n', "// {\n", "'{'\n", "}\n", "if (a) {\n", '"""\n']
    after: list[str] = []
    changes = []
    at = 0
    for first, size in sorted(
        data.draw(st.lists(st.tuples(st.integers(0, len(before)), st.integers(0, 3)), max_size=3))
    ):
        if first < at:
            continue
        after += before[at:first]
        at = min(len(before), first + size)
        new = data.draw(st.lists(st.sampled_from(before + strange), max_size=3))
        ends = [len("".join(lines).encode()) for lines in (before[:first], before[:at], after, after + new)]
        changes.append(LayoutChange(*ends))
        after += new
    old, new_data = "".join(before).encode(), "".join(after + before[at:]).encode()
    assert move_braces(list(find_braces(old)), old, new_data, changes) == list(find_braces(new_data))


@given(st.binary(max_size=100))
def test_scanning_any_bytes_ends(data: bytes) -> None:
    layout = scan(data)
    if layout is not None:
        assert all(0 <= low <= high <= len(data) for low, high in layout.segments)


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
def test_parsing_on_top_of_the_previous_version_is_parsing(name: str, data: st.DataObject) -> None:
    before = SAMPLES[name].splitlines(keepends=True)
    first = data.draw(st.integers(0, len(before)))
    last = data.draw(st.integers(first, min(len(before), first + 3)))
    new = data.draw(st.lists(st.sampled_from([*before, "\n", "x\n", "  foo(1)\n"]), max_size=3))
    after = before[:first] + new + before[last:]
    old = Parsed(_language(name), "".join(before).encode())
    edit = LineEdit(first, last, first, first + len(new))
    fresh = Parsed(_language(name), "".join(after).encode())
    on_top = Parsed(_language(name), fresh.data, previous=(old, [edit]))
    # tree-sitter may hang a comment on another node then, and mend errors in another way; tokens stay the same.
    if not fresh.tree.root_node.has_error:
        assert on_top.leaves(0, len(fresh.data)) == fresh.leaves(0, len(fresh.data))
