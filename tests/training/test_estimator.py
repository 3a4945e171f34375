"""The estimator, by scikit-learn's own checks and in its pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from editvec.core.errors import UserError
from editvec.training.estimator import EditVectoriser
from tests.neural.edits import random_edits, small_model

SMALL = {"embed_dim": 16, "hidden_dim": 16, "edit_dim": 16, "tag_dim": 4, "warmup_steps": 0, "learning_rate": 0.01}
PAIRS = [(f"{name} = {name} + 1;", f"{name}++;") for name in "abcdefghijklmnop"]
PAIRS += [(f"Assert.Equal(0, {name}.Count);", f"Assert.Empty({name});") for name in "abcdefghijklmnop"]


@parametrize_with_checks([EditVectoriser()])  # type: ignore[untyped-decorator]
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_pipeline_learns_what_edits_mean() -> None:
    labels = ["++"] * 16 + ["empty"] * 16
    pipeline = make_pipeline(EditVectoriser(epochs=3, settings=SMALL), KNeighborsClassifier(3))
    pipeline.fit(PAIRS, labels)
    assert pipeline.predict(
        [("zz = zz + 1;", "zz++;"), ("Assert.Equal(0, q.Count);", "Assert.Empty(q);")]
    ).tolist() == [
        "++",
        "empty",
    ]


def test_the_same_seed_gives_the_same_vectors() -> None:
    estimator = EditVectoriser(epochs=1, settings=SMALL)
    vectors = estimator.fit_transform(PAIRS)
    np.testing.assert_array_equal(clone(estimator).fit(PAIRS).transform(PAIRS), vectors)
    assert vectors.shape == (32, 16)
    assert len(estimator.get_feature_names_out()) == 16


def test_a_trained_model_needs_no_training(tmp_path: Path) -> None:
    edits = random_edits(5)
    trained = small_model(edits)
    trained.save(tmp_path / "m")
    vectors = EditVectoriser(path=str(tmp_path / "m")).fit_transform(edits)
    np.testing.assert_array_equal(vectors, trained.encode(edits))


def test_what_is_no_edit_is_said() -> None:
    with pytest.raises(UserError, match="number 1 is not an edit"):
        EditVectoriser(settings=SMALL).fit([PAIRS[0], "x"])  # type: ignore[list-item]
    with pytest.raises(NotFittedError):
        EditVectoriser().transform(PAIRS)
