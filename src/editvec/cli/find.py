"""`editvec find`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from editvec.cli.options import min_confidence_option

if TYPE_CHECKING:
    from editvec.patterns.pattern import Pattern


@click.command()
@click.argument("which", nargs=-1, metavar="[PATTERN]...")
@click.option("-C", "--repo", default=".", show_default=True, help="The repository to look in.")
@click.option(
    "--patterns", "folder", type=click.Path(path_type=Path), help="Where they are.  [default: .editvec in REPO]"
)
@click.option("--changed-since", metavar="REF", help="Only in files that differ from this revision.")
@min_confidence_option
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", show_default=True, help="Output."
)
@click.option("--check", is_flag=True, help="Exit with 1 when there is a place.")
def find(
    which: tuple[str, ...],
    repo: str,
    folder: Path | None,
    changed_since: str | None,
    min_confidence: float,
    form: str,
    check: bool,
) -> None:
    """Find the places where learned patterns are still due.

    PATTERN is a number or a name of editvec learn; all by default. Rules find them, in files as they are now, also
    where these have changed since; what the neural editor found for patterns without a rule is in the report of editvec
    learn. Exit codes: 0 fine, 1 there are places and --check was given, 2 wrong use.

    \b
    editvec find
    editvec find 1 3
    editvec find --changed-since origin/main --format sarif > due.sarif
    """
    from collections import Counter

    from editvec.cli.learn import default_folder
    from editvec.cli.terminal import print_json, progress, tell_filtered
    from editvec.core.errors import UserError
    from editvec.mining.options import locate
    from editvec.patterns import folder as folders
    from editvec.patterns.find import find_places
    from editvec.ui.report.sarif import sarif
    from editvec.vcs.worktree import present_files

    repository = locate(repo)
    known = folders.load(folder or default_folder(repository))
    numbers = {pattern.name: number for number, pattern in enumerate(known, 1)}
    picked = folders.pick(known, which)
    ruled = [pattern for pattern in picked if pattern.rule and pattern.evidence]
    if which and not ruled:
        raise UserError(
            "no rule could be verified for that. What the neural editor found is in the report of editvec learn."
        )
    tally: Counter[str] = Counter()
    files = present_files(repository, {pattern.language for pattern in ruled}, since=changed_since, tally=tally)
    with progress("Finding", "files") as advance:
        found = list(find_places(ruled, files, min_confidence, advance).values())
    count = sum(len(pattern.places) for pattern in found)
    if form == "sarif":
        print_json(sarif(found))
    elif form == "json":
        print_json(
            [
                {"pattern": pattern.name, "number": numbers[pattern.name], **place.as_json()}
                for pattern in found
                for place in pattern.places
            ]
        )
    else:
        _print(found, numbers)
        click.echo(f"{count} {'place' if count == 1 else 'places'}.", err=True)
    tell_filtered(tally["filtered"])
    if check and count:
        raise click.exceptions.Exit(1)


def _print(patterns: list[Pattern], numbers: dict[str, int]) -> None:
    from rich.text import Text

    from editvec.cli.learn import one_line
    from editvec.cli.terminal import console, printable

    out = console()
    for pattern in patterns:
        if not pattern.places:
            continue
        out.print(Text(printable(f"{numbers[pattern.name]}  {pattern.title}"), "bold"))
        for place in pattern.places:
            head = Text(f"{printable(place.path)}:{place.line}:{place.column}", "cyan")
            head.append(f"  {place.confidence:.0%}  {place.why}", "dim")
            out.print(head)
            out.print(Text(f"  - {printable(one_line(place.before, 110))}", "red"))
            out.print(Text(f"  + {printable(one_line(place.after, 110))}", "green"))
        out.print()
