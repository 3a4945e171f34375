"""The probe: right neighbours are counted, copies are no neighbours, the order of the file is worth nothing."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics

from editvec.core.errors import UserError
from editvec.data.labels import label_of
from editvec.evaluation.probe import probe_vectors
from tests.neural.edits import edit


def test_labels() -> None:
    made = edit("a", "b", identity="RCS_10_7")
    assert label_of(made) == "RCS_10"
    assert label_of(edit("a", "b", identity="none")) == ""
    assert label_of(made, "language") == "csharp"
    with pytest.raises(UserError, match="Choose one of: label, id"):
        label_of(made, "colour")


def test_the_numbers_are_scikit_learns() -> None:
    chance = np.random.default_rng(0)
    labels = [f"l{at % 4}" for at in range(60)]
    middles = chance.normal(size=(4, 6))
    vectors = np.array([middles[at % 4] for at in range(60)]) + 0.9 * chance.normal(size=(60, 6))
    edits = [edit(f"a{at}", "b", identity=f"x_{at}") for at in range(60)]
    found = probe_vectors("m", vectors.astype(np.float32), edits, labels, k=5).all
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -2)
    known = np.array(labels)
    assert found.accuracy.value == pytest.approx((known[cosines.argmax(1)] == known).mean())
    precisions = [
        sklearn.metrics.average_precision_score(np.delete(known == known[row], row), np.delete(cosines[row], row))
        for row in range(60)
    ]
    assert found.precision == pytest.approx(np.mean(precisions), abs=1e-6)
    assert found.silhouette == pytest.approx(sklearn.metrics.silhouette_score(units, labels, metric="cosine"), abs=1e-5)
    assert sum(count for *_, count in found.confused) == round(60 * (1 - found.accuracy.value))
    assert set(found.by_label) == {"l0", "l1", "l2", "l3"}


def test_copies_are_no_neighbours_and_count_once() -> None:
    edits = [edit("a", "b"), edit("a", "b"), edit("c", "d"), edit("e", "f")]
    vectors = np.array([[1, 0], [1, 0], [1, 0.5], [0, 1]], np.float32)
    found = probe_vectors("m", vectors, edits, ["one", "one", "two", "two"], k=1)
    # The copies' nearest other edit is the third, of another label.
    assert found.all.by_label == {"one": 0.0, "two": 0.5}
    assert (found.all.edits, found.distinct.edits) == (4, 3)


def test_the_order_of_the_file_is_worth_nothing() -> None:
    # All vectors are alike: nobody can be right more often than chance has it.
    labels = ["a"] * 100 + ["b"] * 100
    edits = [edit(f"w{at}", "v") for at in range(200)]
    found = probe_vectors("m", np.ones((200, 3), np.float32), edits, labels).all
    assert 0.35 < found.accuracy.value < 0.65
