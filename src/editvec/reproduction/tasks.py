"""The tasks behind the tables: each is done once, and its result is kept among the artifacts."""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from editvec.core.files import write_atomically
from editvec.data import edit_files
from editvec.data.digests import TrainingDigests
from editvec.data.labels import label_of
from editvec.data.stats import measure
from editvec.evaluation import probe as probing
from editvec.evaluation import ratings as rating
from editvec.evaluation import transfer as transferring
from editvec.evaluation.decoding import EvaluationReport, answer_all
from editvec.evaluation.journal import PairJournal
from editvec.neural.model import TRAINING_DIGESTS, load, needs_trees
from editvec.reproduction.artifacts import Artifacts, kind_of
from editvec.ui.report.map import map_picture
from editvec.vectors import clusters as clustering
from editvec.vectors import index
from editvec.vectors.index import Index
from editvec.vectors.projection import choose, project
from editvec.vectors.vectorisers import BASELINES, Trained, make

_EXAMPLES = 5


def evaluate(artifacts: Artifacts, name: str, share: int = 100) -> Any:
    """Return Acc@1, Recall@5 and perplexity of a model on its test set."""

    def work() -> dict[str, Any]:
        folder = artifacts.model(name, share)
        trained, report = load(folder), EvaluationReport()
        seen = TrainingDigests.load(folder / TRAINING_DIGESTS) if (folder / TRAINING_DIGESTS).exists() else None
        edits = artifacts.test_edits(kind_of(name), trees=needs_trees(trained.config))
        for _ in answer_all(trained, edits, report, seen=seen):
            pass
        return {"all": report.all.as_json(5), "unseen": report.unseen.as_json(5)}

    return artifacts.result(f"evaluate-{artifacts.model_folder(name, share).name}", work)


def transfer(artifacts: Artifacts, name: str) -> Any:
    """Return the scores of a model on the labelled edits by the paper's transfer protocol."""

    def work() -> dict[str, Any]:
        trained = Trained.load(artifacts.model(name))
        edits = artifacts.some_labelled(trees=trained.needs_trees)
        made = transferring.plan(
            [label_of(edit) for edit in edits], "iclr19", alike=trained.model.config.encoder == "none"
        )
        about = (trained.digest, len(edits), len(made))
        journal = PairJournal(artifacts.folder / "results" / f"transfer-{name}.journal", about)
        return transferring.summarise(
            made, transferring.answer_pairs(trained.model, edits, made, plain=True, journal=journal)
        ).as_json()

    return artifacts.result(f"transfer-{name}", work)


def statistics(artifacts: Artifacts) -> Any:
    """Return the mean lengths and distances of the edits of all three sets."""

    def work() -> dict[str, float]:
        sides = (edit_files.read(artifacts.part(side)) for side in ("train", "dev", "test"))
        found = measure(chain.from_iterable(islice(edits, artifacts.limit) for edits in sides))
        return {
            "tokens before": found.before.mean,
            "tokens after": found.after.mean,
            "edit distance": found.distance.mean,
            "tree nodes before": found.tree_before.mean,
            "tree nodes after": found.tree_after.mean,
        }

    return artifacts.result("statistics", work)


def probe(artifacts: Artifacts, name: str) -> Any:
    """Return how well a model's vectors predict the labels of the labelled edits."""

    def work() -> dict[str, Any]:
        trained = Trained.load(artifacts.model(name))
        edits = artifacts.labelled(trees=trained.needs_trees)
        unread: list[int] = []
        vectors = trained.encode(edits, unread=unread)
        kept = [edit for place, edit in enumerate(edits) if place not in set(unread)]
        return probing.probe_vectors(name, vectors, kept, [label_of(edit) for edit in kept]).as_json(10)

    return artifacts.result(f"probe-{name}", work)


def fixers_map(artifacts: Artifacts, name: str) -> str:
    """Draw a map of the labelled edits, and return the name of the picture beside the report."""
    picture = artifacts.folder / f"map-{name}.png"
    if not picture.is_file():
        trained = Trained.load(artifacts.model(name))
        edits = artifacts.labelled(trees=trained.needs_trees)
        labels = [label_of(edit) for edit in edits]
        rows = choose(labels, most=100, least=min(40, max(labels.count(label) for label in set(labels))))
        unread: list[int] = []
        vectors = trained.encode([edits[row] for row in rows], unread=unread)
        kept = [labels[row] for place, row in enumerate(rows) if place not in set(unread)]
        write_atomically(picture, map_picture(project(vectors), kept, ending="png"))
    return picture.name


def indexed(artifacts: Artifacts, name: str, kind: str) -> Index:
    """Return an index of the training set with the vectors of a model or a baseline."""
    folder = artifacts.folder / "indexes" / f"{kind}-{name}"
    try:
        return index.open_index(folder)
    except index.NoIndexError:
        pass
    baseline = name in BASELINES
    model = name if baseline else str(artifacts.model(name))
    file = artifacts.part("train", kind)
    known = index.for_appending(folder, model)
    vectoriser = known or make(model, islice(edit_files.read(file, trees=False), artifacts.limit) if baseline else ())
    trees = isinstance(vectoriser, Trained) and vectoriser.needs_trees
    edits = islice(edit_files.read(file, trees=trees), artifacts.limit)
    return index.build(folder, vectoriser, edits, append=known is not None)[0]


def clusters(artifacts: Artifacts, name: str) -> Any:
    """Cluster the training set by k-means, with as many clusters per edit as in the paper."""

    def work() -> dict[str, Any]:
        kind = kind_of(name)
        found = indexed(artifacts, name, kind)
        share = {"code": 20_000 / 91_372, "prose": 50_000 / 500_000}[kind]
        grouping = clustering.kmeans(np.asarray(found.units), max(2, round(share * len(found))), iterations=10)
        described, edits = clustering.describe_index(found, grouping)
        examples = [
            {"size": len(each), "before": edits[each.medoid].before.text, "after": edits[each.medoid].after.text}
            for each in described[:_EXAMPLES]
        ]
        return {"groups": grouping.num_groups, "edits": len(found), "examples": examples}

    return artifacts.result(f"clusters-{name}", work)


def ratings(artifacts: Artifacts, kind: str, systems: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """Return the scores of each system by raters, and a note for the report; make the rating task if it is missing."""
    folder = artifacts.folder / f"ratings-{kind}"
    if not (folder / rating.TASK).is_file():
        indexes = {name: indexed(artifacts, name, kind) for name in systems}
        rating.make_task(indexes, num_queries=200, k=3 if kind == "code" else 5).save(folder)
    said = rating.read_all(folder)
    if not any(said.values()):
        return {}, f"{kind}: there are no ratings yet. To rate: editvec rate {Path(folder)}"
    found = rating.report(rating.RatingTask.load(folder), said)
    return {
        each.system: {"dcg": each.dcg.value, "ndcg": each.ndcg.value, "accuracy": each.accuracy.value}
        for each in found.systems
    }, f"{kind}: {found.ratings} ratings by {len(found.raters)}, Fleiss' kappa {found.kappa:.2f}"
