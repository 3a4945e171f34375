"""From examples to rules, in every language, each verified by ast-grep itself."""

from __future__ import annotations

import pytest

from editvec.core.splice import apply_matches
from editvec.rules.astgrep import scan
from editvec.rules.induction import induce, make_rules, neighbours, why_not
from editvec.rules.matching import match_rules
from editvec.rules.rule import InducedRule, load_rules, runnable
from editvec.rules.sites import edit_example, file_example
from editvec.syntax.languages import Language, get
from editvec.syntax.snippet import snippet_edit

ONE: dict[str, list[tuple[str, str, str | None, str | None]]] = {
    "csharp": [
        ("x = x + 1;", "x++;", "$X = $X + 1", "$X++"),
        ("Assert.Equal(0, xs.Count);", "Assert.Empty(xs);", "Assert.Equal(0, $X.Count)", "Assert.Empty($X)"),
        ("var a = Foo(x == null ? null : x.B);", "var a = Foo(x?.B);", "$X == null ? null : $X.$M", "$X?.$M"),
        ("await Load(id);", "await Load(id).ConfigureAwait(false);", "await $X", "await $X.ConfigureAwait(false)"),
        (
            "public int Size() { return n; }",
            "public int Size() => n;",
            "public int Size() { return $X; }",
            "public int Size() => $X;",
        ),
    ],
    "python": [
        ("self.assertEquals(a, b)", "self.assertEqual(a, b)", "self.assertEquals", "self.assertEqual"),
        ("if len(xs) == 0: pass", "if not xs: pass", "len($X) == 0", "not $X"),
        ("y = dict([(k, v) for k, v in p])", "y = dict((k, v) for k, v in p)", None, None),
    ],
    "java": [("if (s.size() == 0) { f(); }", "if (s.isEmpty()) { f(); }", "$X.size() == 0", "$X.isEmpty()")],
    "javascript": [
        ("const a = xs.indexOf(x) !== -1;", "const a = xs.includes(x);", "$X.indexOf($Y) !== -1", "$X.includes($Y)")
    ],
    "typescript": [("let a: Array<string> = f(x);", "let a: string[] = f(x);", "Array<string>", "string[]")],
    "tsx": [
        ("const a = xs.indexOf(x) !== -1;", "const a = xs.includes(x);", "$X.indexOf($Y) !== -1", "$X.includes($Y)")
    ],
    "go": [
        (
            "err = ioutil.WriteFile(p, b, 0644)",
            "err = os.WriteFile(p, b, 0644)",
            "ioutil.WriteFile",
            "os.WriteFile",
        )
    ],
    "rust": [
        (
            "let n = xs.iter().map(f).flatten();",
            "let n = xs.iter().flat_map(f);",
            "$X.map($Y).flatten()",
            "$X.flat_map($Y)",
        )
    ],
    "cpp": [("if (v.size() == 0) { f(); }", "if (v.empty()) { f(); }", "$X.size() == 0", "$X.empty()")],
}


@pytest.mark.parametrize(("language", "example"), [(name, each) for name, all_ in ONE.items() for each in all_])
def test_one_example_gives_a_rule(language: str, example: tuple[str, str, str | None, str | None]) -> None:
    before, after, pattern, fix = example
    edit = snippet_edit(before, after, language, "e")
    (found,) = make_rules([edit])
    assert isinstance(found.rule, InducedRule)
    if pattern is not None:
        assert (found.rule.before.text, found.rule.after) == (pattern, fix)
    assert found.verification.support == ("e",)
    # What the verification says is so: the YAML as it is written rewrites the example and then has nothing more to do.
    shown = edit_example(edit)
    assert shown is not None
    ((*matches,), rest) = scan(found.rule.as_yaml(), [shown.before, shown.after], language)
    assert apply_matches(shown.before, matches).split() == shown.after.split()
    assert rest == []


def _rules(language: str, *pairs: tuple[str, str]) -> list[tuple[str, str, int]]:
    edits = [snippet_edit(before, after, language, str(at)) for at, (before, after) in enumerate(pairs)]
    found = make_rules(edits)
    return [
        (each.rule.before.text, each.rule.after, len(each.verification.support))
        for each in found
        if isinstance(each.rule, InducedRule)
    ]


def test_what_differs_becomes_a_metavariable_and_the_same_twice_the_same_one() -> None:
    found = _rules(
        "csharp",
        ("var a = x == null ? null : x.Name;", "var a = x?.Name;"),
        ("return customer == null ? null : customer.City;", "return customer?.City;"),
    )
    assert found == [("$X == null ? null : $X.$M", "$X?.$M", 2)]


