"""Compute what a closed vocabulary can write at most.

This is the share of edits whose `after` consists only of tokens that are in the vocabulary, in before or in the
context. Training cannot exceed it; a larger vocabulary can. The table compares vocabularies of several sizes, with and
without copying.

    python benchmarks/ceiling.py data/githubedits/train.jsonl.gz data/githubedits/test.jsonl.gz
"""

from __future__ import annotations

from pathlib import Path

import click

from editvec.data import edit_files
from editvec.neural import vocab

_SIZES = (0, 2_000, 5_000, 10_000, 20_000, 40_000, 80_000, 10**9)


@click.command()
@click.argument("train", type=click.Path(exists=True, path_type=Path))
@click.argument("test", type=click.Path(exists=True, path_type=Path))
@click.option("--min-count", default=1, show_default=True, help="Minimum occurrences of a token in the vocabulary.")
def main(train: Path, test: Path, min_count: int) -> None:
    """Print the share of edits that vocabularies of several sizes can write, with and without copying."""
    counts = vocab.count_tokens(edit_files.read(train, trees=False))
    ranked = vocab.build(counts, size=len(counts), min_count=min_count).ids
    edits = list(edit_files.read(test, trees=False))
    nowhere = 10**12
    ranks: dict[str, list[int]] = {"no copying": [], "copying from before": [], "… and context": []}
    for edit in edits:
        above, below = edit.model_context
        before = set(edit.model_before)
        for name, reach in (
            ("no copying", frozenset[str]()),
            ("copying from before", before),
            ("… and context", before | set(above) | set(below)),
        ):
            # The place in the vocabulary of the rarest token that has to be generated.
            needed = [ranked.get(token, nowhere) for token in edit.model_after if token not in reach]
            ranks[name].append(max(needed, default=0) - len(vocab.MARKS) + 1)
    click.echo(f"{len(edits):,} edits; vocabulary of {len(ranked):,} tokens seen {min_count} times or more")
    click.echo("size".rjust(9) + "".join(name.rjust(22) for name in ranks))
    for size in _SIZES:
        shares = [sum(rank <= size for rank in found) / len(edits) for found in ranks.values()]
        name = "all" if size == _SIZES[-1] else f"{size:,}"
        click.echo(name.rjust(9) + "".join(f"{share:22.2%}" for share in shares))


if __name__ == "__main__":
    main()
