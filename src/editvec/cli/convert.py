"""`editvec convert`."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--format",
    type=click.Choice(["native", "githubedits"]),
    default="native",
    show_default=True,
    help="Format of OUT if it is a .jsonl file.",
)
@click.option(
    "--skip-bad",
    is_flag=True,
    help="Skip and count damaged lines, and edits that the format of OUT cannot represent.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def convert(source: str, target: str, as_json: bool, **options: Any) -> None:
    r"""Convert an edit file to another format. The file names determine the formats.

    .jsonl.gz and .jsonl are editvec's own format with one edit per line; .parquet contains the same in columns and
    needs editvec[data]. .tsv and .tsv.gz are WikiAtomicEdits. The format of the published GitHubEdits is recognised in
    IN, and written with --format githubedits. OUT is written only when the conversion is complete.

    \b
    editvec convert edits.jsonl.gz edits.jsonl.gz
    editvec convert sentences.tsv sentences.jsonl.gz
    editvec convert edits.jsonl.gz published.jsonl.gz --format githubedits
    """
    from editvec.cli.terminal import describe, in_one_line, print_json, printable, progress
    from editvec.data.convert import convert as run

    done = run(source, target, progress=progress, **options)
    left_out = {"damaged": done.damaged, "refused": done.refused}
    if as_json:
        counts = {name: found.count if found else 0 for name, found in left_out.items()}
        print_json({"edits": done.written, **counts, "out": target})
        return
    click.echo(f"{describe(done.written)} edits → {in_one_line(target)}")
    for found in left_out.values():
        if found and found.count:
            first = printable(str(found.first[0]))
            click.echo(f"editvec: skipped {describe(found.count)}; the first: {first}", err=True)
