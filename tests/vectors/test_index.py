"""The index: what is put in comes out, nearest first; it grows, and half of one is never read."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import locked
from editvec.data.splits import token_hash
from editvec.vectors import index as indexing
from editvec.vectors.index import building, cells, open_index
from editvec.vectors.index.cells import exact_search, unit
from editvec.vectors.vectorisers import make
from editvec.vectors.vectorisers.base import Vectors
from tests.neural.edits import edit, random_edits, small_model


class Given:
    """Vectors that were made beforehand, by the number in an edit's id."""

    name, digest = "given", "d0"

    def __init__(self, vectors: Vectors, *, stop_after: int | None = None) -> None:
        self.vectors, self.dim, self._left = vectors, vectors.shape[1], stop_after

    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise KeyboardInterrupt
        return np.array([self.vectors[int(each.id[1:])] for each in edits], np.float32)


def _numbered(number: int, start: int = 0) -> list[Edit]:
    return [edit(f"a {at}", f"b {at}", identity=f"n{at}") for at in range(start, start + number)]


def _vectors(number: int, dim: int = 8, seed: int = 0) -> Vectors:
    return np.random.default_rng(seed).normal(size=(number, dim)).astype(np.float32)


def test_what_is_put_in_comes_out(tmp_path: Path) -> None:
    edits = random_edits(30)
    model = small_model(edits)
    model.save(tmp_path / "m")
    trained = make(tmp_path / "m", ())
    built, unread = indexing.build(tmp_path / "i", trained, edits)
    found = open_index(tmp_path / "i")
    assert unread == 0
    assert len(found) == len(built) == 30
    np.testing.assert_array_equal(found.vectors, model.encode(edits))
    assert found.ids == [each.id for each in edits]
    assert found.edits([4, 0, 4]) == [edits[4], edits[0], edits[4]]
    assert [each.id for each in found.all_edits()] == found.ids
    assert found.token_hashes.tolist() == [token_hash(each) for each in edits]
    np.testing.assert_allclose(found.vectoriser().encode(edits[:3]), found.vectors[:3], atol=1e-6)


@given(st.integers(1, 40), st.integers(1, 12), st.sampled_from(indexing.METRICS), st.integers(0, 99))
def test_search_is_sorting_by_distance(rows: int, k: int, metric: indexing.Metric, seed: int) -> None:
    base, queries = _vectors(rows, seed=seed), _vectors(3, seed=seed + 1)
    given_base, given_queries = (unit(base), unit(queries)) if metric == "cosine" else (base, queries)
    found, scores = exact_search(given_base, given_queries, k, metric)
    if metric == "cosine":
        wanted = given_queries @ given_base.T
    else:
        wanted = -((queries[:, None] - base[None]) ** 2).sum(-1)
    order = np.sort(-wanted, axis=1)[:, :k]
    near = min(k, rows)
    np.testing.assert_allclose(
        scores[:, :near] * (-1 if metric == "cosine" else 1), order[:, :near], rtol=1e-3, atol=1e-4
    )
    assert (found[:, near:] == -1).all()


def test_neighbours_leave_out_the_edit_and_its_copies(tmp_path: Path) -> None:
    vectors = np.array([[1, 0], [1, 0.1], [1, 0.2], [0, 1]], np.float32)
    edits = [edit("a", "b", identity=f"n{at}") for at in (0, 1)]
    edits += [edit("a", "c", identity="n2"), edit("x", "y", identity="n3")]
    indexing.build(tmp_path / "i", Given(vectors), edits)
    found = open_index(tmp_path / "i")
    assert [each.row for each in found.neighbours(vectors[0], 9, without_row=0)] == [1, 2, 3]
    assert [each.edit.id for each in found.neighbours(vectors[0], 1, without_hash=token_hash(edits[0]))] == ["n2"]
    nearest = found.neighbours(vectors[3], 1, metric="l2")[0]
    assert (nearest.edit.id, nearest.score) == ("n3", 0.0)
    with pytest.raises(UserError, match="2 numbers, the query has 3"):
        found.search(np.zeros(3, np.float32))


