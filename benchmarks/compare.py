"""Compare two models on the same edits: how often one is right where the other is wrong, with examples.

The input is what `editvec evaluate --out` wrote for each model.

    python benchmarks/compare.py seq2seq.jsonl graph2tree.jsonl
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import orjson

Answers = dict[str, Any]


@click.command()
@click.argument("first", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("second", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--number", default=10, show_default=True, help="Number of edits to show per kind.")
@click.option("--seed", default=0, show_default=True, help="Seed for the choice of the edits to show.")
@click.option("--pruned", is_flag=True, help="Count answers as right in the way of the original code.")
def main(first: Path, second: Path, number: int, seed: int, pruned: bool) -> None:
    """Compare the answers of two models that editvec evaluate --out wrote."""
    one, other = _read(first), _read(second)
    shared = [identity for identity in one if identity in other]
    if not shared:
        raise click.ClickException(f"{first} and {second} have no edit in common. Evaluate both on one file.")
    rank = "pruned_rank" if pruned else "rank"
    cells: dict[tuple[bool, bool], list[str]] = {(a, b): [] for a in (True, False) for b in (True, False)}
    for identity in shared:
        cells[one[identity][rank] == 1, other[identity][rank] == 1].append(identity)
    click.echo(f"{len(shared)} edits in both; {len(one) - len(shared)} and {len(other) - len(shared)} in one alone\n")
    click.echo(f"| | {second.stem} right | {second.stem} wrong |\n|---|---|---|")
    for mine, name in ((True, "right"), (False, "wrong")):
        counts = (
            f"{len(cells[mine, theirs]):,} ({len(cells[mine, theirs]) / len(shared):.1%})" for theirs in (True, False)
        )
        click.echo(f"| {first.stem} {name} | {' | '.join(counts)} |")
    chance = random.Random(seed)
    for title, cell in (
        (f"{first.stem} right, {second.stem} wrong", cells[True, False]),
        (f"{first.stem} wrong, {second.stem} right", cells[False, True]),
    ):
        click.echo(f"\n## {title}")
        for identity in sorted(chance.sample(cell, min(number, len(cell)))):
            _show(identity, one[identity], other[identity], (first.stem, second.stem))


def _read(path: Path) -> dict[str, Answers]:
    with path.open("rb") as lines:
        return {(answer := orjson.loads(line))["id"]: answer for line in lines}


def _show(identity: str, one: Answers, other: Answers, names: tuple[str, str]) -> None:
    click.echo(f"\n{identity}")
    click.echo(f"  before  {_text(one['before'])}\n  after   {_text(one['after'])}")
    for name, answer in zip(names, (one, other), strict=True):
        found = answer["candidates"]
        best = f"{_text(found[0]['tokens'])}  ({found[0]['score']:.2f})" if found else "nothing"
        click.echo(f"  {name}: {best}; the true one's rank is {answer['rank'] or 'beyond the beam'}")


def _text(tokens: Sequence[str]) -> str:
    """Tokens as a line that a terminal can show: what is mined may hold anything."""
    return " ".join("".join(letter if letter.isprintable() else "\ufffd" for letter in token) for token in tokens)


if __name__ == "__main__":
    main()
