"""Measure whether the nearest edit is of the same sweep, among all edits of its repository.

A sweep is here what a commit did several times: edits of one commit with the same signature, if it names anything but
variables. Verbatim copies of an edit do not count, because finding them needs no vectors. Baselines such as tfidf are
fitted on the edits themselves.

    python benchmarks/sweep_neighbours.py runs/data/test.jsonl.gz packaged tfidf
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click
import numpy as np

from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.data.splits import token_hash
from editvec.diff.signature import signature_of
from editvec.evaluation import metrics
from editvec.vectors import vectorisers
from editvec.vectors.index import unit


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.argument("models", nargs=-1, required=True)
@click.option("--limit", default=4000, show_default=True, help="Maximum edits of a repository, from the start.")
def main(file: Path, models: tuple[str, ...], limit: int) -> None:
    """Print, for each model, the share of edits whose nearest edit is of the same sweep."""
    by_repository: dict[str, list[Edit]] = defaultdict(list)
    for edit in edit_files.read(file, trees=False):
        if edit.source is not None and edit.source.commit and len(by_repository[edit.source.repository]) < limit:
            by_repository[edit.source.repository].append(edit)
    for name in models:
        found = {key: nearest_is_of_the_sweep(edits, name) for key, edits in sorted(by_repository.items())}
        total = metrics.mean(np.concatenate(list(found.values())))
        macro = np.mean([right.mean() for right in found.values() if len(right)])
        count = sum(map(len, found.values()))
        click.echo(
            f"{name}: {total.value:.2%} ({total.low:.1%} – {total.high:.1%}) of {count:,} edits; "
            f"mean over repositories {macro:.2%}"
        )
        for key, right in found.items():
            click.echo(f"  {key}: {right.mean() if len(right) else float('nan'):.2%} of {len(right):,}")


def nearest_is_of_the_sweep(edits: list[Edit], model: str) -> np.ndarray:
    """Return, for each edit of a sweep, whether the nearest other edit is of the same sweep."""
    forms = np.array([token_hash(edit) for edit in edits], np.uint64)
    signatures = [signature_of(edit) for edit in edits]
    keys = [
        (edit.source.commit if edit.source else "", signature)
        for edit, signature in zip(edits, signatures, strict=True)
    ]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    sweeps = np.array([numbers[key] for key in keys])
    units = unit(vectorisers.make(model, edits).encode(edits))
    right = []
    for row in range(len(edits)):
        others = np.flatnonzero(forms != forms[row])
        if not signatures[row].says_something or not (sweeps[others] == sweeps[row]).any():
            continue
        ranked = others[metrics.by_rank((units[others] @ units[row]).astype(np.float64), seed=row)]
        right.append(sweeps[ranked[0]] == sweeps[row])
    return np.array(right, np.float64)


if __name__ == "__main__":
    main()
