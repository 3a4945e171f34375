"""Cluster edits by their vectors, and describe the clusters.

There are two methods. `kmeans` puts every edit into one of k clusters. `hdbscan` finds the dense clusters, whose number
need not be known, and leaves the other edits without a cluster. Both are deterministic and cluster 10,000 edits in
seconds. Both need the extra `vectors` (scikit-learn; k-means also faiss), which is imported only inside functions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.data.extras import require
from editvec.vectors.index import Index, unit
from editvec.vectors.vectorisers.base import Vectors
from editvec.vectors.vectorisers.tfidf import changed_tokens

Labels = NDArray[np.int64]
NO_GROUP = -1
_SPREAD_START = 512
"""The largest number of clusters for which k-means starts from points that are far apart (k-means++).

Random starting points are seldom far apart.
"""
_SAMPLE, _COMPONENTS, _TOKENS, _EXAMPLES = 2_000, 32, 6, 3


@dataclass(frozen=True, slots=True)
class Grouping:
    """The cluster number of each row (0 is the largest cluster, NO_GROUP is none), and how the clusters were found."""

    labels: Labels
    method: str
    criterion: str
    """How the number of clusters was chosen."""

    @property
    def num_groups(self) -> int:
        """Return the number of clusters."""
        return int(self.labels.max(initial=NO_GROUP)) + 1


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster: edits whose vectors are near each other."""

    number: int
    rows: tuple[int, ...]
    medoid: int
    """The row that is nearest to the centre of the cluster."""
    tokens: tuple[str, ...]
    """Tokens added (+) or removed (-) much more often here than elsewhere, the most distinctive first."""
    examples: tuple[int, ...]
    """Rows to show, no two of them verbatim the same: the nearest to the centre, one half-way out, the farthest."""

    def __len__(self) -> int:
        return len(self.rows)


def group(vectors: Vectors, *, method: str = "hdbscan", k: int | None = None, min_size: int = 5) -> Grouping:
    """Cluster vectors with the method of this name; `k` is for k-means, `min_size` for HDBSCAN."""
    return kmeans(vectors, k) if method == "kmeans" else hdbscan(vectors, min_size=min_size)


def kmeans(vectors: Vectors, k: int | None = None, *, iterations: int = 20, seed: int = 0) -> Grouping:
    """Cluster vectors with k-means by cosine.

    Without `k`, the number of clusters with the best mean silhouette is used. The silhouette is measured on at most
    2,000 edits, for 2, 3, 4, 6, 8, 12 and so on up to a tenth of the edits.
    """
    units = unit(np.asarray(vectors, np.float32))
    given = k is not None
    criterion = "given"
    if k is None:
        k, best = choose_k(units, seed=seed)
        criterion = f"best mean silhouette ({best:.3f})"
    k = max(1, min(k, len(units)))
    labels = _kmeans_labels(units, k, iterations, seed) if len(units) else np.zeros(0, np.int64)
    if given and len(np.unique(labels)) < k:
        criterion = "given; empty clusters are left out"
    return Grouping(_by_size(labels), "kmeans", criterion)


