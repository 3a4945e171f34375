"""Measure the processor time of each stage of `editvec learn` on clones.

The time is that of the process and of its finished child processes, so other work on the machine changes it little. The
result of each run is kept in a folder, for `benchmarks/judge.py`. With `--revisions`, only the history of a revision is
learned from; a run with an older revision first, and one without it then, measures a run after new commits.

    python benchmarks/learning.py clones/hapi -o learned
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import editvec
from editvec.data.progress import Advance, ignore


class Watch:
    """The processor seconds of each stage, in order."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, title: str, unit: str) -> Iterator[Advance]:
        """Measure a stage."""
        start = _processor_seconds()
        yield ignore
        self.seconds[title] = self.seconds.get(title, 0.0) + _processor_seconds() - start


def _processor_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@click.command()
@click.argument("clones", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="Folder for the results.")
@click.option("--model", help="Folder of a trained model; none for none.  [default: packaged]")
@click.option("--revisions", help="Learn only from these commits, such as v1.0..HEAD or HEAD~10.")
@click.option("--prose", is_flag=True, help="Learn from sentences.")
def main(clones: tuple[Path, ...], out: Path, model: str | None, revisions: str | None, prose: bool) -> None:
    """Learn from clones and print the processor seconds of each stage."""
    for clone in clones:
        name = clone.parent.name if clone.name == "repo" else clone.name
        watch, start, before = Watch(), time.monotonic(), _processor_seconds()
        learned = editvec.learn(
            clone, out / name, model=model, range=revisions, prose=prose, workers=1, progress=watch.stage
        )
        total, wall = _processor_seconds() - before, time.monotonic() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        places = sum(len(pattern.suggestions) for pattern in learned.patterns)
        click.echo(
            f"{name}: {learned.report.commits} commits, {learned.report.mined_now} of them new, "
            f"{len(learned.edits)} edits, {len(learned.patterns)} patterns, {places} places"
        )
        click.echo("  " + ", ".join(f"{title} {seconds:.1f}" for title, seconds in watch.seconds.items()))
        click.echo(f"  {total:.1f} s of processor time, {wall:.1f} s, {peak:.0f} MB", nl=True)


if __name__ == "__main__":
    main()
