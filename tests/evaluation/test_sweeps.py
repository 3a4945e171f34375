from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.match import Suggestion
from editvec.evaluation.assisted import assist, summarise_assisted
from editvec.evaluation.kinds import EditKind, kind_of, kind_of_sweep
from editvec.evaluation.metrics import ratio
from editvec.evaluation.sweeps import (
    METRICS,
    JudgedChange,
    SweepScore,
    by_kind,
    calibration_error,
    recall_at,
    reliability,
    score_sweep,
    summarise,
    with_oracle,
)
from editvec.mining.sweeps import Sweep, cut_sweeps
from editvec.suggest.replay import LineHunk, Verdict, commit_hunks, shown_and_targets, with_sites
from editvec.vcs.git import open_repository
from editvec.vcs.worktree import File
from tests.conftest import Repo

RIGHT, PART, DIFFERS, WRONG = Verdict
NAMES = ("alpha", "beta", "gamma", "delta")

VERDICTS = st.tuples(st.floats(0, 1), st.sampled_from(Verdict))
SCORES = st.lists(st.tuples(st.integers(1, 5), st.lists(VERDICTS, max_size=6)), min_size=1, max_size=8)


def score(targets: int, *changes: tuple[float, Verdict], kind: EditKind = EditKind.NAME) -> SweepScore:
    judged = tuple(JudgedChange(sure, -1.0, verdict, int(verdict is RIGHT)) for sure, verdict in changes)
    return SweepScore("r", "python", "c", "s", kind, 1, targets, judged)


def values(scores: Sequence[SweepScore], threshold: float = 0.0) -> dict[str, float]:
    return {name: round(estimate.value, 3) for name, estimate in summarise(scores, threshold).items()}


def test_metrics_of_three_sweeps() -> None:
    scores = [
        score(2, (0.9, RIGHT), (0.8, RIGHT), (0.4, WRONG)),
        score(4, (0.9, RIGHT), (0.7, PART), (0.6, DIFFERS), (0.3, WRONG)),
        score(1),
    ]
    assert values(scores) == {
        "recall": 0.417,
        "strict": 0.458,
        "useful": 0.583,
        "touched": 0.708,
        "strict_of_all": 0.429,
        "useful_of_all": 0.571,
        "touched_of_all": 0.714,
        "whole": 0.333,
        "clean": 0.0,
        "said": 0.667,
    }
    sure = values(scores, 0.65)
    assert (sure["clean"], sure["useful"], sure["strict"], sure["recall"]) == (0.333, 1.0, 0.75, 0.417)
    assert math.isnan(values(scores, 0.95)["useful"]) and values(scores, 0.95)["said"] == 0


@given(SCORES)
def test_metrics_are_shares_in_order(drawn: list[tuple[int, list[tuple[float, Verdict]]]]) -> None:
    scores = [score(max(targets, len(changes)), *changes) for targets, changes in drawn]
    found = summarise(scores)
    assert set(found) == set(METRICS)
    for estimate in found.values():
        if not math.isnan(estimate.value):
            assert 0 <= estimate.low <= estimate.high <= 1 and 0 <= estimate.value <= 1
    if found["said"].value:
        for ending in ("", "_of_all"):
            shares = [found[name + ending].value for name in ("strict", "useful", "touched")]
            assert shares == sorted(shares)
    assert found["clean"].value <= found["whole"].value
    limit = summarise(map(with_oracle, scores))
    assert limit["recall"].value == pytest.approx(found["recall"].value)
    assert limit["said"].value == 0 or limit["touched"].value == 1


def test_the_recall_at_a_precision_is_that_of_the_best_threshold() -> None:
    scores = [score(2, (0.9, RIGHT), (0.5, RIGHT), (0.4, WRONG)), score(2, (0.8, RIGHT), (0.6, WRONG), (0.2, RIGHT))]
    best = recall_at(scores, 0.7)
    assert best is not None and (best.threshold, best.recall, best.useful) == (0.5, 0.75, 0.75)
    all_right = recall_at(scores, 1.0)
    assert all_right is not None and (all_right.threshold, all_right.recall) == (0.8, 0.5)
    assert recall_at([score(1, (0.5, WRONG))], 0.7) is None


