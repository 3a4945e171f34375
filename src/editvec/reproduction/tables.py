"""The paper's tables and figures: their names, the models that they need, and how they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from editvec.core.errors import UserError
from editvec.reproduction import paper, tasks
from editvec.reproduction.artifacts import Artifacts

ModelShare = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """One number, the paper's and ours; either may be missing."""

    name: str
    metric: str
    paper: float | None
    ours: float | None
    digits: int = 2

    @property
    def difference(self) -> float | None:
        """Return our number minus the paper's, or None if one is missing."""
        return None if self.paper is None or self.ours is None else self.ours - self.paper


@dataclass(frozen=True, slots=True)
class Table:
    """A reproduced table or figure."""

    name: str
    title: str
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()
    picture: str = ""
    """The name of a picture file beside the report, or empty."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How a table is made, and its models, each with its share of the training set in per cent."""

    title: str
    where: str
    """The number of the table or figure in the paper."""
    models: tuple[ModelShare, ...]
    make: Callable[[Artifacts], Table]


def _editors(artifacts: Artifacts) -> Table:
    rows = []
    for name, (accuracy, recall, perplexity) in paper.EDITORS.items():
        found = tasks.evaluate(artifacts, name)["all"]
        rows += [
            Row(name, "Acc@1 %", accuracy, 100 * found["accuracy"]["value"]),
            Row(name, "Recall@5 %", recall, 100 * found["recall@5"]["value"]),
            Row(name, "PPL", perplexity, found["perplexity"], 4),
        ]
    return Table("editors", PLANS["editors"].title, tuple(rows), (_SCORING,))


def _transfer(artifacts: Artifacts) -> Table:
    rows = []
    for name, (accuracy, gold, recall, gold_recall) in paper.TRANSFER.items():
        found = tasks.transfer(artifacts, name)
        rows += [
            Row(name, "Acc %", accuracy, 100 * found["macro"]["accuracy"]["value"]),
            Row(name, "Recall@5 %", recall, 100 * found["macro"]["recall"]["value"]),
        ]
        if gold is not None:
            rows.append(Row(name, "Acc, gold %", gold, 100 * found["gold"]["accuracy"]["value"]))
            rows.append(Row(name, "Recall@5, gold %", gold_recall, 100 * found["gold"]["recall"]["value"]))
    return Table("transfer", PLANS["transfer"].title, tuple(rows), (_PROTOCOL,))


def _fixers(artifacts: Artifacts) -> Table:
    rows = []
    for name, fixers in paper.FIXERS.items():
        found = {each["label"]: each for each in tasks.transfer(artifacts, name)["labels"]}
        for label in sorted(set(found) | set(fixers)):
            theirs, ours = fixers.get(label, (None, None)), found.get(label)
            measured = (ours["accuracy"]["value"], ours["gold"]["accuracy"]["value"]) if ours else (None, None)
            for metric, one, other in zip(("Acc %", "Acc, gold %"), theirs, measured, strict=True):
                rows.append(Row(f"{name} {label}", metric, one, None if other is None else 100 * other, 1))
    return Table("fixers", PLANS["fixers"].title, tuple(rows), (_PROTOCOL,))


def _sizes(artifacts: Artifacts) -> Table:
    rows = []
    for name, shares in paper.SIZES.items():
        for share, (accuracy, recall, perplexity) in shares.items():
            found = tasks.evaluate(artifacts, name, share)["all"]
            rows += [
                Row(f"{name} {share} %", "Acc@1 %", accuracy, 100 * found["accuracy"]["value"]),
                Row(f"{name} {share} %", "Recall@5 %", recall, 100 * found["recall@5"]["value"]),
                Row(f"{name} {share} %", "PPL", perplexity, found["perplexity"], 4),
            ]
    return Table("sizes", PLANS["sizes"].title, tuple(rows), (_SCORING,))


def _statistics(artifacts: Artifacts) -> Table:
    found = tasks.statistics(artifacts)
    rows = tuple(Row(name, "mean", value, found.get(name), 1) for name, value in paper.STATISTICS.items())
    return Table("statistics", PLANS["statistics"].title, rows, ("Our trees contain every token; the paper's do not.",))


def _map(artifacts: Artifacts) -> Table:
    picture, probed = tasks.fixers_map(artifacts, "seq2seq-sequence"), tasks.probe(artifacts, "seq2seq-sequence")
    value = 100 * probed["distinct"]["accuracy"]["value"]
    rows = (Row("seq2seq-sequence", "nearest edit has the same fixer %", None, value),)
    notes = (
        "Up to 100 edits per fixer, and only fixers with at least 40 edits (figure 4 of the paper has 13 fixers).",
    )
    return Table("map", PLANS["map"].title, rows, notes, picture)


