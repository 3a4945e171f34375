"""Probe vectors with labels: whether the nearest edit has the same label, and whether clusters match the labels.

A verbatim copy of an edit never counts as its neighbour, because finding it needs no vectors. Results are reported on
all edits and on distinct ones (one of each before, after and label). Ties among neighbours are broken at random, not by
the order of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.data.extras import require
from editvec.data.labels import label_of
from editvec.data.progress import Stages, silent
from editvec.data.sampling import select
from editvec.data.splits import token_hash
from editvec.evaluation import metrics
from editvec.evaluation.metrics import Estimate
from editvec.vectors import vectorisers
from editvec.vectors.clusters import kmeans
from editvec.vectors.index import unit
from editvec.vectors.vectorisers.base import Vectors


@dataclass(frozen=True, slots=True)
class Side:
    """The results on one set of edits."""

    edits: int
    accuracy: Estimate
    """The share of edits whose nearest neighbour has the same label."""
    macro: float
    """The accuracy averaged over labels."""
    recall: float
    """The mean number of the k nearest with the same label, divided by the largest possible number."""
    precision: float
    """The mean average precision over all other edits."""
    silhouette: float
    """The silhouette of the labels, by cosine."""
    rand: float
    """The adjusted Rand index of k-means with as many clusters as labels."""
    v_measure: float
    """The V-measure of the same clusters."""
    by_label: dict[str, float]
    """The nearest-neighbour accuracy of each label."""
    confused: list[tuple[str, str, int]]
    """Triples of label, wrong label of the nearest neighbour and count, the most frequent first."""

    def as_json(self, k: int) -> dict[str, Any]:
        """Return the results as JSON values, with the recall among the `k` nearest."""
        return {
            "edits": self.edits,
            "accuracy": self.accuracy._asdict(),
            "macro_accuracy": self.macro,
            f"recall@{k}": self.recall,
            "mean_average_precision": self.precision,
            "silhouette": self.silhouette,
            "adjusted_rand": self.rand,
            "v_measure": self.v_measure,
            "accuracy_by_label": self.by_label,
            "confused": [{"label": one, "taken_for": other, "edits": count} for one, other, count in self.confused],
        }


@dataclass(frozen=True, slots=True)
class Probe:
    """The results for the vectors of one vectoriser."""

    name: str
    dim: int
    all: Side
    distinct: Side
    unread: int

    def as_json(self, k: int) -> dict[str, Any]:
        """Return the results as JSON values, with the recall among the `k` nearest."""
        sides = {"all": self.all.as_json(k), "distinct": self.distinct.as_json(k)}
        return {"model": self.name, "dim": self.dim, "unread": self.unread, **sides}


def probe_vectors(
    name: str,
    vectors: Vectors,
    edits: Sequence[Edit],
    labels: Sequence[str],
    *,
    k: int = 10,
    unread: int = 0,
    watch: Callable[[int], None] = lambda done: None,
) -> Probe:
    """Measure how well the vectors of labelled edits predict the labels."""
    units = unit(np.asarray(vectors, np.float32))
    hashes = np.array([token_hash(edit) for edit in edits], np.uint64)
    known = np.array(labels)
    first = {key: place for place, key in reversed(list(enumerate(zip(hashes.tolist(), labels, strict=True))))}
    distinct = np.array(sorted(first.values()), np.int64)
    return Probe(
        name,
        units.shape[1],
        _side(units, hashes, known, k, watch),
        _side(units[distinct], hashes[distinct], known[distinct], k, watch),
        unread,
    )


def _side(
    units: Vectors, hashes: NDArray[np.uint64], labels: NDArray[np.str_], k: int, watch: Callable[[int], None]
) -> Side:
    scores = require("sklearn.metrics", extra="vectors", what="Measures of clusters")
    nearest, recalls, precisions = [], [], []
    for row in range(len(units)):
        others = np.flatnonzero(hashes != hashes[row])
        if not len(others):
            nearest.append("")
            continue
        ranked = others[metrics.by_rank((units[others] @ units[row]).astype(np.float64), seed=row)]
        same = labels[ranked] == labels[row]
        nearest.append(str(labels[ranked[0]]))
        recalls.append(metrics.recall_at(same, k))
        precisions.append(metrics.average_precision(same))
        watch(row + 1)
    found = np.array(nearest)
    right = (found == labels).astype(np.float64)
    names = sorted(set(labels.tolist()))
    by_label = {name: float(right[labels == name].mean()) for name in names}
    groups = kmeans(units, len(names)).labels
    apart = 1 < len(names) < len(units)
    return Side(
        edits=len(units),
        accuracy=metrics.mean(right),
        macro=float(np.mean(list(by_label.values()))) if by_label else float("nan"),
        recall=_mean(recalls),
        precision=_mean(precisions),
        silhouette=float(scores.silhouette_score(units, labels, metric="cosine")) if apart else float("nan"),
        rand=float(scores.adjusted_rand_score(labels, groups)),
        v_measure=float(scores.v_measure_score(labels, groups)),
        by_label=by_label,
        confused=_confused(labels, found),
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def _confused(labels: NDArray[np.str_], found: NDArray[np.str_]) -> list[tuple[str, str, int]]:
    pairs, counts = np.unique(np.stack([labels, found]), axis=1, return_counts=True)
    wrong = [
        (str(one), str(other), int(count)) for one, other, count in zip(*pairs, counts, strict=True) if one != other
    ]
    return sorted(wrong, key=lambda each: (-each[2], each[0], each[1]))


def probe(
    file: str | Path,
    models: Sequence[str],
    *,
    label: str = "id",
    k: int = 10,
    sample: int = 10_000,
    progress: Stages = silent,
) -> list[Probe]:
    """Measure what vectors know about labelled edits, for each model: a folder, "packaged", "tfidf" or "diff".

    At most `sample` edits are used, chosen at random. `label` names the part of an edit that is its label.

    Raises:
        UserError: No edit has a label, or a model does not exist.

    Examples:
        >>> import editvec
        >>> found = editvec.probe("labelled.jsonl.gz", ["packaged", "tfidf"])
        >>> [(each.name, each.all.edits) for each in found]
        [('packaged', 16), ('tfidf', 16)]
    """
    chosen = [edit for _, edit in select(edit_files.read(file), number=sample, seed=0)]
    labelled = [(edit, found) for edit in chosen if (found := label_of(edit, label))]
    if not labelled:
        raise UserError(f"no edit of {file} has a label (--label {label}). Choose another --label.")
    edits = [edit for edit, _ in labelled]
    probes = []
    with progress("Probing", "models") as advance:
        for number, name in enumerate(models, 1):
            unread: list[int] = []
            vectors = vectorisers.make(name, edits).encode(edits, unread=unread)
            skipped = set(unread)
            kept = [pair for place, pair in enumerate(labelled) if place not in skipped]
            sides = [edit for edit, _ in kept], [found for _, found in kept]
            probes.append(probe_vectors(Path(name).name or name, vectors, *sides, k=k, unread=len(unread)))
            advance(number, len(models), len(edits))
    return probes