def test_a_change_counts_at_its_thresholds_alone() -> None:
    twice = (JudgedChange(0.9, 0.5, RIGHT, 1), JudgedChange(0.5, -1.0, WRONG, 0))
    one = SweepScore("r", "python", "c", "s", EditKind.NAME, 1, 1, twice)
    assert [one.counts(at).right for at in (0.4, 0.5, 0.6, 0.9, 1.0)] == [0, 0, 1, 1, 0]
    assert [one.counts(at).wrong for at in (0.4, 0.5, 0.6, 0.9, 1.0)] == [1, 1, 0, 0, 0]
    assert [held.size for held in reliability([one])] == [1]
    assert one.as_json()["changes"] == [(0.9, 0.5, "right", 1), (0.5, -1.0, "wrong", 0)]


def test_calibration_compares_confidence_with_usefulness() -> None:
    scores = [score(9, (0.85, RIGHT), (0.85, PART), (0.85, WRONG), (0.85, RIGHT), (1.0, RIGHT), (0.05, WRONG))]
    bins = reliability(scores)
    assert [(held.size, round(held.confidence, 2), held.useful) for held in bins] == [
        (1, 0.05, 0.0),
        (4, 0.85, 0.75),
        (1, 1.0, 1.0),
    ]
    assert calibration_error(bins) == pytest.approx((0.05 + 4 * 0.1) / 6)
    assert calibration_error([]) == 0


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.5, 5)), min_size=1, max_size=10))
def test_a_ratio_lies_in_its_interval_and_equal_terms_leave_none(terms: list[tuple[float, float]]) -> None:
    above, below = zip(*terms, strict=True)
    estimate = ratio(above, below)
    assert estimate.value == pytest.approx(sum(above) / sum(below))
    assert estimate.low <= estimate.high
    same = ratio([above[0]] * 5, [below[0]] * 5)
    assert same.low == pytest.approx(same.value) == pytest.approx(same.high)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("x = load(a)", "x = read(a)", "name"),
        ("x.load(a)", "x.files.load_all(a)", "name"),
        ("a.load(b)", "c.read(b)", "name"),
        ("f(a)", "f(a, b)", "argument"),
        ("f(a, ctx)", "f(a)", "argument"),
        ("f()", "f(ctx)", "argument"),
        ("x = f(a)", "x = g(f(a))", "wrap"),
        ("x = str(f(a))", "x = f(a)", "wrap"),
        ("def f(a):", "def f(a) -> None:", "type"),
        ("StrBuilder b = make();", "StringBuilder b = make();", "type"),
        ("a: Optional[int]", "a: int | None", "type"),
        ('f("x", a)', "f(NAME, a)", "literal"),
        ("assertTrue(x == 1)", "assertTrue(x == 2)", "literal"),
        ("var x = 1", "const x = 1", "keyword"),
        ("x = f(a)", "x = await f(a)", "keyword"),
        ("x = y", "x = y ?? z", "insertion"),
        ("x = y.z", "x = y", "deletion"),
        ("x = y + z", "x = y * w", "other"),
        ("x = y", "x = y", "other"),
    ],
)
def test_kinds_of_edits(before: str, after: str, kind: str) -> None:
    assert kind_of(before, after).value == kind


@given(st.text('ab(,)<>: 1"', max_size=20), st.text('ab(,)<>: 1"', max_size=20))
def test_every_edit_has_a_kind_and_a_removal_mirrors_an_addition(before: str, after: str) -> None:
    mirrored = {EditKind.INSERTION: EditKind.DELETION, EditKind.DELETION: EditKind.INSERTION}
    kind = kind_of(before, after)
    if kind in mirrored:
        back = kind_of(after, before)
        # The other way, removed literals are a kind of their own, and tokens may be aligned differently.
        assert back in (
            mirrored[kind],
            EditKind.LITERAL,
            EditKind.ARGUMENT,
            EditKind.TYPE,
            EditKind.WRAP,
            EditKind.OTHER,
        )


def test_scores_are_grouped_by_kind() -> None:
    scores = [score(1, kind=EditKind.TYPE), score(2, kind=EditKind.NAME), score(3, kind=EditKind.TYPE)]
    assert [(kind, [each.num_targets for each in group]) for kind, group in by_kind(scores).items()] == [
        (EditKind.NAME, [2]),
        (EditKind.TYPE, [1, 3]),
    ]


def make_sweep(repo: Repo) -> tuple[Sweep, dict[str, bytes]]:
    """Four places in two files; the commit leaves a fifth call of `load` alone."""
    before = {
        "a.py": b"".join(b"x = load(%s)\r\n" % name.encode() for name in NAMES[:3]),
        "b.py": b"y = load(delta)\nz = load(kept)\n",
    }
    after = {name: data.replace(b"load", b"read") for name, data in before.items()}
    after["b.py"] = b"y = read(delta)\nz = load(kept)\n"
    repo.commit(before)
    repo.commit(after)
    [sweep] = cut_sweeps(open_repository(repo.path), ["py"])
    return sweep, before


