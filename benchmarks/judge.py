"""Measure the share of sensible patterns and places among those that `editvec learn` shows.

The program draws patterns and places at random, a person judges them, and the program counts. The judged list is
`benchmarks/judged.tsv`. A pattern is identified by its two sides, a place by its commit and line. The goals are 80 % of
the patterns and 70 % of the places.

    editvec learn clones/gin -o learned/gin                  # repeat for each clone
    python benchmarks/judge.py draw learned/* -o judged.tsv  # then write y or n into the last column
    python benchmarks/judge.py count judged.tsv
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import click
import numpy as np

from editvec.evaluation.metrics import mean


class Judged(NamedTuple):
    kind: str
    repository: str
    where: str
    """The head of a pattern's repository, or a place in it."""
    before: str
    after: str
    verdict: str


@click.group()
def main() -> None:
    """Draw patterns and places for a person to judge, and count the verdicts."""


@main.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="File for the list.")
@click.option("--number", default=100, show_default=True, help="Number of patterns, and of places.")
@click.option("--top", default=20, show_default=True, help="Draw only from the first patterns of a repository.")
@click.option(
    "--texts", is_flag=True, help="Write the texts at a place instead of its pattern, to make judging easier."
)
@click.option("--seed", default=0, show_default=True, help="Seed of the draws.")
def draw(folders: tuple[Path, ...], out: Path, number: int, top: int, texts: bool, seed: int) -> None:
    """Draw patterns and places at random from folders that editvec learn wrote."""
    every = [each for folder in folders for each in _shown(folder, top, texts)]
    chance = Random(seed)
    with out.open("w", encoding="utf-8", newline="") as stream:
        lines = csv.writer(stream, "excel-tab", lineterminator="\n")
        lines.writerow(Judged._fields)
        for kind in ("pattern", "place"):
            some = [each for each in every if each.kind == kind]
            lines.writerows(sorted(chance.sample(some, min(number, len(some)))))


def _shown(folder: Path, top: int, texts: bool) -> Iterator[Judged]:
    learned = json.loads((folder / "patterns.json").read_text())
    head = learned["head"][:10]
    for pattern in learned["patterns"]:
        sides = _short(pattern["before"]), _short(pattern["after"])
        if pattern["number"] <= top:
            yield Judged("pattern", folder.name, head, *sides, "")
        for place in pattern["suggestions"]:
            where = f"{head}:{place['path']}:{place['line']}"
            before, after = (place["before"], place["after"]) if texts else sides
            yield Judged("place", folder.name, where, before, after, "")


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 100 else plain[:99] + "…"


@main.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
def count(file: Path) -> None:
    """Count the shares that were judged sensible."""
    with file.open(encoding="utf-8", newline="") as stream:
        rows = [Judged(**row) for row in csv.DictReader(stream, dialect="excel-tab")]
    click.echo("| | judged | sensible | repositories | by repository, mean |\n|---|---|---|---|---|")
    for kind in ("pattern", "place"):
        judged = [each for each in rows if each.kind == kind and each.verdict in ("y", "n")]
        if not judged:
            continue
        names = sorted({each.repository for each in judged})
        values = np.array([each.verdict == "y" for each in judged], float)
        means = [np.mean([each.verdict == "y" for each in judged if each.repository == name]) for name in names]
        value, low, high = (100 * each for each in mean(values))
        click.echo(
            f"| {kind}s | {len(judged)} | {value:.0f} % ({low:.0f} – {high:.0f}) | {len(names)} "
            f"| {100 * np.mean(means):.0f} % |"
        )


if __name__ == "__main__":
    main()
