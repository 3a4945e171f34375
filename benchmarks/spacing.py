"""How often the tokens of an `after` become its very text again, white space included.

An editor writes tokens; what a user sees, and what goes into a file, is text. Of mined edits the text is known: its
tokens are put beside the `before` that they come from, as an answer would be, and the text that comes of it is compared
with what people wrote, byte by byte. The peer is one space between any two tokens.

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
@click.option("--edits", default=4000, show_default=True, help="How many of each file to take.")
def main(files: tuple[Path, ...], edits: int) -> None:
    """Compare texts made of tokens with those of people."""
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
