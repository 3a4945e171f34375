"""Cluster the edits of an index by their vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.core.files import check_place, write_atomically
from editvec.vectors import clusters
from editvec.vectors.clusters import Cluster, Grouping
from editvec.vectors.index import open_index


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clusters of an index, the largest first, and the edits of the index."""

    method: str
    grouping: Grouping
    clusters: list[Cluster]
    edits: list[Edit]

    @property
    def num_alone(self) -> int:
        """Return the number of edits that are in no cluster."""
        return int((self.grouping.labels == clusters.NO_GROUP).sum())

    def as_json(self) -> dict[str, Any]:
        """Return the clusters as JSON values."""
        return {
            "method": self.method,
            "criterion": self.grouping.criterion,
            "edits": len(self.edits),
            "in_no_group": self.num_alone,
            "groups": clusters.as_json(self.clusters, self.edits),
        }


def cluster(
    index: Path,
    *,
    method: str | None = None,
    k: int | None = None,
    min_size: int = 5,
    out: Path | None = None,
) -> Clustering:
    """Cluster the edits of an index by their vectors, and describe each cluster.

    Method "hdbscan" finds dense clusters and leaves the other edits without a cluster. "kmeans" puts every edit into
    one of `k` clusters; if `k` is not given, the number with the best silhouette is used. All clusters are written to
    `out` as JSON.

    Raises:
        UserError: The index is empty, or the options cannot be combined.

    Examples:
        >>> import editvec
        >>> found = editvec.cluster(Path("edits.index"), k=6)
        >>> len(found.clusters)
        6
    """
    method = method or ("hdbscan" if k is None else "kmeans")
    if k is not None and method != "kmeans":
        raise UserError(
            "-k works only with --method kmeans. HDBSCAN finds the number of clusters itself; use --min-size instead."
        )
    if out is not None:
        check_place(out)
    opened = open_index(index)
    if not len(opened):
        raise UserError(f"{index} contains no edits, so there is nothing to cluster.")
    grouping = clusters.group(opened.units, method=method, k=k, min_size=min_size)
    clustering = Clustering(method, grouping, *clusters.describe_index(opened, grouping))
    if out is not None:
        write_atomically(out, orjson.dumps(clustering.as_json(), option=orjson.OPT_INDENT_2))
    return clustering
