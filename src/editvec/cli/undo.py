"""`editvec undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.rewrite.undo import RunSummary, Undone


@click.command()
@click.option("-C", "--repo", default=".", show_default=True, help="Work tree whose files are restored.")
@click.option("--list", "listing", is_flag=True, help="List the runs that were recorded, and restore nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def undo(repo: str, listing: bool, as_json: bool) -> None:
    r"""Take back what the last -U or -i wrote.

    Every run that writes files is recorded in .editvec/undo at the top of the work tree, which git ignores; outside a
    work tree, in the folder that was given. The last 20 runs are kept. Each call takes back the last run that has not
    been taken back yet.

    A file that is as the run left it gets its old bytes back. If a file was edited since, each place is taken back only
    if it and the text around it are unchanged; the other places are refused, with the reason. If all places of a run
    are refused, nothing is written, and the next call tries the same run again. git's index is never changed.

    Exit codes: 0 success, also if there is nothing to undo; 1 a place was refused; 2 wrong usage; 3 the record is
    damaged; 4 git failed; 130 interrupted.

    \b
    editvec apply 1 -U
    editvec undo
    editvec undo -C ~/src/gin
    editvec undo --list
    """
    from editvec.cli.terminal import print_json
    from editvec.rewrite.undo import list_runs
    from editvec.rewrite.undo import undo as run

    if listing:
        runs = list_runs(repo)
        if as_json:
            print_json([each.as_json() for each in runs])
        else:
            _print_runs(runs)
        return
    undone = run(repo)
    if as_json:
        print_json(undone.as_json())
    else:
        _print(undone)
    if undone.refused:
        raise click.exceptions.Exit(1)


def _print_runs(runs: list[RunSummary]) -> None:
    from editvec.cli.terminal import in_one_line

    if not runs:
        click.echo("No run was recorded here.")
    for each in runs:
        size = f"{_count(each.num_edits, 'place')} in {_count(each.num_files, 'file')}"
        state = "  (undone)" if each.is_undone else ""
        click.echo(f"{each.time.astimezone():%Y-%m-%d %H:%M:%S}  {in_one_line(each.verb)}  {size}{state}")


def _print(undone: Undone) -> None:
    from editvec.cli.terminal import in_one_line

    if undone.time is None:
        click.echo("Nothing to undo.")
        return
    for path, places, reason in undone.refused:
        click.echo(f"editvec: {in_one_line(path)}: {_count(places, 'place')} not taken back: {reason}.", err=True)
    if undone.refused and not undone.is_over:
        click.echo(
            f"Nothing was changed. To go on to the run before, move {in_one_line(str(undone.journal))} away.", err=True
        )
        return
    line = f"{_count(undone.num_edits, 'place')} in {_count(len(undone.files), 'file')} taken back"
    if undone.unchanged:
        line += f"; {_count(len(undone.unchanged), 'file')} already as before"
    click.echo(f"{line} ({in_one_line(undone.verb)} of {undone.time.astimezone():%Y-%m-%d %H:%M:%S}).")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