def test_lists_of_different_lengths_become_any_number() -> None:
    found = _rules(
        "python",
        ("log.warn('a', b, c)", "warn(log, 'a', b, c)"),
        ("log.warn(d)", "warn(log, d)"),
        ("self.log.warn(e, f(g))", "warn(self.log, e, f(g))"),
    )
    assert found == [("$X.warn($$$ARGS)", "warn($X, $$$ARGS)", 3)]
    found = _rules(
        "python",
        ("log.warn('a', b, c)", "await log.warning('a', b, c)"),
        ("log.warn(d)", "await log.warning(d)"),
        ("self.log.warn(e, f(g))", "await self.log.warning(e, f(g))"),
    )
    assert found == [("$X.warn($$$ARGS)", "await $X.warning($$$ARGS)", 3)]


def test_what_is_called_is_known_by_its_call() -> None:
    edits = [
        snippet_edit("log.warn(d)", "log.warning(d)", "python", "a"),
        snippet_edit("self.log.warn(e,\n  f)", "self.log.warning(e,\n  f)", "python", "b"),
    ]
    (found,) = make_rules(edits)
    assert isinstance(found.rule, InducedRule)
    assert (found.rule.before.text, found.rule.after) == ("$X.warn", "$X.warning")
    assert (found.rule.inside, found.rule.field) == ("call", "function")
    # The arguments are not part of it, so their white space stays.
    assert found.verification.exact == ("a", "b")
    ((*matches,),) = scan(found.rule.as_yaml(), [b"x = log.warn\nf(log.warn)\nlog.warn(1)\n"], "python")
    assert [match.start for match in matches] == [25]


def test_a_name_that_moves_to_another_role_is_no_metavariable() -> None:
    found = _rules("python", ("a = b and not oracle", "a = b and not ops.oracle"))
    assert found == [("not oracle", "not ops.oracle", 1)]


def test_the_same_name_in_calls_and_imports_gives_a_rule_for_each() -> None:
    found = _rules(
        "python",
        ("from urllib.parse import urlparse", "from urllib.parse import urlsplit"),
        ("p = urlparse(url)", "p = urlsplit(url)"),
        ("q = urlparse(a.b)", "q = urlsplit(a.b)"),
    )
    assert [(before, support) for before, _, support in found] == [
        ("urlparse($X)", 2),
        ("from urllib.parse import urlparse", 1),
    ]


def test_a_group_may_give_several_rules() -> None:
    found = _rules(
        "csharp",
        ("a = a + 1;", "a++;"),
        ("b.c = b.c + 1;", "b.c++;"),
        ("Assert.Equal(0, xs.Count);", "Assert.Empty(xs);"),
    )
    assert found == [("$X = $X + 1", "$X++", 2), ("Assert.Equal(0, $X.Count)", "Assert.Empty($X)", 1)]


def test_after_may_only_use_what_before_binds() -> None:
    pairs = [("f(a);", "g(a, b);"), ("f(c);", "g(c, d);")]
    # Nothing says what comes second, and what one example says the other contradicts.
    assert _rules("csharp", *pairs) == []
    assert _rules("csharp", pairs[0]) == [("f($X)", "g($X, b)", 1)]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [("x;", "y;", ""), ("f( a );", "f(a);", "at most in white space"), ("f(a)(b);", "f(b)(a);", "")],
)
def test_no_rule_says_why(before: str, after: str, reason: str) -> None:
    edit = snippet_edit(before, after, "javascript", "e")
    example = edit_example(edit)
    assert example is not None
    if not make_rules([edit]):
        assert reason in why_not([example])


def test_what_is_called_matters_when_its_arguments_change() -> None:
    pairs = [("a = f(context);", "a = f(context, b);"), ("c = g(context);", "c = g(context, b);")]
    assert _rules("java", *pairs) == [("f($X)", "f($X, b)", 1), ("g($X)", "g($X, b)", 1)]
    found = _rules("java", ("return a;", "return this.a;"), ("return b;", "return this.b;"))
    assert all("$" not in before for before, _, _ in found)