def _clusters(artifacts: Artifacts) -> Table:
    rows, notes = [], []
    for kind, name in (("code", "graph2tree-sequence"), ("prose", "prose-sequence")):
        found = tasks.clusters(artifacts, name)
        rows.append(Row(name, "clusters", paper.CLUSTERS[kind], found["groups"], 0))
        notes += [f"{name}, {each['size']} edits: {each['before']}  →  {each['after']}" for each in found["examples"]]
    return Table("clusters", PLANS["clusters"].title, tuple(rows), tuple(notes))


def _ratings(artifacts: Artifacts) -> Table:
    rows, notes = [], []
    for kind, theirs in (("code", paper.RATED_CODE), ("prose", paper.RATED_PROSE)):
        found, note = tasks.ratings(artifacts, kind, tuple(theirs))
        notes += [note] if note else []
        for name, values in theirs.items():
            ours = found.get(name)
            metrics = ("DCG", "NDCG %", "Acc@1 %")[: len(values)]
            measured = (ours["dcg"], 100 * ours["ndcg"], 100 * ours["accuracy"]) if ours else (None, None, None)
            rows += [Row(f"{kind} {name}", *each) for each in zip(metrics, values, measured, strict=False)]
    notes.append(
        "The paper's DCG has another scale (the usual formula gives at most 6.39 for DCG@3). Compare the NDCG."
    )
    return Table("ratings", PLANS["ratings"].title, tuple(rows), tuple(notes))


_SCORING = (
    "The data is a replica of the paper's. An answer is right if all tokens are equal, on full trees. The paper's "
    "original code removes operators and modifiers from its trees."
)
_PROTOCOL = "Replica of C#Fixers. Best of 10 random seeds per fixer; the seed is one of the targets; mean over fixers."


def _models(names: Sequence[str], shares: Sequence[int] = (100,)) -> tuple[ModelShare, ...]:
    return tuple((name, share) for name in names for share in shares)


PLANS: Mapping[str, TablePlan] = {
    "statistics": TablePlan("Statistics of GitHubEdits", "table 6", (), _statistics),
    "editors": TablePlan("Precision of neural editors", "table 4", _models(tuple(paper.EDITORS)), _editors),
    "transfer": TablePlan("One-shot transfer on C#Fixers", "table 5", _models(tuple(paper.TRANSFER)), _transfer),
    "fixers": TablePlan("Transfer by fixer", "table 11", _models(tuple(paper.FIXERS)), _fixers),
    "map": TablePlan("t-SNE of labelled edits", "figure 4", _models(["seq2seq-sequence"]), _map),
    "sizes": TablePlan("Training-set size", "table 12", _models(tuple(paper.SIZES), (20, 40, 60, 80, 100)), _sizes),
    "clusters": TablePlan(
        "Clusters by k-means", "tables 9 and 10", _models(["graph2tree-sequence", "prose-sequence"]), _clusters
    ),
    "ratings": TablePlan(
        "Neighbours rated by people",
        "tables 1 and 2",
        _models(["seq2seq-sequence", "graph2tree-sequence", "graph2tree-graph", "prose-sequence"]),
        _ratings,
    ),
}
TABLES = tuple(PLANS)
_PLACES = {
    "table1": "ratings",
    "table2": "ratings",
    "table4": "editors",
    "table5": "transfer",
    "table6": "statistics",
    "table9": "clusters",
    "table10": "clusters",
    "table11": "fixers",
    "table12": "sizes",
    "figure4": "map",
}


def named(name: str) -> str:
    """Return the name of a table, given its name or its number in the paper.

    Raises:
        UserError: There is no such table.
    """
    found = _PLACES.get(name, name)
    if found not in PLANS:
        raise UserError(f"there is no table {name!r}. Choose from: {', '.join((*PLANS, *_PLACES))}.")
    return found


def budget(artifacts: Artifacts, names: Sequence[str]) -> list[tuple[str, float]]:
    """Return the models that tables need and that are not trained yet, each with an estimate in seconds."""
    wanted = dict.fromkeys(model for name in names for model in PLANS[name].models)
    return [
        (artifacts.model_folder(*model).name, artifacts.seconds(*model))
        for model in wanted
        if not artifacts.has_model(*model)
    ]


def make(artifacts: Artifacts, name: str) -> Table:
    """Make a table, and everything that it needs."""
    return PLANS[name].make(artifacts)


def as_json(table: Table) -> dict[str, Any]:
    """Return a table as JSON values."""
    rows = [
        {"name": row.name, "metric": row.metric, "paper": row.paper, "ours": row.ours, "difference": row.difference}
        for row in table.rows
    ]
    return {"table": table.name, "title": table.title, "rows": rows, "notes": table.notes, "picture": table.picture}