def test_it_grows_by_what_it_does_not_have(tmp_path: Path) -> None:
    vectors = _vectors(50)
    indexing.build(tmp_path / "i", Given(vectors), _numbered(20))
    with pytest.raises(UserError, match="already holds an index"):
        indexing.build(tmp_path / "i", Given(vectors), _numbered(5))
    grown, _ = indexing.build(tmp_path / "i", Given(vectors), _numbered(50), append=True)
    assert len(grown) == 50
    at_once, _ = indexing.build(tmp_path / "j", Given(vectors), _numbered(50))
    np.testing.assert_array_equal(grown.vectors, at_once.vectors)
    assert grown.ids == at_once.ids
    assert grown.edits([49, 3]) == at_once.edits([49, 3])


def test_interrupted_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_CHUNK", 8)
    vectors = _vectors(40)
    with pytest.raises(KeyboardInterrupt):
        indexing.build(tmp_path / "i", Given(vectors, stop_after=3), _numbered(40))
    with pytest.raises(UserError, match=r"not finished \(24 edits so far\)"):
        open_index(tmp_path / "i")
    # What a killed writer left behind the rows that count.
    with (tmp_path / "i" / "vectors.npy").open("ab") as stream:
        stream.write(b"half a row")
    found, _ = indexing.build(tmp_path / "i", Given(vectors), _numbered(40), append=True)
    np.testing.assert_array_equal(found.vectors, vectors[:40])
    assert open_index(tmp_path / "i").ids == [f"n{at}" for at in range(40)]


def test_large_ones_are_searched_by_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LARGE", 2000)
    middles = _vectors(40, 16)
    vectors = np.repeat(middles, 60, axis=0) + 0.2 * _vectors(2400, 16, seed=1)
    edits = _numbered(2400)
    indexing.build(tmp_path / "i", Given(vectors), edits[:2100])
    # Rows behind the cells are found too.
    grown, _ = indexing.build(tmp_path / "i", Given(vectors), edits, append=True)
    found = open_index(tmp_path / "i")
    assert found.manifest.celled == 2100
    queries = vectors[::24]
    rows, scores = found.search(queries, 10)
    exact, truth = found.search(queries, 10, exact=True)
    hits = [len(set(one) & set(other)) / 10 for one, other in zip(rows.tolist(), exact.tolist(), strict=True)]
    assert np.mean(hits) > 0.9
    np.testing.assert_allclose(scores[:, 0], truth[:, 0], atol=1e-5)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert len(grown) == 2400


def test_without_faiss_every_row_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LARGE", 200)
    vectors = _vectors(300)
    indexing.build(tmp_path / "cells", Given(vectors), _numbered(300))
    queries = vectors[::10]
    truth = open_index(tmp_path / "cells").search(queries, 5, exact=True)
    monkeypatch.setitem(sys.modules, "faiss", None)
    found = open_index(tmp_path / "cells")
    assert found.manifest.celled == 300
    for one, other in zip(found.search(queries, 5), truth, strict=True):
        np.testing.assert_array_equal(one, other)
    plain, _ = indexing.build(tmp_path / "plain", Given(vectors), _numbered(300))
    assert plain.manifest.celled == 0


@given(st.integers(1, 300), st.integers(1, 20), st.sampled_from(indexing.METRICS), st.integers(0, 99))
def test_search_is_faisss(rows: int, k: int, metric: indexing.Metric, seed: int) -> None:
    faiss = pytest.importorskip("faiss")
    base, queries = unit(_vectors(rows, seed=seed)), unit(_vectors(4, seed=seed + 1))
    _, scores = exact_search(base, queries, k, metric)
    kind = faiss.METRIC_INNER_PRODUCT if metric == "cosine" else faiss.METRIC_L2
    within = min(k, rows)
    theirs, _ = faiss.knn(queries, base, within, metric=kind)
    np.testing.assert_allclose(scores[:, :within], theirs, atol=1e-5)


