"""`editvec rule`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from editvec.rules.verification import VerifiedRule


@click.command()
@click.argument("ids", nargs=-1, metavar="[IDS]...")
@click.option(
    "--from", "examples", nargs=2, multiple=True, metavar="BEFORE AFTER", help="Example: two files; may be repeated."
)
@click.option("--text", is_flag=True, help="Read BEFORE and AFTER as code or prose, not as file names.")
@click.option("--edits", help="File of mined edits that are the examples: those with the IDS, or all.")
@click.option("--language", help="Language of the examples.  [default: from the file names]")
@click.option(
    "--in", "paths", multiple=True, metavar="PATH", help="File or folder in which matches are counted; may be repeated."
)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="File for the rules.  [default: stdout]")
@click.option("--test", is_flag=True, help="Also write ast-grep's test files beside the rules.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def rule(as_json: bool, **options: Any) -> None:
    r"""Induce rules from examples.

    Tokens that the examples share are kept, and differences become metavariables. A rule is an ast-grep rule with a fix
    (for prose, a replacement of words). It is printed only if it is verified: it turns each of its examples into the
    expected result, token by token, and matches nothing in the result. For code, ast-grep itself runs the verification.
    Beside a single rule, the next narrower and the next broader one are named. The exit code is 1 if there is no rule.

    \b
    editvec rule --text --language csharp --from 'x = x + 1;' 'x++;'
    editvec rule --text --language rust --from 'm.lock().unwrap();' 'm.lock().expect("poisoned");' --in src
    editvec rule --from old/Cart.cs new/Cart.cs --from old/Order.cs new/Order.cs -o rule.yml
    editvec rule --edits edits.jsonl.gz '#12' '#40' '#41' -o rule.yml --test
    """
    from editvec.cli.terminal import print_json, printable
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
        said = share if made.num_examples > 1 else "verified"
        click.echo(f"editvec: {each.rule.id}: {said}{_matches(made.touched, each)}", err=True)
    for name, other in (("narrower", made.narrower), ("broader", made.broader)):
        if other is not None:
            click.echo(f"editvec: {name}: {printable(other.rule.summary)}{_matches(made.touched, other)}", err=True)


def _matches(touched: Mapping[str, int], rule: VerifiedRule) -> str:
    """Return the number of a rule's matches as the end of a line; nothing if they were not counted."""
    count = touched.get(rule.rule.id)
    return "" if count is None else f", {count} {'match' if count == 1 else 'matches'}"


class _Nothing(click.ClickException):
    """There is no rule, although the command is correct."""

    exit_code = 1
