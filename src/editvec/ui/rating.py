"""The page on which a person rates neighbours. The page does not get the names of the systems."""

from __future__ import annotations

from dataclasses import asdict
from importlib.resources import files
from typing import Any

from editvec.evaluation.ratings import Ratings, RatingTask
from editvec.ui.server import LocalServer


def rating_server(task: RatingTask, ratings: Ratings, *, port: int = 0) -> LocalServer:
    """Return a server of the rating page for one rater."""
    folder = files("editvec.ui")
    page = folder.joinpath("rate.html").read_text(encoding="utf-8")
    page = page.replace("/*SCRIPT*/", folder.joinpath("rate.js").read_text(encoding="utf-8"))
    queries = [
        {"edit": _blind(each.edit), "candidates": [_blind(candidate) for candidate in each.candidates]}
        for each in task.queries
    ]

    def get() -> dict[str, Any]:
        return {"queries": queries, "rated": [[*place, value] for place, value in ratings.values.items()]}

    def post(sent: Any) -> dict[str, Any]:
        if not isinstance(sent, list) or len(sent) != 3 or not all(type(each) is int for each in sent):
            raise ValueError("expected [query, candidate, value]")
        ratings.rate(task, *sent)
        return {"rated": len(ratings.values)}

    return LocalServer(page, get, post, port=port)


def _blind(shown: Any) -> dict[str, Any]:
    return {key: value for key, value in asdict(shown).items() if key != "id"}
