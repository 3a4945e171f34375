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
    """The progress of a rater."""

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
    """Rate neighbours by hand on a local page until Ctrl-C, or return the report on the ratings.

    With `indexes`, a rating task is written to the folder `ratings`: `queries` random edits with their `k` neighbours
    in each index, shuffled and without the names of the indexes. Every rating is saved at once. `ready` is called when
    the page has an address.

    Raises:
        UserError: The folder already contains a task and `indexes` are given, or two indexes have the same name.

    Examples:
        >>> import editvec
        >>> editvec.rate(Path("ratings"), [Path("edits.index"), Path("words.index")], ready=print)
        Rating(...)
    """
    if indexes:
        if (ratings / TASK).exists():
            raise UserError(f"{ratings} already contains a rating task. Leave the indexes out to continue it.")
        names = [index.name for index in indexes]
        if len(set(names)) < len(names):
            raise UserError(
                "two indexes have the same folder name, which is used as the name of the system. Rename one."
            )
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
