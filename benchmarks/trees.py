"""Measure which edits a grammar from the training set can derive, and check that the derivations are correct.

The table has one row for each split and each kind of trees: those of the file and tree-sitter's. The check replays the
oracle's actions: they must give the tree of `after` and exactly its tokens.

    python benchmarks/trees.py --data data/githubedits
    python benchmarks/trees.py --data runs/data --ending parquet --edits 20000 file
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click

from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.neural.examples import Exampler, NoTreeError, TooLongError
from editvec.neural.grammar import Grammar, SourceTree, UnseenError, derive, edit_trees, learn, replay
from editvec.neural.grammar.grammar import same_tree
from editvec.neural.vocab import Vocab
from editvec.syntax.tree import Tree

SPLITS = ("train", "dev", "test")


class Split(NamedTuple):
    edits: int
    no_tree: int
    unseen: int
    wrong: int
    """Edits of which the oracle's actions give another tree, or other tokens. There must be none."""
    actions: float
    """An edit, on average over those that can be derived."""
    texts: float
    nodes: float
    """Of before."""
    examples: float
    """A second of one core."""


@click.command()
@click.option(
    "--data", required=True, type=click.Path(exists=True, path_type=Path), help="Folder with train, dev and test."
)
@click.option("--ending", default="jsonl.gz", show_default=True, help="Ending of the three files.")
@click.option("--edits", type=int, help="Use only this number of edits from each file.")
@click.argument("kinds", nargs=-1, type=click.Choice(["file", "parsed"]))
def main(data: Path, ending: str, edits: int | None, kinds: tuple[str, ...]) -> None:
    """Print, for each split and kind of trees, the share of edits that the grammar can derive."""
    columns = "trees|split|edits|no tree|not derivable|derivable|replayed wrong|actions|tokens written|nodes|examples/s"
    titles = columns.split("|")
    click.echo(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for kind in kinds or ("file", "parsed"):
        parsed = kind == "parsed"
        grammar = learn(_trees(data / f"train.{ending}", edits, parsed))
        for split in SPLITS:
            found = _measure(
                islice(edit_files.read(data / f"{split}.{ending}", trees=not parsed), edits), grammar, parsed
            )
            share = 1 - (found.no_tree + found.unseen) / found.edits
            click.echo(
                f"| {kind} | {split} | {found.edits:,} | {found.no_tree:,} | {found.unseen:,} | {share:.2%} "
                f"| {found.wrong:,} | {found.actions:.1f} | {found.texts:.1f} | {found.nodes:.1f} "
                f"| {found.examples:.0f} |"
            )
        labels, slots, opened = len(grammar.labels), len(grammar.slots), len(grammar.open_kinds)
        click.echo(f"{kind}: {labels:,} labels, {slots:,} slots, {opened} open kinds", err=True)


def _trees(path: Path, edits: int | None, parsed: bool) -> Iterator[Tree]:
    for edit in islice(edit_files.read(path, trees=not parsed), edits):
        try:
            yield from edit_trees(edit, parsed=parsed)
        except UnseenError:
            continue


def _measure(edits: Iterator[Edit], grammar: Grammar, parsed: bool) -> Split:
    exampler = Exampler(Vocab(()), grammar=grammar, actions=True, parsed=parsed)
    count = no_tree = unseen = wrong = derived = actions = texts = nodes = 0
    taken = 0.0
    for edit in edits:
        count += 1
        start = time.process_time()
        try:
            example = exampler(edit)
        except TooLongError:
            count -= 1
            continue
        except NoTreeError:
            try:
                edit_trees(edit, parsed=parsed)
                unseen += 1
            except UnseenError:
                no_tree += 1
            continue
        finally:
            taken += time.process_time() - start
        assert example.steps is not None and example.trees is not None
        derived += 1
        wrong += not _is_right(edit, grammar, parsed)
        actions += len(example.steps.slots)
        texts += int((example.steps.texts != 0).sum())
        nodes += len(example.trees.before_kinds)
    return Split(count, no_tree, unseen, wrong, actions / derived, texts / derived, nodes / derived, count / taken)


def _is_right(edit: Edit, grammar: Grammar, parsed: bool) -> bool:
    before, after = edit_trees(edit, parsed=parsed)
    source = SourceTree.of(before)
    built = replay(grammar, source, derive(grammar, source, after))
    return same_tree(built, after) and built.tokens() == edit.model_after


if __name__ == "__main__":
    main()
