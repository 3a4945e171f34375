"""Compute what a vocabulary can write at most.

This is the share of edits whose `after` consists only of tokens that are in the vocabulary, in before or in the
context. Training cannot exceed it; a larger vocabulary can, and so can pieces. The first table compares vocabularies of
several sizes, with and without copying. The second one adds pieces, and shows how long the targets become.

    python benchmarks/ceiling.py data/githubedits/train.jsonl.gz data/githubedits/test.jsonl.gz
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.neural import vocab
from editvec.neural.examples import Exampler

_SIZES = (0, 2_000, 5_000, 10_000, 20_000, 40_000, 80_000, 10**9)
_WITH_PIECES = ((10_000, 0), (10_000, 2_000), (32_000, 0), (32_000, 2_000), (32_000, 4_000), (32_000, 8_000))
"""Vocabularies of the second table: their sizes, and the numbers of learned pieces."""


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
    click.echo(f"\n{'size':>9}{'pieces':>9}{'can be written':>17}{'choices a token':>18}{'pieces a spelled token':>25}")
    for size, num_pieces in _WITH_PIECES:
        _print_pieces(vocab.build(counts, size=size, min_count=min_count, num_pieces=num_pieces), edits, num_pieces)


def _print_pieces(words: vocab.Vocab, edits: Sequence[Edit], num_pieces: int) -> None:
    """Print what a vocabulary with pieces can write, and how long it takes."""
    exampler = Exampler(words, max_tokens=10**6)
    examples = exampler.all(edits)
    share = sum(map(exampler.can_write, examples)) / len(edits)
    tokens = sum(len(example.after) for example in examples)
    choices = sum(len(example.symbols) or len(example.after) for example in examples)
    spelled = sum(int((example.symbols == words.num_words).sum()) for example in examples)
    pieces = f"{(choices - tokens) / spelled:25.2f}" if spelled else f"{'–':>25}"
    click.echo(f"{len(words.tokens):9,}{num_pieces:9,}{share:17.2%}{choices / tokens:18.3f}{pieces}")


if __name__ == "__main__":
    main()
