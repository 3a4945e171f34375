"""`editvec rule`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("ids", nargs=-1, metavar="[IDS]...")
@click.option(
    "--from", "examples", nargs=2, multiple=True, metavar="BEFORE AFTER", help="Example: two files; may be repeated."
)
@click.option("--text", is_flag=True, help="Read BEFORE and AFTER as code or prose, not as file names.")
@click.option("--edits", help="File of mined edits that are the examples: those with the IDS, or all.")
@click.option("--language", help="Language of the examples.  [default: from the file names]")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="File for the rules.  [default: stdout]")
@click.option("--test", is_flag=True, help="Also write ast-grep's test files beside the rules.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def rule(as_json: bool, **options: Any) -> None:
    r"""Induce rules from examples.

    Tokens that the examples share are kept, and differences become metavariables. A rule is an ast-grep rule with a fix
    (for prose, a replacement of words). It is printed only if it is verified: it turns each of its examples into the
    expected result, token by token, and matches nothing in the result. For code, ast-grep itself runs the verification.
    The exit code is 1 if there is no such rule.

    \b
    editvec rule --text --language csharp --from 'x = x + 1;' 'x++;'
    editvec rule --from old/Cart.cs new/Cart.cs --from old/Order.cs new/Order.cs -o rule.yml
    editvec rule --edits edits.jsonl.gz '#12' '#40' '#41' -o rule.yml --test
    """
    from editvec.cli.terminal import print_json
    from editvec.suggest.rule import rule as run

    made = run(**options)
    if not made.rules:
        raise _Nothing(f"no rule: {made.reason}.")
    if as_json:
        print_json(made.as_json())
    elif options["out"] is None:
        click.echo(made.yaml.encode("utf-8", "surrogateescape"), nl=False)
    for each in made.rules:
        share = f"{len(each.verification.support)} of {made.num_examples} examples"
        click.echo(f"editvec: {each.rule.id}: {share if made.num_examples > 1 else 'verified'}", err=True)


class _Nothing(click.ClickException):
    """There is no rule, although the command is correct."""

    exit_code = 1
