"""`editvec find`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import min_confidence_option, verify_option

if TYPE_CHECKING:
    from editvec.patterns.find import Found


@click.command()
@click.argument("pattern", nargs=-1, metavar="[PATTERN]...")
@click.option("-C", "--repo", default=".", show_default=True, help="Repository to search.")
@click.option("--patterns", type=click.Path(path_type=Path), help="Folder of patterns.  [default: .editvec in REPO]")
@click.option("--changed-since", metavar="REF", help="Search only files that differ from this revision.")
@min_confidence_option
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@verify_option
@click.option("--check", is_flag=True, help="Exit with code 1 if a place was found.")
def find(pattern: tuple[str, ...], output: str, check: bool, **options: Any) -> None:
    r"""Find the places where learned patterns are still due.

    PATTERN is a number or a name that editvec learn printed; the default is all patterns. Places are found by rules, in
    the current files. Places of patterns without a rule, which the neural editor found, are only in the report of
    editvec learn. Exit codes: 0 success, 1 --check was given and a place was found, 2 wrong usage.

    \b
    editvec find
    editvec find 1 3
    editvec find --verify 'mypy src'
    editvec find --changed-since origin/main --format sarif > due.sarif
    """
    from editvec.cli.terminal import print_json, progress, tell_filtered, tell_verified
    from editvec.patterns.find import find as run
    from editvec.ui.report.sarif import sarif

    found = run(pattern, progress=progress, **options)
    tell_filtered(found.filtered)
    tell_verified(found.verification)
    if output == "sarif":
        print_json(sarif(found.patterns))
    elif output == "json":
        print_json(found.as_json())
    else:
        _print(found)
        click.echo(f"{found.num_suggestions} {'place' if found.num_suggestions == 1 else 'places'}.", err=True)
    if check and found.num_suggestions:
        raise click.exceptions.Exit(1)


def _print(found: Found) -> None:
    from rich.text import Text

    from editvec.cli.terminal import console, one_line, printable

    out = console()
    for pattern in found.patterns:
        if not pattern.suggestions:
            continue
        out.print(Text(printable(f"{found.numbers[pattern.name]}  {pattern.title}"), "bold"))
        for suggestion in pattern.suggestions:
            head = Text(f"{printable(suggestion.path)}:{suggestion.line}:{suggestion.column}", "cyan")
            head.append(f"  {suggestion.confidence:.0%}  {suggestion.why}", "dim")
            out.print(head)
            out.print(Text(f"  - {printable(one_line(suggestion.before, 110))}", "red"))
            out.print(Text(f"  + {printable(one_line(suggestion.after, 110))}", "green"))
        out.print()
