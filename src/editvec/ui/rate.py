"""Rate neighbours by hand on a local page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from editvec.core.errors import UserError
from editvec.evaluation.ratings import TASK, RatingReport, Ratings, RatingTask, make_task, read_all
from editvec.evaluation.ratings import report as report_of
from editvec.ui.rating import rating_server
from editvec.vectors.index import open_index


@dataclass(frozen=True, slots=True)
class Rating:
    """How far a rater is."""

    address: str
    path: Path
    num_rated: int
    num_candidates: int


def rate(
    ratings: Path,
    indexes: Sequence[Path] = (),
    *,
    queries: int = 200,
    k: int = 3,
    seed: int = 0,
    rater: str = "me",
    port: int = 0,
    report: bool = False,
    ready: Callable[[Rating], None] | None = None,
) -> Rating | RatingReport:
    """Rate neighbours by hand on a local page until Ctrl-C, or report what came of it.

    With `indexes`, the folder `ratings` is made: `queries` random edits with their `k` neighbours in each index, blind
    and shuffled. Every rating is saved at once. `ready` is told the address.

    Raises:
        UserError: The folder holds ratings already, or two indexes have the same name.
    """
    if indexes:
        if (ratings / TASK).exists():
            raise UserError(f"{ratings} already holds something to rate. Leave the indexes out to go on with it.")
        names = [index.name for index in indexes]
        if len(set(names)) < len(names):
            raise UserError("two indexes have the same name. Rename a folder: systems are told apart by it.")
        opened = dict(zip(names, map(open_index, indexes), strict=True))
        make_task(opened, num_queries=queries, k=k, seed=seed).save(ratings)
    task = RatingTask.load(ratings)
    if report:
        return report_of(task, read_all(ratings))
    rated = Ratings(ratings, rater)
    server = rating_server(task, rated, port=port)
    total = sum(len(query.candidates) for query in task.queries)
    if ready is not None:
        ready(Rating(server.address, rated.path, len(rated.values), total))
    with suppress(KeyboardInterrupt):
        server.run()
    return Rating(server.address, rated.path, len(rated.values), total)
