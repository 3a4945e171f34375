"""Variants of one habit are one pattern; what was done at once is a migration; the order follows from questions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from editvec.core.edit import Edit, Source, Version
from editvec.patterns.pattern import Pattern, regrouped, span_of
from editvec.patterns.ranking import Course, best, course_of
from editvec.patterns.reserved import reason_to_ask
from editvec.patterns.selection import is_below, is_merge_or_revert, to_learn_from
from editvec.patterns.variants import gather, is_instance
from editvec.patterns.wording import ChangeKind
from editvec.rules.rule import Rule
from editvec.suggest.evidence import Evidence
from editvec.syntax import lexer
from editvec.syntax.snippet import snippet_edit

START = datetime(2020, 1, 1, tzinfo=UTC)


def edit(commit: str, days: float, author: str = "a", message: str = "", side: str = "x") -> Edit:
    source = Source("r", commit, f"{commit}.cs", author, START + timedelta(days=days), message=message)
    return Edit(f"{commit}:{side}", "csharp", Version(side, (side,)), Version("y", ("y",)), source=source)


def pattern(before: str, after: str, edits: list[Edit], *, ruled: bool = True, name: str = "") -> Pattern:
    name = name or before
    return Pattern(
        name=name,
        title=name,
        quotation="",
        kind=ChangeKind.REPLACEMENT,
        words=(),
        language="csharp",
        before=before,
        after=after,
        edits=tuple(edits),
        num_edits=len(edits),
        commits=len({each.source.commit for each in edits if each.source}),
        authors=len({each.source.author for each in edits if each.source}),
        span=span_of(edits),
        course=course_of(edits),
        rule=Rule(name, "csharp", "") if ruled else None,
    )


def made(commits: str, *, every: float = 100, side: str = "x", authors: str = "ab") -> list[Edit]:
    return [edit(c, at * every, authors[at % len(authors)], side=side) for at, c in enumerate(commits)]


def test_rules_that_change_the_same_names_are_one_pattern() -> None:
    one = pattern("$X.Should().Be", "$X.ShouldBe", made("abcd"))
    other = pattern("y.Should().Be($Z)", "y.ShouldBe($Z)", made("ef", side="o"))
    foreign = pattern("$X.Run()", "await $X.Run()", made("gh", side="f"))
    joined, alone = gather([foreign, other, one])
    assert (joined.before, [each.before for each in joined.variants]) == (one.before, [other.before])
    assert (joined.num_edits, joined.commits, len(joined.rules)) == (6, 6, 2)
    assert alone == foreign


def test_rules_that_write_the_same_for_any_name_are_one_pattern() -> None:
    rules = [pattern(f"{name} $M = $X", "var $M = $X", made("abcd", side=name)) for name in ("Type", "object", "bool")]
    (joined,) = gather(rules)
    assert len(joined.rules) == 3
    assert len(gather([pattern("Old", "New", made("abc")), pattern("Older", "New", made("def", side="o"))])) == 2


def test_overlapping_commits_join_names_that_are_mostly_the_same() -> None:
    one = pattern("$X.Should().Be", "$X.ShouldBe", made("abcd"))
    false = pattern("$X.Should().BeFalse", "$X.ShouldBeFalse", made("ab", side="o"))
    assert len(gather([one, false])) == 1
    elsewhere = pattern("$X.Should().BeFalse", "$X.ShouldBeFalse", made("xy", side="o"))
    assert len(gather([one, elsewhere])) == 2


@pytest.mark.parametrize(
    ("special", "general", "expected"),
    [
        (("f(a.b, 1)", "g(a.b)"), ("f($X, 1)", "g($X)"), True),
        (("x = f(a, 1);", "x = g(a);"), ("f($X, 1)", "g($X)"), True),
        (("f(a, 1)", "g(b)"), ("f($X, 1)", "g($X)"), False),
        (("f($X, 1)", "g($X)"), ("f(a, 1)", "g(a)"), False),
        (("f()", "g()"), ("f($$$ARGS)", "g($$$ARGS)"), True),
    ],
)
def test_an_instance_does_what_the_general_rule_does(
    special: tuple[str, str], general: tuple[str, str], expected: bool
) -> None:
    sides = [tuple(lexer.lex(text.encode()).texts for text in each) for each in (special, general)]
    assert is_instance((sides[0][0], sides[0][1]), (sides[1][0], sides[1][1])) is expected


def test_what_few_commits_did_at_once_is_a_migration() -> None:
    assert course_of(made("abcd")) is Course.HABIT
    assert course_of(made("aaab", every=5)) is Course.MIGRATION
    assert course_of(made("abcdef", every=2)) is Course.HABIT  # six commits of two authors
    assert course_of(made("abcdef", every=2, authors="a")) is Course.MIGRATION
    assert course_of([*made("aaaaaaaa", every=1), edit("z", 900)]) is Course.MIGRATION  # one straggler
    assert course_of([replace(each, source=None) for each in made("aa")]) is Course.HABIT


def test_the_order_asks_one_question_after_the_other() -> None:
    end = START + timedelta(days=500)
    habit = replace(pattern("$X.Old()", "$X.New()", made("abcd")), evidence=Evidence(4, 4))
    order = [
        habit,
        replace(habit, name="less often", commits=3),
        replace(habit, name="twice", commits=2),
        replace(habit, name="one author", authors=1, commits=2),
        replace(habit, name="seldom where it matches", evidence=Evidence(9, 2), commits=9),
        replace(habit, name="imports", of_imports=True, commits=9),
        replace(habit, name="brackets", before="f($X)", after="f($X);", commits=9),
        replace(habit, name="at once", course=Course.MIGRATION, commits=9),
        replace(habit, name="often taken back", num_reversed=2, commits=9),
        replace(habit, name="no rule", rule=None, evidence=None, commits=9),
    ]
    assert [each.name for each in best(order[::-1], end, 10)] == [each.name for each in order]
    assert [each.name for each in best(order, end, 1)] == [habit.name, "at once", "often taken back"]
    no_pattern = [replace(habit, rule=None, course=Course.MIGRATION), replace(habit, num_reversed=habit.num_edits)]
    assert best(no_pattern, end, 10) == []
    long_ago = replace(habit, name="long ago", commits=9)
    assert best([long_ago, replace(habit, span=(START, end))], end + timedelta(days=700), 2)[0].name == habit.name


def test_what_one_commit_left_alone_is_not_due() -> None:
    once = pattern("$X.Old()", "$X.New()", [edit("a", 0, side="x"), edit("a", 0, side="y")])
    (found,) = gather([once])
    assert "one commit" in found.reserved
    (joined,) = gather([once, pattern("a.Old()", "a.New()", made("bc", side="o"))])
    assert [each.reserved for each in (joined, *joined.variants)] == ["", ""]


def test_places_of_variants_belong_to_their_pattern_and_say_how_much_is_done() -> None:
    one = pattern("$X.Should().Be", "$X.ShouldBe", made("abcd"))
    other = pattern("y.Should().Be($Z)", "y.ShouldBe($Z)", made("ef", side="o"))
    (joined,) = gather([one, other])
    assert joined.done is None
    found = {each.name: replace(each, evidence=Evidence(3, 3, left=3)) for each in (joined, *joined.variants)}
    (again,) = regrouped([joined], found)
    assert again.done == 6 / 12
    assert [each.evidence for each in again.variants] == [Evidence(3, 3, left=3)]


def test_merges_reverts_and_reverted_commits_do_not_count() -> None:
    kept = edit("0123456789", 1, "Ada")
    undone = edit("abcdef0123", 2, "Ada", "Use the new API")
    edits = [
        kept,
        undone,
        edit("c", 3, "Ada", "Merge branch 'main' into topic"),
        edit("d", 4, "Ada", 'Revert "Use the new API"\n\nThis reverts commit abcdef0.'),
        edit("e", 5, "Ben", "Merge sort is stable"),
    ]
    assert [each.id for each in to_learn_from(edits)] == [kept.id, edits[-1].id]
    assert to_learn_from(edits, ["ADA"]) == [kept]
    assert is_merge_or_revert("Merge pull request #3 from a/b")
    assert not is_merge_or_revert("Use the reverse order")


def test_paths_choose_files_and_folders() -> None:
    assert is_below("src/a.py", ())
    assert is_below("src/a.py", ("src",)) and is_below("src/a.py", ("src/a.py",)) and is_below("src/a.py", (".",))
    assert not is_below("srcs/a.py", ("src",))


@pytest.mark.parametrize(
    ("language", "before", "after", "reason"),
    [
        ("csharp", "private int x;", "private readonly int x;", "readonly"),
        ("csharp", "private static int x;", "private int x;", "static"),
        ("csharp", "public void F(IList<int> x)\n{\n}", "public void F(List<int> x)\n{\n}", "promise"),
        ("java", "public int f(int x) {\n}", "public long f(int x) {\n}", "promise"),
        ("python", "def f(x):\n    pass", "def f(x) -> None:\n    pass", "promise"),
        ("go", "func f(a int) error {\n}", "func f(a int64) error {\n}", "promise"),
        ("rust", "fn f(a: u8) {}", "fn f(a: u16) {}", "promise"),
        ("typescript", "function f(a: string) {}", "function f(a: number) {}", "promise"),
        ("cpp", "void f(int a) {}", "void f(long a) {}", "promise"),
        ("csharp", "[Test]\npublic void F()\n{\n}", "[Fact]\npublic void F()\n{\n}", ""),
        ("csharp", "int x = f(1);", "long x = f(1);", ""),
        ("python", "def f(x):\n    return g(x)", "def f(x):\n    return h(x)", ""),
        ("javascript", "var a = 1;", "const a = 1;", ""),
        ("markdown", "use", "employ", "sense"),
        ("markdown", "can not", "cannot", ""),
    ],
)
def test_some_changes_only_an_author_can_decide_on(language: str, before: str, after: str, reason: str) -> None:
    example = snippet_edit(before, after, language, "1")
    found = reason_to_ask(before, after, [example])
    assert (reason in found) if reason else not found