def calls_of(files: Sequence[File], word: str, sure: float) -> list[Suggestion]:
    found = []
    for file in files:
        at = file.data.find(word.encode())
        while at >= 0:
            found.append(Suggestion(file.path, 0, 0, at, at + len(word), word, "read", sure - at / 1000, ""))
            at = file.data.find(word.encode(), at + 1)
    return found


def test_suggestions_for_a_sweep_are_scored_by_its_commit(repo: Repo) -> None:
    sweep, before = make_sweep(repo)
    hunks = commit_hunks(open_repository(repo.path), sweep.commit)
    for num_shown in (1, 2):
        shown, targets = shown_and_targets(sweep, num_shown)
        texts = {path: with_sites(data, [site for site in shown if site.path == path]) for path, data in before.items()}
        files = [File(path, "python", data) for path, data in texts.items()]
        found = score_sweep(sweep, num_shown, texts, hunks, calls_of(files, "load", 0.9), language="python")
        counts = found.counts()
        assert (counts.targets, counts.hits, counts.right, counts.wrong) == (
            len(targets),
            len(targets),
            len(targets),
            1,
        )
        assert counts.part == counts.differs == 0 and found.kind is EditKind.NAME
        # What was shown may be said again, and is neither right nor wrong.
        again = score_sweep(sweep, num_shown, texts, hunks, calls_of(files, "read", 0.9))
        assert again.counts().total == 0
        alone = score_sweep(sweep, num_shown, before, hunks, calls_of(files, "x = ", 0.9))
        assert alone.counts().hits == 0 and alone.counts().right == 0


@pytest.mark.parametrize("confident", [0.9, 0.1])
def test_a_person_takes_what_the_commit_did_and_refuses_the_rest(repo: Repo, confident: float) -> None:
    sweep, before = make_sweep(repo)
    hunks = commit_hunks(open_repository(repo.path), sweep.commit)
    asked: list[list[tuple[str, int]]] = []

    def ask(files: Sequence[File], refused: Sequence[tuple[str, int]]) -> list[Suggestion]:
        asked.append(list(refused))
        sure = {"a.py": 0.5, "b.py": confident}
        found = [each for file in files for each in calls_of([file], "load", sure[file.path])]
        return [each for each in found if not (each.path == "b.py" and each.start > 10 and refused)]

    files = [File(path, "python", data) for path, data in before.items()]
    score = assist(sweep, files, hunks, ask)
    assert (score.done, score.num_others, score.beside) == (3, 3, 0)
    # The person goes on after the sweep is done: only the last answer says whether more would have been suggested.
    assert score.refused == 1 and asked[-1] == [("b.py", 2)] and asked[0] == []
    assert score.questions == len(asked) == 5

    # The more confident file comes first, and with it the place that the commit left alone.
    assert bool(asked[2]) == (confident > 0.5)

    stubborn = assist(sweep, files, hunks, lambda files, _: calls_of(files, "load(kept)", 0.9), max_refusals=2)
    assert (stubborn.done, stubborn.refused, stubborn.questions) == (0, 2, 2)
    means = summarise_assisted([score, stubborn])
    assert {name: estimate.value for name, estimate in means.items()} == {
        "done": 0.5,
        "whole": 0.5,
        "unrefused": 0.0,
        "refusals": 1.5,
    }


def test_a_person_takes_what_the_commit_did_beside_the_sweep(repo: Repo) -> None:
    sweep, before = make_sweep(repo)
    hunks = commit_hunks(open_repository(repo.path), sweep.commit)
    hunks["c.py"] = [LineHunk(1, 5, ("read(u, 1)",) * 5)]
    files = [File(path, "python", data) for path, data in {**before, "c.py": b"lo(u)\n" * 5}.items()]
    seen: list[bytes] = []

    def ask(files: Sequence[File], _: Sequence[tuple[str, int]]) -> list[Suggestion]:
        seen.append(files[-1].data)
        return calls_of(files, "lo(", 0.9)[:1]

    score = assist(sweep, files, hunks, lambda files, refused: [paren(each) for each in ask(files, refused)])
    assert (score.beside, score.refused, score.done) == (5, 0, 0)
    assert seen[-1] == b"read(u)\n" * 5


def paren(suggestion: Suggestion) -> Suggestion:
    return replace(suggestion, after="read(")


def test_the_kind_of_a_sweep_is_that_of_most_of_its_sites(repo: Repo) -> None:
    sweep, _ = make_sweep(repo)
    assert kind_of_sweep(sweep) is EditKind.NAME
