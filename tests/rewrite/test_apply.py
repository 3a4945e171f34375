"""Rules over real files: no byte outside an edit changes, and nothing is written that should not be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from editvec.core.errors import BadInputError, UserError
from editvec.core.match import Match
from editvec.core.text import FileText
from editvec.rewrite.writer import dirty_files, find_files, write_file
from editvec.rules.induction import make_rules
from editvec.rules.rule import Rule, load_rules
from editvec.suggest.match import plan_files
from editvec.syntax.snippet import snippet_edit
from tests.conftest import Repo


def _rule(before: str, after: str, language: str = "csharp") -> list[Rule]:
    (found,) = make_rules([snippet_edit(before, after, language, "e")])
    return load_rules(found.rule.as_yaml())


@pytest.fixture(scope="module")
def increment() -> list[Rule]:
    return _rule("x = x + 1;", "x++;")


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_marks_and_line_ends_stay(increment: list[Rule], codec: str, newline: str) -> None:
    lines = ["class Ä {", "  void M() {", "    n = n + 1; /* é */", "    ö = ö + 1;", "  }", "}"]
    data = newline.join(lines).encode(codec)
    expected = newline.join(lines).replace("n = n + 1", "n++").replace("ö = ö + 1", "ö++").encode(codec)
    (change,) = plan_files(increment, [(None, data)])
    assert change.after == expected
    assert change.problem == ""
    assert plan_files(increment, [(None, change.after)]) == []


def test_places_inside_places() -> None:
    rule = _rule("await Load(id);", "await Load(id).ConfigureAwait(false);")
    (change,) = plan_files(rule, [(None, b"class C { void M() { await F(await G(await H())); } }")])
    end = b".ConfigureAwait(false)"
    inner = b"await F(await G(await H()" + end + b")" + end + b")" + end
    assert change.after == b"class C { void M() { " + inner + b"; } }"
    assert plan_files(rule, [(None, change.after)]) == []


def test_a_line_that_a_fix_begins_ends_like_the_others() -> None:
    (rule,) = load_rules(
        "id: a\nlanguage: csharp\nrule: {kind: expression_statement, regex: ^F}\nfix: |-\n  A();\n  B();\n"
    )
    (change,) = plan_files([rule], [(None, b"class C {\r\n  void M() {\r\n    F();\r\n  }\r\n}\r\n")])
    assert change.after == b"class C {\r\n  void M() {\r\n    A();\r\n    B();\r\n  }\r\n}\r\n"


@pytest.mark.parametrize(
    ("before", "after", "language", "code", "expected"),
    [
        ("add(x, y)", "x + y", "javascript", "z = 2 * add(a, b);", "z = 2 * (a + b);"),
        ("add(x, y)", "x + y", "javascript", "z = f(add(a, b), c);", "z = f(a + b, c);"),
        ("x * 2", "x << 1", "python", "y = 1 + a * 2", "y = 1 + (a << 1)"),
        ("x.get(y)", "x or y", "python", "e = d.get(k).strip()", "e = (d or k).strip()"),
        ("pow(x, 2)", "x ** 2", "python", "g = -pow(a, 2) ** pow(b, 2)", "g = -(a ** 2) ** b ** 2"),
        ("!xs.Any()", "xs.Count == 0", "csharp", "bool B() => ok == !ys.Any();", "bool B() => ok == (ys.Count == 0);"),
        ("!xs.Any()", "xs.Count == 0", "csharp", "bool B() => !ys.Any();", "bool B() => ys.Count == 0;"),
    ],
)
def test_what_is_written_means_the_same_where_it_stands(
    before: str, after: str, language: str, code: str, expected: str
) -> None:
    (change,) = plan_files(_rule(before, after, language), [(None, code.encode())])
    assert change.problem == ""
    assert change.after.decode() == expected


def test_what_no_brackets_can_save_is_left_alone() -> None:
    (rule,) = load_rules("id: a\nlanguage: python\nrule: {pattern: f($X)}\nfix: 'lambda y: $X'\n")
    (change,) = plan_files([rule], [(None, b"a = f(1)(2)\n")])
    assert change.after == b"a = (lambda y: 1)(2)\n"
    (rule,) = load_rules("id: a\nlanguage: python\nrule: {pattern: f($X)}\nfix: x = $X\n")
    assert plan_files([rule], [(None, b"a = f(1) + 2\n")]) == []


def test_a_line_that_stays_keeps_its_end_among_others() -> None:
    rule = _rule("await Load(id);", "await Load(id).ConfigureAwait(false);")
    data = b"class C {\r\n  void M() {\r\n    await Get(a,\n b,\r\n c);\r\n  }\r\n}\r\n"
    (change,) = plan_files(rule, [(None, data)])
    assert change.after == data.replace(b"c);", b"c).ConfigureAwait(false);")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("inside", [" b,\n c", "b,\n        c", '@"one\n two\n\n    three"', '@"\n "'])
def test_lines_that_are_carried_along_stay_as_they_are(inside: str, end: str) -> None:
    rule = _rule("await Load(id);", "await Load(id).ConfigureAwait(false);")
    text = f"class C {{\n  void M() {{\n    await Get(a,\n{inside});\n  }}\n}}\n".replace("\n", end)
    (change,) = plan_files(rule, [(None, text.encode())])
    assert change.after.decode() == text.replace(");", ").ConfigureAwait(false);")


def test_what_would_no_longer_parse_is_a_problem() -> None:
    (rule,) = load_rules("id: a\nlanguage: python\nrule: {pattern: f($X)}\nfix: f($X))\n")
    (change,) = plan_files([rule], [(None, b"a = f(1)\n")])
    assert "parse" in change.problem
    # What did not parse before is not made worse by our standards.
    (rule,) = load_rules("id: a\nlanguage: python\nrule: {pattern: f($X)}\nfix: g($X)\n")
    (change,) = plan_files([rule], [(None, b"a = = f(1)\n")])
    assert change.problem == ""


def test_what_an_encoding_cannot_say_is_a_problem() -> None:
    (rule,) = load_rules("id: a\nlanguage: python\nrule: {pattern: f($X)}\nfix: f($X, '→')\n")
    (change,) = plan_files([rule], [(None, b"a = f('\xe9')\n")])
    assert "latin-1" in change.problem


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "contains no rule"),
        ("a: [", "not valid YAML"),
        ("- 1", "a mapping with a language"),
        ("language: klingon\nfix: a", "unknown language"),
        ("id: x\nlanguage: python\nrule: {pattern: a}", "no fix"),
        ("id: x\nlanguage: python\nfix: a", "no rule: part"),
        ("id: x\nlanguage: markdown\nfix: a", "needs fix: with a text, and prose:"),
    ],
)
def test_damaged_rules(text: str, error: str) -> None:
    with pytest.raises(UserError, match=error):
        load_rules(text, "r.yml")


def test_ast_grep_says_what_it_does_not_understand() -> None:
    with pytest.raises(UserError, match="ast-grep does not understand"):
        plan_files(load_rules("id: x\nlanguage: python\nrule: {kind: nonsense}\nfix: a"), [(None, b"x = 1\n")])
    assert issubclass(BadInputError, UserError)


def test_files_of_a_repository(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write(
        {
            ".gitignore": "ignored.cs\n",
            "a.cs": "class A { }",
            "b.py": "",
            "ignored.cs": "",
            "new.cs": "",
            "vendor/x.cs": "",
            "x.Designer.cs": "",
            "d/c.cs": "",
        }
    )
    repo.git("add", "a.cs", "b.py", "d", "vendor")
    (repo.path / "link.cs").symlink_to(tmp_path / "outside.cs")
    (tmp_path / "outside.cs").write_text("class O { }")
    (repo.path / "inside.cs").symlink_to("a.cs")
    found = [file.relative_to(repo.path).as_posix() for file in find_files([repo.path], {"csharp"})]
    assert found == ["a.cs", "d/c.cs", "new.cs"]
    twice = find_files([repo.path / "a.cs", repo.path / "d" / ".." / "a.cs", repo.path / "inside.cs"], {"csharp"})
    assert [file.name for file in twice] == ["a.cs"]
    below = find_files([repo.path / "d", repo.path / "d" / "c.cs"], {"csharp"})
    assert [file.name for file in below] == ["c.cs"]
    with pytest.raises(UserError, match="does not exist"):
        list(find_files([tmp_path / "nowhere"], {"csharp"}))


def test_files_outside_of_a_repository(tmp_path: Path) -> None:
    for name in ("a.py", "d/b.py", ".hidden/c.py", "node_modules/d.py", "e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [file.relative_to(tmp_path).as_posix() for file in find_files([tmp_path], {"python"})] == ["a.py", "d/b.py"]


def test_writing_keeps_mode_and_link(tmp_path: Path) -> None:
    file = tmp_path / "a.sh"
    file.write_bytes(b"one")
    file.chmod(0o751)
    link = tmp_path / "l.sh"
    link.symlink_to("a.sh")
    write_file(link, b"one", b"two")
    assert link.is_symlink()
    assert file.read_bytes() == b"two"
    assert file.stat().st_mode & 0o7777 == 0o751
    assert {each.name for each in tmp_path.iterdir()} == {"a.sh", "l.sh"}
    with pytest.raises(UserError, match="has changed since"):
        write_file(file, b"one", b"three")
    assert file.read_bytes() == b"two"


def test_uncommitted_changes_are_seen(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({"a.cs": "1", "d/b.cs": "1", "c.cs": "1"})
    repo.git("add", ".")
    repo.git("commit", "-qm", "x")
    repo.write({"d/b.cs": "22"})
    files = [repo.path / "a.cs", repo.path / "d/b.cs", repo.path / "c.cs"]
    assert dirty_files(files) == [repo.path / "d/b.cs"]
    assert dirty_files([tmp_path]) == []


@pytest.mark.parametrize("data", [b"\xff\xfea", b"\xff\xfe\x00\xd8", b"\xef\xbb\xbfx", b"a\xffb", b""])
def test_any_bytes_have_a_text(data: bytes) -> None:
    source = FileText(data)
    assert source.edit(0, len(source.utf8), source.utf8.decode()).text == data


def test_what_is_also_found_counts_where_no_rule_fires(increment: list[Rule]) -> None:
    text = b"class A { void M() { count = count + 1; Log(); } }"
    place, line = text.index(b"Log"), text.index(b"count = ")

    def also(texts: Sequence[bytes]) -> list[list[Match]]:
        assert list(texts) == [text]
        return [
            [Match("x", line, line + 18, "count = count + 1;", "no();"), Match("x", place, place + 3, "Log", "Say")]
        ]

    (change,) = plan_files(increment, [(None, text)], also=also)
    assert change.after == b"class A { void M() { count++; Say(); } }"
    (change,) = plan_files([], [(None, text)], "csharp", also=also)
    assert change.after == b"class A { void M() { no(); Say(); } }"
