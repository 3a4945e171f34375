"""`editvec edit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.core.edit import Edit


@click.command()
@click.argument("folder", metavar="MODEL", type=click.Path(path_type=Path))
@click.option("--before", required=True, help="The piece of code or prose to edit; - reads it from stdin.")
@click.option("--like-before", "befores", required=True, multiple=True, help="An example of the edit: before …")
@click.option("--like-after", "afters", required=True, multiple=True, help="… and after. Several may be given.")
@click.option("--language", help="Of all three; by default the first in which they parse.")
@click.option("-k", "number", default=5, show_default=True, type=click.IntRange(1), help="How many suggestions.")
@click.option("--anyway", is_flag=True, help="Also what puts in or takes away other words than the examples do.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def edit(
    folder: Path,
    before: str,
    befores: tuple[str, ...],
    afters: tuple[str, ...],
    language: str | None,
    number: int,
    anyway: bool,
    as_json: bool,
) -> None:
    """Edit one piece of code or prose like an example or several, and print the suggestions with the chance of each to
    be right.

    What the editor writes is read back by the encoder, and what is most like the examples comes first; three examples
    say much more than one. The exit code is 1 when the model has none.

    \b
    editvec edit packaged --before 'count = count + 1;' --like-before 'x = x + 1;' --like-after 'x++;'
    """
    import math

    from editvec.cli.options import spoken
    from editvec.cli.terminal import print_json, printable, read_stdin
    from editvec.core.errors import UserError
    from editvec.suggest.edit import edit as run

    if before == "-":
        before = read_stdin().decode(errors="surrogateescape")
    if len(befores) != len(afters):
        raise UserError("give as many --like-after as --like-before.")
    given = [("--before", before), *(("--like-before", text) for text in befores)]
    for name, text in [*given, *(("--like-after", text) for text in afters)]:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UserError(f"{name} is not UTF-8.") from None
    examples: list[Edit | tuple[str, str]] = list(zip(befores, afters, strict=True))
    language = spoken(language, [before, *befores, *afters])
    found = run(before, examples, model=folder, k=number, language=language, anyway=anyway)
    if as_json:
        print_json([{"text": each.text, "tokens": each.tokens, "score": each.score} for each in found])
    else:
        for each in found:
            click.echo(f"{math.exp(each.score):7.2%}  {printable(each.text)}")
    if not found:
        if not as_json:
            reason = "could not write one" if anyway else "could not write one that does as the examples do (--anyway)"
            click.echo(f"editvec: no suggestion: the model {reason}.", err=True)
        raise click.exceptions.Exit(1)
