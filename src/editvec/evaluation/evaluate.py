"""Evaluate a model on a file of edits."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import orjson

from editvec.core.errors import UserError
from editvec.core.files import atomic
from editvec.data import edit_files
from editvec.data.digests import TrainingDigests
from editvec.data.progress import Stages, counted, silent
from editvec.evaluation.decoding import EvaluationReport, answer_all
from editvec.neural.model import TRAINING_DIGESTS, folder_of, load, needs_trees


def evaluate(
    model: str | Path,
    file: str | Path,
    *,
    k: int = 5,
    limit: int | None = None,
    out: Path | None = None,
    progress: Stages = silent,
) -> EvaluationReport:
    """Measure how often a model, given an edit's vector and its `before`, writes its `after`.

    The report has scores for all edits, and scores for those that were not seen in training. Every edit's candidates
    and rank are written to `out` as JSON lines.

    Raises:
        UserError: The model or the file does not exist, or the model can read none of the edits.

    Examples:
        >>> import editvec
        >>> report = editvec.evaluate("packaged", "labelled.jsonl.gz")
        >>> report.all.accuracy.value
        1.0
    """
    loaded, folder = load(model), folder_of(model)
    digests = folder / TRAINING_DIGESTS
    seen = TrainingDigests.load(digests) if digests.exists() else None
    report = EvaluationReport(knows_seen=seen is not None)
    read = islice(edit_files.read(file, trees=needs_trees(loaded.config)), limit)
    edits = counted(read, progress, "Evaluating", total=limit or edit_files.count(file))
    with atomic(out) if out else nullcontext() as stream:
        for answer in answer_all(loaded, edits, report, k=k, seen=seen):
            if stream is not None:
                stream.write(orjson.dumps(answer.as_json()) + b"\n")
    if not report.all.ranks:
        raise UserError(f"{file} has no edit that this model can read. Give another file or another model.")
    return report
