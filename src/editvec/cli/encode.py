"""`editvec encode`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("file", metavar="EDITS")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="The folder for the index.")
@click.option("--append", is_flag=True, help="Add the edits that the index does not have yet, or go on with it.")
@click.option("--limit", type=click.IntRange(1), help="Take the first so many edits only.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def encode(model: str, file: str, out: Path, append: bool, limit: int | None, as_json: bool) -> None:
    """Turn edits into vectors, and put both into an index.

    MODEL is the folder of a trained model, packaged (the one that comes along), or a baseline: tfidf (which tokens came
    and went) or diff (the diff as text). A baseline is fitted on EDITS and kept in the index. Interrupted, --append
    goes on.

    \b
    editvec encode runs/mine edits.jsonl.gz -o edits.index
    editvec encode tfidf edits.jsonl.gz -o words.index
    editvec encode runs/mine new.jsonl.gz -o edits.index --append
    """
    from itertools import islice

    from editvec.cli.terminal import counted, describe, print_json
    from editvec.data import edit_files
    from editvec.vectors import vectorisers
    from editvec.vectors.index import build, for_appending
    from editvec.vectors.vectorisers import Trained

    vectoriser = for_appending(out, model) if append else None
    if vectoriser is None:
        vectoriser = vectorisers.make(model, islice(edit_files.read(file, trees=False), limit))
    trees = isinstance(vectoriser, Trained) and vectoriser.needs_trees
    edits = counted(
        islice(edit_files.read(file, trees=trees), limit), f"Encoding {file}", limit or edit_files.count(file)
    )
    index, unread = build(out, vectoriser, edits, append=append)
    if as_json:
        print_json({"folder": str(out), "edits": len(index), "dim": index.dim, "unread": unread})
        return
    click.echo(f"{out}: {describe(len(index))} edits, {index.dim} numbers each")
    if unread:
        click.echo(f"  {describe(unread)} edits are longer than the model reads, or have no tree, and were left out")
