"""Vectorisers: one protocol, whatever makes the vectors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError
from editvec.diff import align
from editvec.neural.examples import TooLongError
from editvec.vectors import vectorisers
from editvec.vectors.vectorisers.difftext import diff_lines
from editvec.vectors.vectorisers.tfidf import OWN, SHARED, TfIdf, changed_tokens
from tests.neural.edits import edit, random_edits, small_model, ten_edits

_words = st.lists(st.sampled_from("a b c d".split()), max_size=6)


@given(_words, _words)
def test_the_changed_tokens_are_the_difference_of_the_bags(before: list[str], after: list[str]) -> None:
    found = changed_tokens(edit(" ".join(before), " ".join(after)))
    come = Counter({name[1:]: count for name, count in found.items() if name[0] == "+"})
    gone = Counter({name[1:]: count for name, count in found.items() if name[0] == "-"})
    left = Counter(before)
    left.subtract(gone)
    left.update(come)
    assert +left == Counter(after)


@given(_words, _words)
def test_a_diff_gives_back_both_versions(before: list[str], after: list[str]) -> None:
    lines = diff_lines(edit(" ".join(before), " ".join(after)))
    assert [line[1:] for line in lines if line[0] != "+"] == before
    assert [line[1:] for line in lines if line[0] != "-"] == after
    changed = align(before, after).changed
    assert sum(line[0] != " " for line in lines) == sum(2 - (None in place[1:]) for place in changed)


@pytest.mark.parametrize("name", sorted(vectorisers.BASELINES))
def test_baselines_save_and_load(name: str, tmp_path: Path) -> None:
    edits = ten_edits()
    made = vectorisers.BASELINES[name].fit(edits)
    made.save(tmp_path / "v")
    again = vectorisers.load_baseline(name, tmp_path / "v")
    vectors = made.encode(edits)
    assert vectors.shape == (10, made.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(again.encode(edits), vectors)
    assert again.digest == made.digest
    assert made.digest != vectorisers.BASELINES[name].fit(edits[:5]).digest
    np.testing.assert_allclose(made.encode([edits[3]])[0], vectors[3], atol=1e-6)
    assert made.encode([]).shape == (0, made.dim)
    (tmp_path / "v" / "features.json").write_text("{}")
    with pytest.raises(BadInputError, match="damaged"):
        vectorisers.load_baseline(name, tmp_path / "v")


@pytest.mark.parametrize("name", sorted(vectorisers.BASELINES))
def test_the_same_change_elsewhere_is_nearest(name: str) -> None:
    edits = ten_edits()
    vectors = vectorisers.make(name, edits).encode(edits)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -1)
    # Numbers 0 and 1 are x++ and y++, 3 and 4 two times Assert.Empty.
    assert cosines[0].argmax() == 1
    assert cosines[3].argmax() == 4


def test_tfidf_is_scikit_learns() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    edits = random_edits(30)
    theirs = TfidfVectorizer(analyzer=lambda each: list(changed_tokens(each).elements())).fit_transform(edits)
    ours = TfIdf.fit(edits).encode(edits)
    np.testing.assert_allclose(ours @ ours.T, (theirs @ theirs.T).toarray(), atol=1e-5)


def test_rare_tokens_share_dimensions() -> None:
    edits = [edit("", f"t{number}") for number in range(OWN + 50)]
    made = TfIdf.fit(edits)
    assert made.dim == OWN + SHARED
    np.testing.assert_allclose(np.linalg.norm(made.encode(edits), axis=1), 1, atol=1e-6)


def test_a_trained_model_notes_what_it_cannot_read(tmp_path: Path) -> None:
    edits: list[Edit] = ten_edits()
    model = small_model(edits, max_tokens=12)
    model.save(tmp_path / "m")
    trained = vectorisers.make(tmp_path / "m", ())
    long = edit("a " * 13, "b")
    with pytest.raises(TooLongError):
        trained.encode([long])
    unread: list[int] = []
    vectors = trained.encode([edits[0], long, edits[1]], unread=unread)
    assert unread == [1]
    np.testing.assert_array_equal(vectors, trained.encode(edits[:2]))
    other = small_model(edits, seed=1, max_tokens=12)
    other.save(tmp_path / "o")
    assert vectorisers.make(tmp_path / "o", ()).digest != trained.digest
