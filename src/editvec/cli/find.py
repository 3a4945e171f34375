"""`editvec find`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import (
    config_options,
    force_exclude_option,
    min_confidence_option,
    possible_option,
    update_option,
    verify_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from editvec.patterns.find import Found


@click.command()
@click.argument("arguments", nargs=-1, metavar="[PATTERN | PATH]...")
@click.option("-C", "--repo", default=".", show_default=True, help="Repository to search.")
@click.option("--patterns", type=click.Path(path_type=Path), help="Folder of patterns.  [default: .editvec in REPO]")
@click.option("--changed-since", metavar="REF", help="Search only files that differ from this revision.")
@min_confidence_option
@force_exclude_option
@config_options
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "sarif", "gitlab", "github", "rdjson"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@update_option
@possible_option
@verify_option
@click.option("--diff", is_flag=True, help="Print the likely places as a patch for git apply.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="File of known places: made if missing, and shortened when places are gone.",
)
@click.option("--new-only", is_flag=True, help="Leave out the places in the baseline.")
@click.option("--check", is_flag=True, help="Exit with code 1 if a place was found that is not in the baseline.")
def find(arguments: tuple[str, ...], output: str, diff: bool, check: bool, update: bool, **options: Any) -> None:
    r"""Find the places where learned patterns are still due.

    PATTERN is a number, a name or an id of editvec learn; the default is all patterns. PATH is a file or a folder to
    search; the default is the whole work tree. Places are found by rules, in the current files. Places of patterns
    without a rule, which the neural editor found, are only in the report of editvec learn. Exit codes: 0 success, 1
    --check was given and a place was found, 2 wrong usage.

    \b
    editvec find
    editvec find 1 3
    editvec find add-is src/
    editvec find -U             # write the likely places; editvec undo takes them back
    editvec find --verify 'mypy src'
    editvec find --check --baseline .editvec-baseline.json
    editvec find --changed-since origin/main --format sarif > due.sarif
    """
    from editvec.cli.diffs import print_written
    from editvec.cli.terminal import progress, tell_filtered, tell_verified
    from editvec.core.errors import UserError
    from editvec.patterns.apply import is_pattern
    from editvec.patterns.find import find as run

    patterns = [each for each in arguments if is_pattern(each)]
    paths = [each for each in arguments if not is_pattern(each)]
    if diff + update + (output != "text") > 1:
        raise UserError("-U, --diff and --format exclude each other. Give one of them.")
    found = run(patterns, paths, update=update, progress=progress, **options)
    tell_filtered(found.filtered)
    _tell_unused(found)
    tell_verified(found.verification)
    if update:
        print_written(found)
    elif diff:
        _print_patch(found, options["repo"], options["possible"])
    elif output != "text":
        _print_as(output, found)
    else:
        _print(found)
        known = f", {found.num_known} known" if options["baseline"] and not options["new_only"] else ""
        click.echo(f"{found.num_suggestions} {'place' if found.num_suggestions == 1 else 'places'}{known}.", err=True)
    num_new = found.num_suggestions - (0 if options["new_only"] else found.num_known)
    if found.problems or (check and num_new and not update):
        raise click.exceptions.Exit(1)


def _print_as(output: str, found: Found) -> None:
    from editvec.cli.terminal import print_json
    from editvec.ui.report import formats
    from editvec.ui.report.sarif import sarif

    if output == "github":
        for line in formats.github(found.patterns, found.project):
            click.echo(line)
        return
    documents: dict[str, Callable[[], Any]] = {
        "json": found.as_json,
        "sarif": lambda: sarif(found.patterns, found.project, found.suppressed),
        "gitlab": lambda: formats.gitlab(found.patterns, found.project),
        "rdjson": lambda: formats.rdjson(found.patterns, found.project),
    }
    print_json(documents[output]())


def _print_patch(found: Found, repo: str, possible: bool) -> None:
    from editvec.cli.diffs import print_patch
    from editvec.suggest.finish import plans_of
    from editvec.vcs.git import open_repository, top_of

    top = top_of(open_repository(repo))
    print_patch(plans_of(top, found.writable(possible=possible)), top)


def _tell_unused(found: Found) -> None:
    from editvec.cli.terminal import in_one_line

    for each in found.unused:
        what = f"editvec: ignore[{each.name}]" if each.name else "editvec: ignore"
        click.echo(f"{in_one_line(f'{each.path}:{each.line}: {what}')} suppresses nothing. Remove it.", err=True)


def _print(found: Found) -> None:
    from rich.text import Text

    from editvec.cli.terminal import console, one_line, printable
    from editvec.suggest.complete import LIKELY

    out = console()
    for pattern in found.patterns:
        if not pattern.suggestions:
            continue
        out.print(Text(printable(f"{found.numbers[pattern.name]}  {pattern.title}"), "bold"))
        for suggestion in pattern.suggestions:
            head = Text(f"{printable(suggestion.path)}:{suggestion.line}:{suggestion.column}", "cyan")
            possible = "" if suggestion.confidence >= LIKELY else " (possible)"
            head.append(f"  {suggestion.confidence:.0%}{possible}  {suggestion.why}", "dim")
            out.print(head)
            out.print(Text(f"  - {printable(one_line(suggestion.before, 110))}", "red"))
            out.print(Text(f"  + {printable(one_line(suggestion.after, 110))}", "green"))
        out.print()
