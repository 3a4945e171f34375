"""Find the edits of an index that are nearest to a given edit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.data.sampling import as_json
from editvec.data.splits import token_hash
from editvec.syntax.parse import likely_language
from editvec.syntax.snippet import DEFAULT_LANGUAGE, snippet_edit
from editvec.vectors.index import METRICS, Neighbour, open_index


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The edits of an index that are nearest to a query edit, the nearest first."""

    query: Edit
    metric: str
    found: list[Neighbour]

    def as_json(self) -> dict[str, Any]:
        """Return the neighbours as JSON values."""
        rows = [{"number": each.row + 1, "score": each.score, **as_json(each.edit)} for each in self.found]
        return {"query": as_json(self.query), "metric": self.metric, "neighbours": rows}


def neighbours(
    index: Path,
    *,
    id: str | None = None,
    before: str | None = None,
    after: str | None = None,
    language: str | None = None,
    k: int = 10,
    metric: str = "cosine",
    copies: bool = False,
    exact: bool = False,
    model: str | Path | None = None,
) -> Neighbours:
    """Return the edits of an index that are nearest to one of them, or to an edit given as `before` and `after`.

    `id` is an id, the beginning of one, or a number such as "#3". `language` is by default the first language in which
    the snippets parse. Verbatim copies of the query are left out unless `copies` is set. With `exact`, the query is
    compared with every edit, however large the index is. `model` is the folder of the index's model, if it has moved.

    Raises:
        UserError: The edit is given in both ways or in neither, or the index, the edit or the model does not exist.

    Examples:
        >>> import editvec
        >>> near = editvec.neighbours(Path("edits.index"), before="x == None", after="x is None", k=1)
        >>> near.found[0].edit.after.text
        'if limit is None:'
    """
    opened = open_index(index)
    row: int | None = None
    if id is not None and before is None and after is None:
        row = opened.row_of(id)
        query, vector = opened.edits([row])[0], opened.vectors[row]
    elif id is None and before is not None and after is not None:
        if before.split() == after.split():
            raise UserError("--before and --after are the same, so there is no edit. Give two different texts.")
        query = snippet_edit(before, after, language or likely_language([before, after]) or DEFAULT_LANGUAGE)
        vector = opened.vectoriser(model).encode([query])[0]
    else:
        raise UserError("give either --id, or both --before and --after.")
    found = opened.neighbours(
        vector,
        k,
        metric=next(known for known in METRICS if known == metric),
        without_row=row,
        without_hash=None if copies else token_hash(query),
        exact=exact,
    )
    return Neighbours(query, metric, found)
