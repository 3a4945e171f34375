"""Groups: the same every time, numbered by size, and described by what is in them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from editvec.data.splits import token_hash
from editvec.vectors import clusters
from editvec.vectors.clusters import NO_GROUP, Grouping
from editvec.vectors.index import unit
from editvec.vectors.vectorisers.base import Vectors
from tests.neural.edits import edit


def _blobs(sizes: tuple[int, ...], dim: int = 24, noise: float = 0.05) -> tuple[Vectors, list[int]]:
    chance = np.random.default_rng(0)
    middles = chance.normal(size=(len(sizes), dim))
    vectors = np.concatenate(
        [middle + noise * chance.normal(size=(size, dim)) for middle, size in zip(middles, sizes, strict=True)]
    )
    truth = [number for number, size in enumerate(sizes) for _ in range(size)]
    order = chance.permutation(len(truth))
    return vectors[order].astype(np.float32), [truth[at] for at in order]


@pytest.mark.parametrize("method", ["kmeans", "hdbscan"])
def test_groups_are_the_blobs_the_largest_first(method: str) -> None:
    vectors, truth = _blobs((40, 25, 12))
    found = clusters.group(vectors, method=method, k=3 if method == "kmeans" else None)
    assert found.labels.tolist() == truth
    assert found.num_groups == 3
    again = clusters.group(vectors, method=method, k=3 if method == "kmeans" else None)
    np.testing.assert_array_equal(found.labels, again.labels)


def test_the_number_of_groups_is_found() -> None:
    vectors, truth = _blobs((30, 28, 26, 24, 22, 20))
    found = clusters.kmeans(vectors)
    assert found.num_groups == 6
    assert found.labels.tolist() == truth
    assert "silhouette" in found.criterion


def test_hdbscan_leaves_the_rest_alone() -> None:
    vectors, truth = _blobs((40, 30, 20, 10))
    scattered = np.random.default_rng(5).normal(size=(30, 24)).astype(np.float32)
    found = clusters.hdbscan(np.concatenate([vectors, scattered]))
    # A group may take in what is scattered around it, but blobs stay apart, and most of the rest stays alone.
    assert adjusted_rand_score(truth, found.labels[:100]) > 0.95
    assert (found.labels[100:] == NO_GROUP).mean() > 0.5


@pytest.mark.parametrize("number", [0, 1, 3])
def test_few_edits_are_no_trouble(number: int) -> None:
    vectors = np.ones((number, 4), np.float32)
    assert clusters.kmeans(vectors).num_groups == min(1, number)
    assert clusters.hdbscan(vectors).num_groups == 0
    assert clusters.kmeans(vectors, 9).labels.shape == (number,)


def test_a_group_is_described_by_what_is_in_it() -> None:
    edits = [edit(f"{name} = {name} + 1 ;", f"{name} ++ ;") for name in "abcdefg"]
    edits += [edit(f"Log ( {name} ) ;", f"Log . Debug ( {name} ) ;") for name in "abcde"]
    edits.append(edits[0])
    vectors = np.array([[1, 0.01 * at] if at < 7 else [0.01 * at, 1] for at in range(13)], np.float32)
    vectors[12] = vectors[0]
    grouping = Grouping(np.array([0] * 7 + [1] * 5 + [0]), "given", "")
    units = unit(vectors)
    first, second = clusters.describe(grouping, units, [token_hash(each) for each in edits], edits)
    assert first.tokens[0] in ("+++", "-1", "-=", "-+")
    assert "+Debug" in second.tokens
    assert len(first) == 8
    assert len(first.examples) == 3
    assert len({token_hash(edits[row]) for row in first.examples}) == 3
    middle = units[list(first.rows)].mean(axis=0)
    assert first.medoid == max(first.rows, key=lambda row: float(units[row] @ middle))
    document = clusters.as_json([first, second], edits)
    assert document[1]["size"] == 5
