"""`editvec encode`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("file", metavar="EDITS")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="Folder for the index.")
@click.option("--append", is_flag=True, help="Add edits to an existing index, or continue an interrupted run.")
@click.option("--limit", type=click.IntRange(1), help="Maximum number of edits, from the start of the file.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def encode(model: str, file: str, out: Path, as_json: bool, **options: Any) -> None:
    r"""Turn edits into vectors, and write both to an index.

    MODEL is the folder of a trained model, packaged (the model in the package), or a baseline: tfidf (the added and
    removed tokens) or diff (the diff as text). A baseline is fitted on EDITS and saved in the index. Use --append to
    continue after an interruption.

    \b
    editvec encode runs/mine edits.jsonl.gz -o edits.index
    editvec encode tfidf edits.jsonl.gz -o words.index
    editvec encode runs/mine new.jsonl.gz -o edits.index --append
    """
    from editvec.cli.terminal import describe, print_json, progress
    from editvec.vectors.encode import encode as run

    done = run(model, file, out, progress=progress, **options)
    if as_json:
        print_json(done.as_json())
        return
    click.echo(f"{out}: {describe(len(done.index))} edits, {done.index.dim} numbers each")
    if done.unread:
        click.echo(
            f"  {describe(done.unread)} edits were skipped: they have no tree, or are longer than the model reads"
        )
