"""`editvec split`."""

from __future__ import annotations

from typing import Any

import click

_FAR = 0.05
"""Shares that are further off are said."""


@click.command()
@click.argument("file")
@click.option("-o", "--out", default=".", show_default=True, help="The folder for train, dev and test.")
@click.option(
    "--by",
    type=click.Choice(["commit", "project", "time", "edit"]),
    default="commit",
    show_default=True,
    help="What is not torn apart: a commit, a project, a moment (the oldest edits train).",
)
@click.option("--shares", default="80,10,10", show_default=True, help="Parts for train, dev and test.")
@click.option("--seed", default=0, show_default=True, help="Another seed, another split.")
@click.option(
    "--format",
    default="jsonl.gz",
    show_default=True,
    help="jsonl.gz, jsonl, parquet, tsv.gz or tsv.",
)
@click.option("--remove-leak", is_flag=True, help="Leave out of dev and test what train (or dev) holds verbatim.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def split(file: str, by: str, as_json: bool, **options: Any) -> None:
    """Split an edit file into train, dev and test, and measure what leaks between them.

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
            else f": a {by} stays together, and some are large, or there are too few. Try another --seed or --by"
        )
        click.echo(f"editvec: the shares are {said}{hint}.", err=True)
    for name, path in result.files.items():
        leaked = ""
        if name != "train":
            verb = "left out because they" if result.removed else "of them"
            leaked = f"; {describe(result.leak.leaked[name])} ({result.leak.share(name):.1%}) {verb} occur before"
        click.echo(f"{printable(str(path))}: {describe(result.written[name])} edits{leaked}")
