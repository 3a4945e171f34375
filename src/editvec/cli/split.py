"""`editvec split`."""

from __future__ import annotations

from typing import Any

import click

_FAR = 0.05
"""Difference between a requested and an actual share from which a warning is printed."""


@click.command()
@click.argument("file")
@click.option("-o", "--out", default=".", show_default=True, help="Folder for train, dev and test.")
@click.option(
    "--by",
    type=click.Choice(["commit", "project", "time", "edit"]),
    default="commit",
    show_default=True,
    help="Edits that stay together: those of a commit or a project. time puts the oldest edits into train; edit "
    "assigns every edit at random.",
)
@click.option("--shares", default="80,10,10", show_default=True, help="Relative sizes of train, dev and test.")
@click.option("--seed", default=0, show_default=True, help="Random seed of the split.")
@click.option(
    "--format",
    default="jsonl.gz",
    show_default=True,
    help="Output format: jsonl.gz, jsonl, parquet, tsv.gz or tsv.",
)
@click.option(
    "--remove-leak", is_flag=True, help="Remove from dev and test the edits that train (or dev) contains verbatim."
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def split(file: str, by: str, as_json: bool, **options: Any) -> None:
    r"""Split an edit file into train, dev and test, and measure the leak between them.

    The leak of a split is the number of its edits that occur verbatim in a split before it.

    \b
    editvec split edits.jsonl.gz -o data --by commit
    editvec split edits.jsonl.gz -o data --by time --remove-leak
    """
    from editvec.cli.terminal import describe, print_json, printable
    from editvec.data.splits import split as run

    result = run(file, by=by, **options)
    if as_json:
        print_json(result.as_json())
        return
    total = sum(result.leak.counts.values())
    reached = [result.leak.counts[name] / max(1, total) for name in result.files]
    if total and max(abs(one - other) for one, other in zip(result.shares, reached, strict=True)) > _FAR:
        said = " / ".join(f"{share:.0%}" for share in reached)
        hint = (
            ""
            if by in ("edit", "time")
            else f": a {by} is never split, and some are large, or there are too few. Try another --seed or --by"
        )
        click.echo(f"editvec: the shares are {said}{hint}.", err=True)
    for name, path in result.files.items():
        leaked = ""
        if name != "train":
            verb = "left out because they" if result.removed else "of them"
            leaked = f"; {describe(result.leak.leaked[name])} ({result.leak.share(name):.1%}) {verb} occur before"
        click.echo(f"{printable(str(path))}: {describe(result.written[name])} edits{leaked}")
