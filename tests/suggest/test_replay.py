from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.match import Suggestion
from editvec.mining.sweeps import Sweep, SweepSite
from editvec.suggest.replay import (
    LineHunk,
    Verdict,
    commit_hunks,
    is_contained,
    judge,
    line_changes,
    most_similar,
    shown_and_targets,
    with_hunks,
    with_sites,
)
from editvec.vcs.git import open_repository
from tests.conftest import Repo

LINES = st.lists(
    st.sampled_from(["a = f(x)", "b = g(y)", "return", "", "  c", "é = 1", "f(a, b)"]), min_size=1, max_size=12
)


def suggest(path: str, start: int, end: int, after: str, confidence: float = 0.5) -> Suggestion:
    return Suggestion(path, 0, 0, start, end, "", after, confidence, "")


def verdicts(hunks: Sequence[LineHunk], line: int, *texts: str, old: str = "") -> list[Verdict]:
    return [judge(hunks, line, line, text, old) for text in texts]


def text_of(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_the_commit_judges_by_its_hunks() -> None:
    hunks = [LineHunk(2, 1, ("x = read(a, 1)",)), LineHunk(5, 2, ("p()", "q()", "r()")), LineHunk(9, 0, ("new",))]
    right, part, differs, wrong = Verdict
    assert verdicts(hunks, 2, "x = read(a, 1)\n", "x=read(a,1)", old="x = load(a)") == [right, right]
    assert verdicts(hunks, 2, "x = read(a)", "x = load(a, 1)", old="x = load(a)") == [part, part]
    assert verdicts(hunks, 2, "x = parse(a)", "", "x = (a)", old="x = load(a)") == [differs, differs, part]
    assert verdicts(hunks, 2, "x = read(a)") == [differs]
    assert verdicts(hunks, 5, "q()", "p() q()", "s()", "") == [right, right, differs, differs]
    assert verdicts(hunks, 9, "new", "x") == [wrong, wrong] == verdicts(hunks, 1, "x = read(a, 1)", "p()")
    assert judge(hunks, 8, 9, "new") is wrong
    assert judge(hunks, 5, 6, "p()\nq()\nr()\n") is right and judge(hunks, 4, 6, "p()\n") is right


@pytest.mark.parametrize(
    ("old", "text", "new", "contained"),
    [
        ("x = load(a)", "x = read(a)", "y = read(a, 1)", True),
        ("x = load(a)", "x = load(a, 2, 1)", "x = load(a, 1)", False),
        ("a b", "c d", "a c d", False),
        ("x = load(a)", "x = load(a) a", "x = load(a, 1)", False),
        ("x = load(a)", "x = load(a)", "x = load(a, 1)", False),
    ],
)
def test_a_part_adds_and_removes_nothing_else_and_comes_nearer(old: str, text: str, new: str, contained: bool) -> None:
    assert is_contained(old, text, new) is contained
    assert judge([LineHunk(1, 1, (new,))], 1, 1, text, old) is (Verdict.PART if contained else Verdict.DIFFERS)


@given(LINES, LINES, st.data())
def test_the_text_of_the_commit_is_right_and_other_lines_are_wrong(
    before: list[str], after: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(before)))
    count = data.draw(st.integers(1, len(before) - first + 1))
    hunks = [LineHunk(first, count, tuple(after))]
    written = "\n".join(after)
    if written.strip() or count == len(after):
        assert judge(hunks, first, first + count - 1, written) is Verdict.RIGHT
    for line in range(1, len(before) + 1):
        verdict = judge(hunks, line, line, data.draw(st.sampled_from(before + after)), before[line - 1])
        assert (verdict is Verdict.WRONG) == (not first <= line < first + count)


@given(LINES, LINES)
def test_lines_are_one_change_for_all_suggestions_that_share_them(before: list[str], after: list[str]) -> None:
    old, new = text_of(before), text_of(after)
    [whole] = line_changes({"a": old}, [suggest("a", 0, len(old), new.decode())])
    assert (whole.first, whole.last, whole.text.encode(), whole.old.encode()) == (1, len(before), new, old)
    starts = [len(text_of(before[:line])) for line in range(len(before))]
    each = list(line_changes({"a": old}, [suggest("a", start, start, "!") for start in starts]))
    assert [(change.first, change.last, change.text) for change in each] == [
        (line, line, f"!{text}\n") for line, text in enumerate(before, 1)
    ]
    twice = line_changes({"a": old}, [suggest("a", start, start, "!") for start in starts * 2])
    assert [change.text for change in twice] == [f"!!{text}\n" for text in before]