def test_words_move_out_of_strings_and_into_longer_ones() -> None:
    found = _rules(
        "csharp",
        ('throw new ArgumentNullException("key");', "throw new ArgumentNullException(nameof(key));"),
        ('throw new ArgumentNullException("value");', "throw new ArgumentNullException(nameof(value));"),
    )
    assert found == [('new ArgumentNullException("$X")', "new ArgumentNullException(nameof($X))", 2)]
    found = _rules(
        "go",
        ('return errors.Wrap(err, "read file")', 'return fmt.Errorf("read file: %w", err)'),
        ('e := errors.Wrap(x.err, "commit")', 'e := fmt.Errorf("commit: %w", x.err)'),
    )
    assert found == [('errors.Wrap($X, "$Y")', 'fmt.Errorf("$Y: %w", $X)', 2)]


def test_a_bare_metavariable_is_no_rule() -> None:
    assert _rules("csharp", ("f(a);", "f(a.B());"), ("g(c.d);", "g(c.d.B());")) == []


def test_an_edit_that_could_go_on_for_ever_is_no_rule() -> None:
    examples = [snippet_edit("x = f(a)", "x = g(f(a))", "python", "e")]
    for each in make_rules(examples):
        assert match_rules([runnable(each.rule)], [b"x = g(f(a))\ny = g(f(b))\n"], "python") == [[]]


def test_one_name_is_seldom_what_an_edit_is_about() -> None:
    befores = {
        "rust": ("let a = m.lock().unwrap();", 'let a = m.lock().expect("poisoned");', "$X.lock().unwrap()"),
        "python": ("s = json.dumps(x)", "s = json.dumps(x, default=str)", "json.dumps($X)"),
        "go": (
            "r, e := http.NewRequest(m, u, nil)",
            "r, e := http.NewRequestWithContext(c, m, u, nil)",
            "http.NewRequest",
        ),
        "javascript": ('var fs = require("fs");', 'const fs = require("fs");', "var $M = require($X)"),
    }
    for language, (before, after, start) in befores.items():
        assert [found[0].startswith(start) for found in _rules(language, (before, after))] == [True], language


def test_an_expression_with_operators_is_not_torn_apart() -> None:
    edit = snippet_edit("if (isEmpty(s)) { }", "if (s.isEmpty()) { }", "java", "e")
    (found,) = make_rules([edit])
    assert isinstance(found.rule, InducedRule)
    texts = [b"class C { void m() { f(isEmpty(a + b)); f(isEmpty(a.b())); } }"]
    ((*matches,),) = scan(found.rule.as_yaml(), texts, "java")
    assert [match.replacement for match in matches] == ["a.b().isEmpty()"]


def test_several_places_of_a_file_are_one_rule() -> None:
    language = get("python")
    assert isinstance(language, Language)
    before = b"def f(xs):\n    a = len(xs) == 0\n    return a\n\n\ndef g(ys):\n    return len(ys.zs) == 0\n"
    after = b"def f(xs):\n    a = not xs\n    return a\n\n\ndef g(ys):\n    return not ys.zs\n"
    (found,) = induce([file_example("f.py", language, before, after)])
    assert isinstance(found.rule, InducedRule)
    assert (found.rule.before.text, found.rule.after) == ("len($X) == 0", "not $X")
    # A place that the edit left alone speaks against the rule.
    other = before + b"\n\ndef h(zs):\n    return len(zs) == 0\n"
    kept = induce([file_example("f.py", language, other, other.replace(b"len(xs) == 0", b"not xs"))])
    assert [each.rule.before.text for each in kept if isinstance(each.rule, InducedRule)] == ["$X = len($Y) == 0"]


def test_rules_are_read_back() -> None:
    (found,) = make_rules([snippet_edit("x = x + 1;", "x++;", "csharp", "e")])
    (loaded,) = load_rules(found.rule.as_yaml())
    assert (loaded.id, loaded.language, loaded.message) == (found.rule.id, "csharp", found.rule.summary)
    assert load_rules(loaded.yaml) == [loaded]


def test_the_same_examples_give_the_same_rules() -> None:
    pairs = [("a = a + 1;", "a++;"), ("b.c = b.c + 1;", "b.c++;"), ("d = d + 2;", "d += 2;")]
    assert _rules("csharp", *pairs) == _rules("csharp", *pairs)


def test_bytes_that_are_no_characters_give_no_rule() -> None:
    language = get("python")
    assert isinstance(language, Language)
    assert induce([file_example("f.py", language, b"f('\xff', x)\n", b"g('\xff', x)\n")]) == []


