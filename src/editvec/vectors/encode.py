"""Encode a file of edits into an index."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from editvec.data import edit_files
from editvec.data.progress import Stages, counted, silent
from editvec.vectors import vectorisers
from editvec.vectors.index import Index, build, for_appending
from editvec.vectors.vectorisers import Trained


@dataclass(frozen=True, slots=True)
class Encoded:
    """An index, and the number of edits that the model could not read."""

    index: Index
    unread: int

    def as_json(self) -> dict[str, object]:
        """Return the folder and the counts as JSON values."""
        folder = str(self.index.folder)
        return {"folder": folder, "edits": len(self.index), "dim": self.index.dim, "unread": self.unread}


def encode(
    model: str | Path,
    file: str | Path,
    out: Path,
    *,
    append: bool = False,
    limit: int | None = None,
    progress: Stages = silent,
) -> Encoded:
    """Turn the edits of a file into vectors, and write both to an index.

    `model` is the folder of a trained model, "packaged", or a baseline ("tfidf", "diff") that is fitted on the edits.
    With `append`, only the edits that are not in the index yet are added; this also continues an interrupted call.

    Raises:
        UserError: The model or the file does not exist, or `out` is not an index that can be appended to.

    Examples:
        >>> import editvec
        >>> editvec.encode("packaged", "edits.jsonl.gz", Path("new.index")).index.vectors.shape
        (54, 512)
    """
    vectoriser = for_appending(out, str(model)) if append else None
    if vectoriser is None:
        vectoriser = vectorisers.make(str(model), islice(edit_files.read(file, trees=False), limit))
    trees = isinstance(vectoriser, Trained) and vectoriser.needs_trees
    read = islice(edit_files.read(file, trees=trees), limit)
    edits = counted(read, progress, "Encoding", total=limit or edit_files.count(file))
    return Encoded(*build(out, vectoriser, edits, append=append))