def test_a_threshold_leaves_some_suggestions_of_a_line() -> None:
    data = b"one two\nthree\n"
    changes = list(
        line_changes(
            {"a": data, "b": data},
            [suggest("a", 4, 7, "2", 0.6), suggest("a", 0, 3, "1", 0.9), suggest("b", 8, 13, "3", 0.4)],
        )
    )
    assert [(change.path, change.text, change.above, change.confidence) for change in changes] == [
        ("a", "1 two\n", 0.6, 0.9),
        ("a", "1 2\n", -1.0, 0.6),
        ("b", "3\n", -1.0, 0.4),
    ]


def test_a_threshold_takes_apart_what_a_long_suggestion_joins() -> None:
    found = [suggest("a", 0, 1, "1", 0.9), suggest("a", 4, 5, "3", 0.9), suggest("a", 1, 5, "", 0.3)]
    changes = {(change.text, change.above, change.confidence) for change in line_changes({"a": b"a\nb\nc\n"}, found)}
    assert changes == {("1\n", 0.3, 0.9), ("3\n", 0.3, 0.9), ("13\n", -1.0, 0.3)}


def test_a_suggestion_over_the_last_newline_stays_on_its_lines() -> None:
    for data, end, lines in ((b"a\nb\nc", 4, (1, 2)), (b"a\nb\nc", 5, (1, 3)), (b"a\n", 2, (1, 1))):
        [change] = line_changes({"a": data}, [suggest("a", 0, end, "x")])
        assert (change.first, change.last) == lines
    [behind] = line_changes({"a": b"a\n"}, [suggest("a", 2, 2, "b")])
    assert (behind.first, behind.last, behind.text, behind.old) == (2, 2, "b", "")


def test_hunks_are_those_of_the_commit(repo: Repo) -> None:
    repo.commit({"a.py": "one\ntwo\nthree\nfour\n", "gone.py": "x\n", "é.py": "1\n2\n"})
    changed = {"a.py": "new\none\n2\nthree\n", "gone.py": None, "é.py": "1\nzwö\n", "added.py": "y\n"}
    commit = repo.commit(changed)
    assert commit_hunks(open_repository(repo.path), commit) == {
        "a.py": [LineHunk(0, 0, ("new",)), LineHunk(2, 1, ("2",)), LineHunk(4, 1, ())],
        "é.py": [LineHunk(2, 1, ("zwö",))],
    }


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_sites_shown_are_drawn_by_the_sweep_alone(k: int) -> None:
    sites = tuple(SweepSite("b.py" if line % 2 else "a.py", line, "x", "y") for line in range(8))
    sweep = Sweep("c", "p", "s", sites)
    shown, targets = shown_and_targets(sweep, k)
    mixed = Sweep("c", "p", "s", tuple(random.Random(k).sample(sites, len(sites))))
    assert (shown, targets) == shown_and_targets(mixed, k)
    assert len(shown) == k and sorted(shown + targets) == sorted(sites)
    assert shown == sorted(shown) and targets == sorted(targets)
    assert set(shown) < set(shown_and_targets(sweep, k + 1)[0])
    drawn = {tuple(shown_and_targets(Sweep(f"c{n}", "p", "s", sites), k)[0]) for n in range(20)}
    assert len(drawn) > 3


def test_sites_are_written_line_by_line_with_the_line_ends_of_the_file() -> None:
    sites = [SweepSite("a", 2, "b", "B"), SweepSite("a", 3, "c\r", "C\r"), SweepSite("a", 4, "d", "D")]
    assert with_sites(b"a\nb\r\nc\r\nd", sites) == b"a\nB\r\nC\r\nD"
    assert with_sites(b"a\n", sites) == b"a\nB"


def test_regions_are_written_if_they_keep_the_number_of_lines() -> None:
    data = b"a\nb\r\nc\nd\n"
    hunks = [LineHunk(1, 1, ("A",)), LineHunk(2, 2, ("B\r", "C")), LineHunk(4, 1, ("D", "E")), LineHunk(9, 1, ("x",))]
    assert with_hunks(data, hunks) == b"A\nB\r\nC\nd\n"
    assert hunks[1].lines == {2, 3}


def test_a_changed_region_of_long_lines_is_judged_at_once() -> None:
    letters = "ab cd(ef, gh); " * 300
    after = tuple(f"item({number}, {letters})" for number in range(40)) + (f"{letters} read(a, 1)",)
    start = time.perf_counter()
    assert judge([LineHunk(1, 1, after)], 1, 1, f"{letters} read(a)", f"{letters} load(a)") is Verdict.PART
    assert most_similar("ab", ["b" * 3_000_000, "abc", "a"]) == "abc"
    assert time.perf_counter() - start < 10