def choose_k(units: Vectors, *, seed: int = 0, iterations: int = 10) -> tuple[int, float]:
    """Return the number of clusters with the best mean silhouette on a sample, and that silhouette."""
    if len(units) < 4:
        return 1, math.nan
    metrics = _require("sklearn.metrics")
    sample = units
    if len(units) > _SAMPLE:
        chosen = np.random.default_rng(seed).choice(len(units), _SAMPLE, replace=False)
        sample = np.ascontiguousarray(units[np.sort(chosen)])
    apart = 1 - sample @ sample.T
    np.fill_diagonal(apart, 0)
    apart = np.maximum(apart, 0)
    best = (1, -math.inf)
    for k in _counts(max(2, len(sample) // 10)):
        labels = _kmeans_labels(sample, k, iterations, seed)
        if 1 < len(np.unique(labels)) < len(sample):
            score = float(metrics.silhouette_score(apart, labels, metric="precomputed"))
            best = max(best, (k, score), key=lambda each: each[1])
    return best if best[1] > -math.inf else (1, math.nan)


def hdbscan(vectors: Vectors, *, min_size: int = 5) -> Grouping:
    """Find dense clusters of at least `min_size` edits with HDBSCAN (excess of mass).

    Distances are measured between vectors of length one, in the 32 directions in which the edits differ most. Every
    copy of a vector counts.
    """
    cluster, decomposition = _require("sklearn.cluster"), _require("sklearn.decomposition")
    units = unit(np.asarray(vectors, np.float32))
    criterion = f"dense clusters of at least {min_size}"
    if len(units) < 2 * min_size:
        return Grouping(np.full(len(units), NO_GROUP, np.int64), "hdbscan", criterion)
    rank = min(_COMPONENTS, units.shape[1], len(units))
    # Distances in 32 directions cost a tenth of those in 512, and separate the clusters as well.
    reduced = decomposition.PCA(rank, svd_solver="randomized", random_state=0).fit_transform(units)
    found = cluster.HDBSCAN(
        min_cluster_size=max(2, min_size),
        min_samples=max(1, min_size // 2),
        cluster_selection_method="eom",
        algorithm="kd_tree",
        n_jobs=None,
        copy=True,
    ).fit_predict(reduced)
    return Grouping(_by_size(found.astype(np.int64)), "hdbscan", criterion)


def describe(
    grouping: Grouping,
    units: Vectors,
    hashes: Sequence[int] | NDArray[np.uint64],
    edits: Sequence[Edit],
    *,
    watch: Callable[[int], None] = lambda done: None,
) -> list[Cluster]:
    """Describe the clusters, the largest first: the medoid, the distinctive tokens and the examples of each."""
    rows_of = _members(grouping)
    bags = [frozenset(changed_tokens(edit)) for edit in edits]
    everywhere = Counter(feature for bag in bags for feature in bag)
    groups = []
    for number, rows in enumerate(rows_of):
        middle = np.asarray(units[rows], np.float32).mean(axis=0)
        order = rows[np.argsort(-(np.asarray(units[rows]) @ middle), kind="stable")]
        groups.append(
            Cluster(
                number,
                tuple(rows.tolist()),
                int(order[0]),
                _telling([bags[row] for row in rows], everywhere, len(bags)),
                _spread(order, hashes),
            )
        )
        watch(number + 1)
    return groups


def describe_index(index: Index, grouping: Grouping) -> tuple[list[Cluster], list[Edit]]:
    """Return the described clusters of an index, and its edits."""
    edits = list(index.all_edits())
    return describe(grouping, index.units, index.token_hashes, edits), edits


def as_json(groups: Sequence[Cluster], edits: Sequence[Edit]) -> list[dict[str, Any]]:
    """Return clusters as JSON values: members by id, examples with their texts."""
    return [
        {
            "group": each.number,
            "size": len(each),
            "tokens": each.tokens,
            "medoid": edits[each.medoid].id,
            "examples": [
                {"id": edits[row].id, "before": edits[row].before.text, "after": edits[row].after.text}
                for row in each.examples
            ],
            "members": [edits[row].id for row in each.rows],
        }
        for each in groups
    ]


def _kmeans_labels(units: Vectors, k: int, iterations: int, seed: int) -> Labels:
    if k <= 1:
        return np.zeros(len(units), np.int64)
    faiss = _require("faiss")
    # By default faiss warns about few points per cluster and samples when there are many. Use all points, silently.
    found = faiss.Kmeans(
        units.shape[1],
        k,
        niter=iterations,
        seed=1 + seed,
        spherical=True,
        min_points_per_centroid=1,
        max_points_per_centroid=max(256, len(units)),
    )
    start = None
    if k <= _SPREAD_START:
        start, _ = _require("sklearn.cluster").kmeans_plusplus(np.asarray(units), k, random_state=seed)
    found.train(units, init_centroids=start)
    _, labels = found.index.search(units, 1)
    nearest: Labels = labels[:, 0].astype(np.int64)
    return nearest


def _require(module: str) -> Any:
    return require(module, extra="vectors", what="Clusters")


def _counts(most: int) -> list[int]:
    """Return the numbers of clusters to try: 2, 3, 4, 6, 8, 12, 16 and so on, at most `most`."""
    counts, k = [], 2
    while k <= most:
        counts += [k, 3 * k // 2] if 3 * k // 2 <= most else [k]
        k *= 2
    return counts


def _by_size(labels: Labels) -> Labels:
    """Renumber the clusters by size, the largest first; of equal ones, the one whose first row comes first."""
    numbers = [number for number in np.unique(labels) if number != NO_GROUP]
    first = {number: int(np.argmax(labels == number)) for number in numbers}
    sizes = Counter(labels.tolist())
    ranked = sorted(numbers, key=lambda number: (-sizes[int(number)], first[number]))
    renamed = {int(number): place for place, number in enumerate(ranked)} | {NO_GROUP: NO_GROUP}
    return np.array([renamed[label] for label in labels.tolist()], np.int64)


def _members(grouping: Grouping) -> list[Labels]:
    order = np.argsort(grouping.labels, kind="stable")
    ranked = grouping.labels[order]
    bounds = np.searchsorted(ranked, np.arange(grouping.num_groups + 1))
    return [order[low:high] for low, high in pairwise(bounds)]


def _telling(bags: Sequence[frozenset[str]], everywhere: Counter[str], total: int) -> tuple[str, ...]:
    """Return the most distinctive features of a cluster: share here × log(share here / share elsewhere)."""
    here = Counter(feature for bag in bags for feature in bag)
    others = total - len(bags)

    def weight(feature: str) -> float:
        inside = here[feature] / len(bags)
        outside = (everywhere[feature] - here[feature] + 0.5) / (others + 1)
        return inside * math.log(inside / outside)

    ranked = sorted(here, key=lambda feature: (-weight(feature), feature))
    return tuple(feature for feature in ranked[:_TOKENS] if weight(feature) > 0)


def _spread(order: Labels, hashes: Sequence[int] | NDArray[np.uint64]) -> tuple[int, ...]:
    seen: dict[int, int] = {}
    for row in order.tolist():
        seen.setdefault(int(hashes[row]), row)
    distinct = list(seen.values())
    places = sorted({0, len(distinct) // 2, len(distinct) - 1})[:_EXAMPLES]
    return tuple(distinct[place] for place in places)
