"""`editvec edit`."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.argument("folder", metavar="MODEL", type=click.Path(path_type=Path))
@click.option("--before", required=True, help="The piece of code or prose to edit; - reads it from stdin.")
@click.option("--like-before", required=True, help="An example of the edit: before …")
@click.option("--like-after", required=True, help="… and after.")
@click.option("--language", default="csharp", show_default=True, help="Of all three.")
@click.option("-k", "number", default=5, show_default=True, type=click.IntRange(1), help="How many suggestions.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def edit(
    folder: Path, before: str, like_before: str, like_after: str, language: str, number: int, as_json: bool
) -> None:
    """Edit one piece of code or prose like an example, and print the suggestions with their probabilities.

    The exit code is 1 when the model has none.

    \b
    editvec edit runs/mine --before 'count = count + 1;' --like-before 'x = x + 1;' --like-after 'x++;'
    """
    import math

    from editvec.cli.terminal import print_json, printable
    from editvec.errors import UserError
    from editvec.model import load

    if before == "-":
        before = sys.stdin.buffer.read().decode(errors="surrogateescape")
    for name, text in (("--before", before), ("--like-before", like_before), ("--like-after", like_after)):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UserError(f"{name} is not UTF-8.") from None
    found = load(folder).apply(before, k=number, like=(like_before, like_after), language=language)
    if as_json:
        print_json([{"text": each.text, "tokens": each.tokens, "score": each.score} for each in found])
    else:
        for each in found:
            click.echo(f"{math.exp(each.score):7.2%}  {printable(each.text)}")
    if not found:
        if not as_json:
            click.echo("editvec: no suggestion: the model could not write one in the words of --before.", err=True)
        raise click.exceptions.Exit(1)