def test_blocks_of_rows_give_what_all_give(monkeypatch: pytest.MonkeyPatch) -> None:
    base, queries = unit(_vectors(500)), unit(_vectors(7, seed=1))
    whole = exact_search(base, queries, 9, "cosine")
    monkeypatch.setattr(cells, "_BLOCK", 16)
    monkeypatch.setattr(cells, "_QUERIES", 3)
    for one, other in zip(exact_search(base, queries, 9, "cosine"), whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_arrays_are_numpys_own(tmp_path: Path) -> None:
    vectors = _vectors(20)
    indexing.build(tmp_path / "i", Given(vectors), _numbered(12))
    indexing.build(tmp_path / "i", Given(vectors), _numbered(20), append=True)
    np.testing.assert_array_equal(np.load(tmp_path / "i" / "vectors.npy"), vectors)
    assert np.load(tmp_path / "i" / "token_hashes.npy", mmap_mode="r").shape == (20,)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    indexing.build(tmp_path / "i", Given(_vectors(5)), _numbered(5))
    with locked(tmp_path / "i" / ".lock"), pytest.raises(UserError, match="another process is writing"):
        indexing.build(tmp_path / "i", Given(_vectors(5)), _numbered(5), append=True)
    indexing.build(tmp_path / "i", Given(_vectors(5)), _numbered(5), append=True)


def test_damaged_edits_are_said(tmp_path: Path) -> None:
    indexing.build(tmp_path / "i", Given(_vectors(5)), _numbered(5))
    file = tmp_path / "i" / "edits.sqlite"
    with sqlite3.connect(file) as database:
        database.execute("UPDATE blocks SET lines = substr(lines, 1, 50)")
    with pytest.raises(BadInputError, match=r"edits\.sqlite: damaged"):
        open_index(tmp_path / "i").edits([1])
    file.write_bytes(b"nonsense" * 999)
    with pytest.raises(BadInputError, match=r"edits\.sqlite: damaged"):
        list(open_index(tmp_path / "i").all_edits())
    file.unlink()
    with pytest.raises(BadInputError, match=r"edits\.sqlite: damaged"):
        list(open_index(tmp_path / "i").all_edits())


def test_another_model_is_refused(tmp_path: Path) -> None:
    edits = random_edits(6)
    for seed in (0, 1):
        small_model(edits, seed=seed).save(tmp_path / f"m{seed}")
    indexing.build(tmp_path / "i", make(tmp_path / "m0", ()), edits[:3])
    with pytest.raises(UserError, match="was not made by"):
        indexing.build(tmp_path / "i", make(tmp_path / "m1", ()), edits, append=True)
    with pytest.raises(UserError, match="was not made by"):
        open_index(tmp_path / "i").vectoriser(tmp_path / "m1")
    (tmp_path / "m0").rename(tmp_path / "moved")
    with pytest.raises(UserError, match="no longer at"):
        open_index(tmp_path / "i").vectoriser()
    assert open_index(tmp_path / "i").vectoriser(tmp_path / "moved").dim == 32


def test_ids_by_prefix_and_number(tmp_path: Path) -> None:
    edits = [edit("a", "b", identity=name) for name in ("n10", "n11", "n2")]
    indexing.build(tmp_path / "i", Given(_vectors(12)), edits)
    found = open_index(tmp_path / "i")
    assert [found.row_of(name) for name in ("n10", "n2", "#3")] == [0, 2, 2]
    for name, complaint in (("n1", "2 ids begin"), ("x", "no edit has the id"), ("#4", "there is no #4")):
        with pytest.raises(UserError, match=complaint):
            found.row_of(name)


@pytest.mark.parametrize(
    "damage",
    [
        {"count": 10**6},
        {"celled": "x"},
        {"dim": -1},
        {"version": 99},
        {"vectoriser": 7},
        {"nonsense": 1},
    ],
)
def test_damage_is_said(damage: dict[str, object], tmp_path: Path) -> None:
    indexing.build(tmp_path / "i", Given(_vectors(5)), _numbered(5))
    path = tmp_path / "i" / "index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    with pytest.raises(BadInputError):
        _ = open_index(tmp_path / "i").vectors
    path.write_text("{")
    with pytest.raises(BadInputError, match="not an index"):
        open_index(tmp_path / "i")


def test_places_that_are_no_index(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        open_index(tmp_path / "no")
    with pytest.raises(UserError, match="contains no index"):
        open_index(tmp_path)
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(UserError, match="contains files but no index"):
        indexing.build(tmp_path, Given(_vectors(1)), _numbered(1))
    assert (tmp_path / "mine.txt").read_text() == "keep"