@pytest.mark.parametrize(
    ("language", "before", "after", "file"),
    [
        (
            "csharp",
            "private readonly {0} _{1};",
            "readonly {0} _{1};",
            "class C {{ private readonly {0} _{1}; void M() {{ }} }}",
        ),
        ("java", "private List<{0}> {1};", "List<{0}> {1};", "class C {{ private List<{0}> {1}; void m() {{ }} }}"),
    ],
)
def test_a_rule_of_fragments_fires_on_members_of_files(language: str, before: str, after: str, file: str) -> None:
    names = [("ILog", "log"), ("Cache", "cache"), ("Sink", "sink"), ("Order", "order")]
    edits = [snippet_edit(before.format(*each), after.format(*each), language, each[1]) for each in names]
    (found,) = make_rules(edits)
    texts = [form.format("Bill", "bill") for form in (file, file.replace(before, after))]
    (matches, rest) = scan(found.rule.as_yaml(), [text.encode() for text in texts], language)
    assert apply_matches(texts[0].encode(), matches) == texts[1].encode()
    assert rest == []


@pytest.mark.parametrize(
    ("language", "pairs", "text", "changed"),
    [
        (
            "csharp",
            [(f"[Test] public void M{at}()", f"[Fact] public void M{at}()") for at in range(3)],
            "class Test { [Test] void A(Test t) { var test = new Test(); } }",
            "class Test { [Fact] void A(Test t) { var test = new Test(); } }",
        ),
        (
            "java",
            [("Before a;", "BeforeEach a;"), ("void f(Before b) { }", "void f(BeforeEach b) { }")],
            "class C { Before x; int Before() { return 1; } }",
            "class C { BeforeEach x; int Before() { return 1; } }",
        ),
    ],
)
def test_the_name_of_a_type_or_an_attribute_is_a_pattern(
    language: str, pairs: list[tuple[str, str]], text: str, changed: str
) -> None:
    edits = [snippet_edit(*pair, language, str(at)) for at, pair in enumerate(pairs)]
    (found,) = make_rules(edits)
    assert len(found.verification.support) == len(pairs)
    (matches,) = scan(found.rule.as_yaml(), [text.encode()], language)
    assert apply_matches(text.encode(), matches).decode() == changed


@pytest.mark.parametrize(
    ("language", "before", "after", "text", "changed"),
    [
        (
            "java",
            "List<String> a = new ArrayList<String>();",
            "List<String> a = new ArrayList<>();",
            "class C { ArrayList<String> xs = new ArrayList<String>(); void f(ArrayList<String> ys) { } }",
            "class C { ArrayList<String> xs = new ArrayList<>(); void f(ArrayList<String> ys) { } }",
        ),
        (
            "go",
            "x := []byte(s)",
            "x := bytesconv.StringToBytes(s)",
            "package p\nfunc f(b []byte) []byte { return []byte(t) }\n",
            "package p\nfunc f(b []byte) []byte { return bytesconv.StringToBytes(t) }\n",
        ),
    ],
)
def test_a_type_is_changed_only_where_it_plays_the_same_part(
    language: str, before: str, after: str, text: str, changed: str
) -> None:
    (found,) = make_rules([snippet_edit(before, after, language)])
    (matches,) = scan(found.rule.as_yaml(), [text.encode()], language)
    assert apply_matches(text.encode(), matches).decode() == changed


def test_quotes_are_no_words_of_a_string() -> None:
    ((before, after, _),) = _rules("python", ('print("count %s" % n)', 'print(f"count {n}")'))
    assert (before, after) == ('"count %s" % $X', 'f"count {$X}"')


def test_a_variable_alone_is_no_pattern() -> None:
    pairs = [("Save(Total);", "Save(Sum);"), ("Load(Total);", "Load(Sum);"), ("x = Total;", "x = Sum;")]
    assert all(before not in ("Total",) for before, _, _ in _rules("csharp", *pairs))


def test_one_example_that_only_looks_alike_does_not_stand_in_the_way() -> None:
    names = ("order", "bill", "store", "log", "cart", "owner", "price")
    pairs = [(f'throw new Gone("{name}");', f"throw new Gone(nameof({name}));") for name in names]
    odd = ('throw new Late("item");', "throw new Late(nameof(item));")
    found = _rules("csharp", *pairs[:2], odd, *pairs[2:])
    assert found[0] == ('new Gone("$X")', "new Gone(nameof($X))", len(pairs))


def test_a_rule_has_narrower_and_broader_neighbours() -> None:
    example = edit_example(snippet_edit("var a = require(b);", "const a = require(b);", "javascript", "e"))
    assert example is not None
    (found,) = induce([example])
    assert isinstance(found.rule, InducedRule)
    narrower, broader = neighbours(found.rule, [example])
    assert narrower is None
    assert broader is not None and broader.rule.summary == "var $M = $X;  →  const $M = $X;"
    assert broader.verification.holds
