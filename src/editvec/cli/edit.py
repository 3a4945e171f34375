"""`editvec edit`."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.argument("model")
@click.option("--before", required=True, help="Code or prose to edit; - reads it from stdin.")
@click.option(
    "--like-before",
    "befores",
    required=True,
    multiple=True,
    help="Example of the edit: the text before; may be repeated.",
)
@click.option(
    "--like-after",
    "afters",
    required=True,
    multiple=True,
    help="Example of the edit: the text after; one for each --like-before.",
)
@click.option("--language", help="Language of all texts.  [default: the first language in which they parse]")
@click.option("-k", default=5, show_default=True, type=click.IntRange(1), help="Number of candidates.")
@click.option("--anyway", is_flag=True, help="Keep candidates that change other tokens than the examples do.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def edit(
    model: str, before: str, befores: tuple[str, ...], afters: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    r"""Edit a piece of code or prose by example, and print the candidates with their probabilities.

    Each candidate is encoded again, and those most similar to the examples come first. Three examples give much better
    results than one. The exit code is 1 if there is no candidate.

    \b
    editvec edit packaged --before 'count = count + 1;' --like-before 'x = x + 1;' --like-after 'x++;'
    """
    import math

    from editvec.cli.options import tell_language
    from editvec.cli.terminal import print_json, printable, read_stdin
    from editvec.core.errors import UserError
    from editvec.suggest.edit import edit as run
    from editvec.suggest.edit import language_of_snippets

    if before == "-":
        before = read_stdin().decode(errors="surrogateescape")
    if len(befores) != len(afters):
        raise UserError(
            "the numbers of --like-before and --like-after differ. Give one --like-after for each --like-before."
        )
    texts = [("--before", before), *(("--like-before", text) for text in befores)]
    for name, text in [*texts, *(("--like-after", text) for text in afters)]:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UserError(f"{name} is not UTF-8. Convert the text first.") from None
    like = list(zip(befores, afters, strict=True))
    if options["language"] is None:
        options["language"] = language = language_of_snippets(before, like)
        tell_language(language)
    found = run(before, like, model=model, **options)
    if as_json:
        print_json([{"text": each.text, "tokens": each.tokens, "score": each.score} for each in found])
    else:
        for each in found:
            click.echo(f"{math.exp(each.score):7.2%}  {printable(each.text)}")
    if not found:
        if not as_json:
            reason = (
                "" if options["anyway"] else " that changes the same tokens as the examples (--anyway keeps the others)"
            )
            click.echo(f"editvec: there is no candidate: the model found none{reason}.", err=True)
        raise click.exceptions.Exit(1)
