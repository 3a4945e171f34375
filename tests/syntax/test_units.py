"""Units: what a changed line belongs to."""

from __future__ import annotations

import pytest

from editvec.syntax.languages import Language, get
from editvec.syntax.treesitter import Parsed

RUST = """\
fn f() {
    let md =
        match g(&pb) {
            Ok(x) => x,
            Err(e) => {
                return;
            }
        };
    c()
}
"""
CSHARP = """\
class A {
    public int P { get; set; }
    void M(int a) {
        if (a > 1 &&
            b)
            return;
        else if (c) {
            Run(() => {
                Go(1);
            }, 2);
        }
        var x = new T {
            A = 1,
            B = 2,
        };
    }
}
"""
PYTHON = """\
@dec(1)
class A(B):
    def f(self):
        if a:
            g(1,
              2)
        elif b:
            pass
        return {
            "k": 1,
        }
"""


def units_of_lines(name: str, text: str) -> list[list[str]]:
    language = get(name)
    assert isinstance(language, Language)
    parsed = Parsed(language, text.encode())
    found = []
    at = 0
    for line in text.splitlines(keepends=True):
        start, end = at + len(line) - len(line.lstrip()), at + len(line.rstrip())
        found.append([" ".join(text[unit.start : unit.end].split()) for unit in parsed.units(start, end)])
        at += len(line)
    return found


@pytest.mark.parametrize(
    ("name", "text", "line", "expected"),
    [
        ("rust", RUST, 1, ["fn f()"]),
        ("rust", RUST, 2, ["let md = match g(&pb)"]),
        ("rust", RUST, 3, ["let md = match g(&pb)"]),
        ("rust", RUST, 4, ["Ok(x) => x,"]),
        ("rust", RUST, 5, ["Err(e) =>"]),
        ("rust", RUST, 9, ["c()"]),
        ("csharp", CSHARP, 1, ["class A"]),
        ("csharp", CSHARP, 2, ["public int P { get; set; }"]),
        ("csharp", CSHARP, 3, ["void M(int a)"]),
        ("csharp", CSHARP, 5, ["if (a > 1 && b)"]),
        ("csharp", CSHARP, 6, ["return;"]),
        ("csharp", CSHARP, 8, ["Run(() =>"]),
        ("csharp", CSHARP, 9, ["Go(1);"]),
        ("csharp", CSHARP, 10, [", 2);"]),
        ("csharp", CSHARP, 13, ["var x = new T { A = 1, B = 2, };"]),
        ("python", PYTHON, 1, ["@dec(1)"]),
        ("python", PYTHON, 3, ["def f(self):"]),
        ("python", PYTHON, 4, ["if a:"]),
        ("python", PYTHON, 6, ["g(1, 2)"]),
        ("python", PYTHON, 7, ["elif b:"]),
        ("python", PYTHON, 10, ['return { "k": 1, }']),
    ],
)
def test_the_unit_of_a_line(name: str, text: str, line: int, expected: list[str]) -> None:
    assert units_of_lines(name, text)[line - 1] == expected


def test_an_empty_range_touches_the_unit_that_it_lies_in() -> None:
    language = get("csharp")
    assert isinstance(language, Language)
    parsed = Parsed(language, CSHARP.encode())
    inside, between = CSHARP.index("            B = 2"), CSHARP.index("        var x")
    assert [unit.kind for unit in parsed.units(inside, inside)] == ["local_declaration_statement"]
    assert parsed.units(between, between) == []
