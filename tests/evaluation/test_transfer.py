"""Transfer: the pairs of each protocol, what is counted of them, and going on after an interruption."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.evaluation import transfer
from editvec.evaluation.journal import PairJournal
from editvec.evaluation.transfer import NEVER, TransferPlan, answer_pairs, plan, summarise
from editvec.neural.candidate import Candidate
from editvec.neural.examples import Example
from editvec.neural.model import EditModel
from tests.neural.edits import edit, learn_by_heart, small_model

LABELS = ["debug"] * 6 + ["info"] * 6


def _edits() -> list[Edit]:
    # The same before, so that only the vector can say which of the two is meant.
    edits = [edit(f"Log ( {a} ) ;", f"Log . Debug ( {a} ) ;", identity=f"debug_{a}") for a in "abcdef"]
    return edits + [edit(f"Log ( {a} ) ;", f"Log . Info ( {a} ) ;", identity=f"info_{a}") for a in "abcdef"]


@pytest.fixture(scope="module")
def learned() -> EditModel:
    """A model that has learned both edits."""
    edits = _edits()
    model = small_model(edits, scale=1.0)
    learn_by_heart(model, edits, steps=400)
    return model


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(1, 12), st.integers(0, 5))
def test_the_papers_pairs(labels: list[str], num_seeds: int, seed: int) -> None:
    made = plan(labels, "iclr19", num_seeds=num_seeds, seed=seed)
    gold, rest = len(labels), slice(len(labels), None)
    assert made.seeds[:gold].tolist() == made.targets[:gold].tolist() == list(range(gold))
    for label in set(labels):
        members = {at for at, known in enumerate(labels) if known == label}
        pairs = [
            (int(one), int(other))
            for one, other in zip(made.seeds[rest], made.targets[rest], strict=True)
            if labels[one] == label
        ]
        seeds = {one for one, _ in pairs}
        assert len(seeds) == min(num_seeds, len(members))
        assert set(pairs) == {(one, other) for one in seeds for other in members}


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20), st.integers(1, 60))
def test_all_pairs_are_all_but_oneself(labels: list[str], most: int) -> None:
    every = plan(labels, "all-pairs")
    some = plan(labels, "all-pairs", max_pairs=most)
    wanted = {
        (one, other)
        for one in range(len(labels))
        for other in range(len(labels))
        if one != other and labels[one] == labels[other]
    }
    found = [list(zip(each.seeds[len(labels) :], each.targets[len(labels) :], strict=True)) for each in (every, some)]
    assert set(found[0]) == wanted
    assert len(found[0]) == len(wanted)
    assert set(found[1]) <= wanted
    assert len(set(found[1])) == len(found[1])


def test_an_edit_learned_is_applied_elsewhere(learned: EditModel) -> None:
    edits = _edits()
    made = plan(LABELS, "all-pairs")
    ranks = answer_pairs(learned, edits, made)
    summary = summarise(made, ranks)
    assert summary.gold.accuracy.value == 1.0
    assert summary.macro.accuracy.value > 0.9
    assert summary.micro is not None
    # The vector decides: with those of the other label, nothing is right.
    crossed = TransferPlan(
        "all-pairs", tuple(LABELS), made.seeds, np.array([(target + 6) % 12 for target in made.targets])
    )
    assert (answer_pairs(learned, edits, crossed) == 1).mean() < 0.1


@pytest.mark.parametrize("plain", [True, False])
def test_only_an_edits_own_vector_is_not_borrowed(monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:
    edits = _edits()
    model = small_model(edits, transfer_layer=True)
    used: list[np.ndarray] = []

    def write(examples: list[Example], vectors: np.ndarray, k: int) -> list[list[Candidate]]:
        used.append(vectors)
        return [[] for _ in examples]

    monkeypatch.setattr(model, "write", write)
    made = plan([each.id.partition("_")[0] for each in edits], "iclr19", num_seeds=2)
    answer_pairs(model, edits, made, plain=plain)
    vectors = model.encode(edits)
    own = made.seeds == made.targets
    assert own[: len(edits)].all() and not own.all()
    wanted = [vectors[made.seeds[own]], model.transfer(vectors)[made.seeds[~own]]]
    np.testing.assert_allclose(np.concatenate(used), np.concatenate(wanted), atol=1e-5)


def test_an_edit_that_cannot_be_read_is_never_right(learned: EditModel) -> None:
    edits = [*_edits(), edit("a " * 200, "b", identity="debug_z")]
    made = plan([*LABELS, "debug"], "iclr19")
    ranks = answer_pairs(learned, edits, made)
    assert ranks[12] == NEVER
    assert (ranks[:12] == 1).all()
    assert (ranks[made.targets == 12] == NEVER).all()


def test_interrupted_it_goes_on(learned: EditModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "_CHUNK", 10)
    edits, made = _edits(), plan(LABELS, "iclr19", num_seeds=3)
    at_once = answer_pairs(learned, edits, made)

    def stop(done: int, total: int, right: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    journal = PairJournal(tmp_path / "j.jsonl", ("this",))
    with pytest.raises(KeyboardInterrupt):
        answer_pairs(learned, edits, made, journal=journal, watch=stop)
    with (tmp_path / "j.jsonl").open("ab") as stream:
        stream.write(b"[1, 1,")
    asked: list[int] = []
    write = learned.write

    def counting(examples: Sequence[Example], *rest: Any, **more: Any) -> list[list[Candidate]]:
        asked.append(len(examples))
        return write(examples, *rest, **more)

    monkeypatch.setattr(learned, "write", counting)
    np.testing.assert_array_equal(answer_pairs(learned, edits, made, journal=journal), at_once)
    assert sum(asked) == len(made) - 20
    with pytest.raises(UserError, match="belongs to another evaluation"):
        PairJournal(tmp_path / "j.jsonl", ("that",)).load(99)


def test_the_best_seed_counts_and_labels_weigh_the_same() -> None:
    labels = ["a"] * 2 + ["b"] * 4
    made = plan(labels, "iclr19", num_seeds=2)
    ranks = np.zeros(len(made), np.int64)
    ranks[:6] = [1, 1, 1, 0, 0, 0]
    seeds = sorted(set(made.seeds[6:].tolist()))
    # One seed of a does all, the other nothing; of b, the first is right on one target of four, second on two.
    right = {(seeds[0], 0), (seeds[0], 1), (seeds[2], 2), (seeds[3], 2), (seeds[3], 3)}
    for at in range(6, len(made)):
        ranks[at] = 1 if (int(made.seeds[at]), int(made.targets[at])) in right else 3
    summary = summarise(made, ranks)
    assert [each.score.accuracy.value for each in summary.labels] == [1.0, 0.5]
    assert [each.best_seed for each in summary.labels] == [seeds[0], seeds[3]]
    assert summary.macro.accuracy.value == 0.75
    assert summary.macro.recall.value == 1.0
    assert summary.gold.accuracy.value == pytest.approx((1 + 0.25) / 2)
    assert summary.micro is None
    assert summary.macro.accuracy.low <= 0.75 <= summary.macro.accuracy.high


def test_micro_weighs_by_pairs_even_when_sampled() -> None:
    labels = ["a"] * 3 + ["b"] * 6
    made = plan(labels, "all-pairs", max_pairs=4)
    ranks = np.array([NEVER if labels[seed] == "a" else 1 for seed in made.seeds])
    summary = summarise(made, ranks)
    assert summary.micro is not None
    assert summary.micro.accuracy.value == pytest.approx(30 / 36)
    assert summary.macro.accuracy.value == pytest.approx(0.5)
