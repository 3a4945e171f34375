"""Ratings of neighbours by people: the rating task, the ratings, and the scores of each system.

A task contains queries, and for each query the pooled neighbours that several systems found: an edit that two systems
found is rated once. A rating is 0 (unrelated), 1 (similar) or 2 (the same edit), as in the paper. Each rater has a file
with one rating per line; the last rating of a neighbour counts.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import write_atomically
from editvec.diff import edit_distance
from editvec.diff.words import turns, word_diff
from editvec.evaluation import metrics
from editvec.evaluation.metrics import Estimate
from editvec.vectors.index import Index

TASK = "task.json"
VALUES = 3
SIZES = ("1", "2-3", ">3")
_RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class RatedNeighbour:
    """An edit as a rater sees it: both versions as texts that are alternately unchanged and changed."""

    id: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """An edit, and the neighbours that the systems found for it, in random order."""

    edit: RatedNeighbour
    size: int
    """The token edit distance of the edit."""
    candidates: tuple[RatedNeighbour, ...]
    ranks: Mapping[str, tuple[int, ...]]
    """The candidates of each system, as indices into `candidates`, the nearest first."""


@dataclass(frozen=True, slots=True)
class RatingTask:
    """The queries and candidates to rate."""

    k: int
    queries: tuple[Query, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems."""
        return tuple(self.queries[0].ranks) if self.queries else ()

    def save(self, folder: Path) -> None:
        """Write the task to a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / TASK, orjson.dumps(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> RatingTask:
        """Load what `save` wrote.

        Raises:
            UserError: There is no task in the folder.
            BadInputError: The task is damaged.
        """
        path = folder / TASK
        if not path.is_file():
            raise UserError(
                f"{folder} contains no rating task. Give the indexes to compare: editvec rate {folder} INDEX..."
            )
        try:
            found = orjson.loads(path.read_bytes())
            queries = tuple(_query(each) for each in found["queries"])
            task = cls(int(found["k"]), queries)
            if any(tuple(each.ranks) != task.systems for each in queries):
                raise ValueError("the queries have different systems")
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInputError(path, None, f"not a rating task ({error}). Make a new one in another folder.") from None
        return task


def _shown(found: dict[str, Any]) -> RatedNeighbour:
    return RatedNeighbour(str(found["id"]), tuple(map(str, found["before"])), tuple(map(str, found["after"])))


def _query(found: dict[str, Any]) -> Query:
    candidates = tuple(_shown(each) for each in found["candidates"])
    ranks = {str(name): tuple(int(place) for place in places) for name, places in found["ranks"].items()}
    if any(not 0 <= place < len(candidates) for places in ranks.values() for place in places):
        raise ValueError("a rank refers to a candidate that does not exist")
    return Query(_shown(found["edit"]), int(found["size"]), candidates, ranks)


def _as_shown(edit: Edit) -> RatedNeighbour:
    before, after = word_diff(edit)
    return RatedNeighbour(edit.id, tuple(turns(before)), tuple(turns(after)))


def make_task(indexes: Mapping[str, Index], *, num_queries: int = 200, k: int = 3, seed: int = 0) -> RatingTask:
    """Make a rating task: random edits that all indexes have, and their `k` nearest neighbours in each index.

    Verbatim copies of an edit do not count as neighbours.

    Raises:
        UserError: No index is given, or the indexes have no edit in common.
    """
    known = [dict(zip(index.ids, range(len(index)), strict=True)) for index in indexes.values()]
    if not known:
        raise UserError("give at least one index.")
    shared = sorted(set(known[0]).intersection(*known[1:]))
    if not shared:
        raise UserError("the indexes have no edit in common. Encode the same edits with each model.")
    chance = np.random.default_rng(seed)
    chosen = chance.choice(len(shared), min(num_queries, len(shared)), replace=False)
    queries = []
    for at in chosen:
        places: dict[str, int] = {}
        pool: list[RatedNeighbour] = []
        ranks: dict[str, list[int]] = {}
        for (name, index), rows in zip(indexes.items(), known, strict=True):
            row = rows[shared[at]]
            copies = int(index.token_hashes[row])
            ranks[name] = []
            for each in index.neighbours(index.vectors[row], k, without_row=row, without_hash=copies):
                if each.edit.id not in places:
                    places[each.edit.id] = len(pool)
                    pool.append(_as_shown(each.edit))
                ranks[name].append(places[each.edit.id])
            (edit,) = index.edits([row])
        order = chance.permutation(len(pool))
        moved = {int(old): new for new, old in enumerate(order)}
        queries.append(
            Query(
                _as_shown(edit),
                edit_distance(edit.model_before, edit.model_after),
                tuple(pool[old] for old in order),
                {name: tuple(moved[place] for place in found) for name, found in ranks.items()},
            )
        )
    return RatingTask(k, tuple(queries))


class Ratings:
    """The ratings of one rater. Each is written to disk at once."""

    def __init__(self, folder: Path, rater: str) -> None:
        if not _RATER.fullmatch(rater):
            raise UserError(f"{rater!r} is not valid: a rater's name consists of letters, digits, - and _.")
        self.path = folder / f"{rater}.ratings.jsonl"
        self.values: dict[tuple[int, int], int] = _read_ratings(self.path)

    def rate(self, task: RatingTask, query: int, candidate: int, value: int) -> None:
        """Save a rating.

        Raises:
            ValueError: The query or the candidate does not exist, or the value is not 0, 1 or 2.
        """
        if not (0 <= query < len(task.queries) and 0 <= candidate < len(task.queries[query].candidates)):
            raise ValueError("there is no such candidate")
        if value not in range(VALUES):
            raise ValueError("a rating is 0, 1 or 2")
        with self.path.open("ab") as stream:
            stream.write(orjson.dumps([query, candidate, value]) + b"\n")
        self.values[query, candidate] = value


def _read_ratings(path: Path) -> dict[tuple[int, int], int]:
    values: dict[tuple[int, int], int] = {}
    if not path.exists():
        return values
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            query, candidate, value = orjson.loads(line)
            if not all(isinstance(each, int) for each in (query, candidate, value)) or value not in range(VALUES):
                raise ValueError("three numbers expected: query, candidate, value")
        except (orjson.JSONDecodeError, ValueError, TypeError) as error:
            raise BadInputError(path, number, f"not a rating ({error}). Remove this line.") from None
        values[query, candidate] = value
    return values


def read_all(folder: Path) -> dict[str, dict[tuple[int, int], int]]:
    """Return the ratings of all raters, by rater."""
    suffix = ".ratings.jsonl"
    return {path.name.removesuffix(suffix): _read_ratings(path) for path in sorted(folder.glob(f"*{suffix}"))}


@dataclass(frozen=True, slots=True)
class SystemScore:
    """The scores of one system: means over the queries whose candidates were all rated."""

    system: str
    queries: int
    dcg: Estimate
    ndcg: Estimate
    accuracy: Estimate
    """The share of queries whose nearest edit was rated 2."""
    dcg_by_size: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RatingReport:
    """The scores of all systems, and the agreement of the raters."""

    k: int
    raters: tuple[str, ...]
    ratings: int
    kappa: float
    """Fleiss' kappa over the candidates that every rater rated."""
    systems: tuple[SystemScore, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return asdict(self)


def report(task: RatingTask, ratings: Mapping[str, Mapping[tuple[int, int], int]]) -> RatingReport:
    """Return the scores of each system, averaged over raters and queries.

    A query counts for a rater who rated all of its candidates. It has no NDCG if none of them is related.

    Raises:
        UserError: There are no ratings.
    """
    if not any(ratings.values()):
        raise UserError("nothing has been rated yet. Rate first: leave --report out.")
    every = [set(values) for values in ratings.values()]
    common = sorted(set.intersection(*every))
    kappa = metrics.fleiss_kappa([[values[item] for values in ratings.values()] for item in common], VALUES)
    return RatingReport(
        task.k,
        tuple(ratings),
        sum(len(values) for values in ratings.values()),
        kappa,
        tuple(_system(task, name, ratings) for name in task.systems),
    )


def _system(task: RatingTask, name: str, ratings: Mapping[str, Mapping[tuple[int, int], int]]) -> SystemScore:
    rows: list[tuple[float, float, float]] = []
    by_size: dict[str, list[float]] = defaultdict(list)
    for number, query in enumerate(task.queries):
        found = [
            _scores(query.ranks[name], pool, task.k)
            for values in ratings.values()
            if (pool := _pool(number, query, values)) is not None
        ]
        if found:
            dcg, ndcg, first = np.array(found, np.float64).mean(axis=0)
            rows.append((float(dcg), float(ndcg), float(first)))
            by_size[_size(query.size)].append(float(dcg))
    table = np.array(rows, np.float64).reshape(-1, 3)
    return SystemScore(
        name,
        len(rows),
        metrics.mean(table[:, 0]),
        metrics.mean(_known(table[:, 1])),
        metrics.mean(table[:, 2]),
        {size: float(np.mean(by_size[size])) if by_size[size] else math.nan for size in SIZES},
    )


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]


def _pool(number: int, query: Query, values: Mapping[tuple[int, int], int]) -> list[int] | None:
    found = [values.get((number, place)) for place in range(len(query.candidates))]
    return [value for value in found if value is not None] if None not in found and found else None


def _scores(ranked: Sequence[int], pool: Sequence[int], k: int) -> tuple[float, float, float]:
    gains = [float(pool[place]) for place in ranked]
    first = float(bool(gains) and gains[0] == VALUES - 1)
    return metrics.dcg(gains, k), metrics.ndcg(gains, k, pool=[float(value) for value in pool]), first


def _size(distance: int) -> str:
    return SIZES[0] if distance <= 1 else SIZES[1] if distance <= 3 else SIZES[2]
