"""Measure how often the tokens of an `after` become exactly its text again, including white space.

An editor writes tokens, but users and files need text. For mined edits the text is known. Their tokens are laid out
relative to `before`, in the same way as an editor's answer, and the result is compared byte by byte with what people
wrote. The baseline is one space between any two tokens.

    python benchmarks/spacing.py edits.parquet
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.diff import Tag, align
from editvec.syntax.spacing import spaced


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--edits", default=4000, show_default=True, help="Number of edits per file.")
def main(files: tuple[Path, ...], edits: int) -> None:
    """Measure how often the text that is made of tokens equals what people wrote."""
    click.echo("| file | edits | the same text | one space everywhere |\n|---|---|---|---|")
    for file in files:
        read = list(islice(edit_files.read(file, trees=False), edits))
        found = [_texts(edit) for edit in read]
        same, plain = (sum(pair[at] == pair[2] for pair in found) / max(1, len(found)) for at in (0, 1))
        click.echo(f"| {file.name} | {len(found):,} | {same:.1%} | {plain:.1%} |")


def _texts(edit: Edit) -> tuple[str, str, str]:
    """What spacing makes of an after, what single spaces do, and what it is."""
    kept = {
        place.after: place.before
        for place in align(edit.before.tokens, edit.after.tokens).positions
        if place.tag is Tag.EQUAL and place.before is not None and place.after is not None
    }
    return spaced(edit.before, edit.after.tokens, kept, {}, edit.language), " ".join(edit.after.tokens), edit.after.text


if __name__ == "__main__":
    main()
