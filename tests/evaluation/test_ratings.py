"""Ratings: what is put before people, what they said, and the scores made of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError, UserError
from editvec.evaluation import metrics
from editvec.evaluation.ratings import Query, RatedNeighbour, Ratings, RatingTask, make_task, read_all, report
from editvec.vectors.index import build, open_index
from editvec.vectors.vectorisers import make
from editvec.vectors.vectorisers.base import Vectors
from tests.neural.edits import random_edits


def _shown(name: str) -> RatedNeighbour:
    return RatedNeighbour(name, ("a ",), ("b ",))


def _task() -> RatingTask:
    # The first system has the candidates 0, 1; the second 2, 0.
    ranks = {"one": (0, 1), "two": (2, 0)}
    queries = [Query(_shown(f"q{at}"), size, tuple(map(_shown, "xyz")), ranks) for at, size in enumerate((1, 3, 9))]
    return RatingTask(2, tuple(queries))


def test_scores_are_those_of_each_systems_order() -> None:
    values = {(query, place): value for query in range(2) for place, value in enumerate((2, 0, 1))}
    values[2, 0] = 2
    found = report(_task(), {"ada": values})
    one, two = found.systems
    # The third query is not rated in full, so it does not count.
    assert (one.queries, two.queries) == (2, 2)
    assert one.dcg.value == pytest.approx(metrics.dcg([2, 0], 2))
    assert two.dcg.value == pytest.approx(metrics.dcg([1, 2], 2))
    assert one.ndcg.value == pytest.approx(metrics.dcg([2, 0], 2) / metrics.dcg([2, 1], 2))
    assert (one.accuracy.value, two.accuracy.value) == (1.0, 0.0)
    assert one.dcg_by_size["1"] == one.dcg_by_size["2-3"] == one.dcg.value
    assert math.isnan(one.dcg_by_size[">3"])
    assert math.isnan(found.kappa)


def test_raters_are_averaged_and_compared() -> None:
    full = {(query, place): 2 for query in range(3) for place in range(3)}
    none = dict.fromkeys(full, 0)
    found = report(_task(), {"ada": full, "bob": none})
    assert found.systems[0].accuracy.value == 0.5
    assert found.kappa < 0
    assert report(_task(), {"ada": full | {(0, 0): 1}, "bob": full | {(0, 0): 1}}).kappa == pytest.approx(1)
    with pytest.raises(UserError, match="nothing has been rated"):
        report(_task(), {})


def test_ratings_are_on_disk_after_each(tmp_path: Path) -> None:
    task = _task()
    task.save(tmp_path)
    assert RatingTask.load(tmp_path) == task
    ratings = Ratings(tmp_path, "ada")
    ratings.rate(task, 0, 1, 2)
    ratings.rate(task, 0, 1, 1)
    assert read_all(tmp_path) == {"ada": {(0, 1): 1}}
    for wrong in ((0, 3, 1), (3, 0, 1), (0, 0, 3), (-1, 0, 0)):
        with pytest.raises(ValueError, match=r"no such candidate|a rating is"):
            ratings.rate(task, *wrong)
    with pytest.raises(UserError, match="a rater's name"):
        Ratings(tmp_path, "../x")
    (tmp_path / "ada.ratings.jsonl").write_text("[1, 2]\n")
    with pytest.raises(BadInputError, match="not a rating"):
        read_all(tmp_path)
    (tmp_path / "task.json").write_text('{"k": 1, "queries": [{}]}')
    with pytest.raises(BadInputError, match="not a rating task"):
        RatingTask.load(tmp_path)


class _Turned:
    """Another system: the vectors of the first, with the last half negated."""

    name, digest = "turned", "t"

    def __init__(self, of: object) -> None:
        self._of = of
        self.dim: int = of.dim  # type: ignore[attr-defined]

    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        vectors: Vectors = self._of.encode(edits)  # type: ignore[attr-defined]
        vectors[:, self.dim // 2 :] *= -np.arange(1, 1 + self.dim - self.dim // 2, dtype=np.float32)
        return vectors


def test_a_task_pools_what_systems_found(tmp_path: Path) -> None:
    edits = random_edits(40)
    first = make("tfidf", edits)
    build(tmp_path / "a", first, edits)
    build(tmp_path / "b", _Turned(first), edits)
    indexes = {name: open_index(tmp_path / name) for name in "ab"}
    task = make_task(indexes, num_queries=12, k=3, seed=1)
    assert task == make_task(indexes, num_queries=12, k=3, seed=1)
    assert (len(task.queries), task.systems) == (12, ("a", "b"))
    for query in task.queries:
        names = [each.id for each in query.candidates]
        assert len(set(names)) == len(names)
        assert query.edit.id not in names
        for system, places in query.ranks.items():
            index = indexes[system]
            row = index.row_of(query.edit.id)
            wanted = [each.edit.id for each in index.neighbours(index.vectors[row], 3, without_row=row)]
            assert [names[place] for place in places] == wanted
        assert {place for places in query.ranks.values() for place in places} == set(range(len(names)))
