"""`editvec show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.core.edit import Edit

_GRAMMAR_EDITS = 1000
"""Of how many of a file's edits the grammar of a derivation is made."""


@click.command()
@click.argument("file")
@click.argument("edit", required=False)
@click.option("-n", "--number", default=10, show_default=True, type=click.IntRange(1), help="How many to show.")
@click.option("--random", "at_random", is_flag=True, help="Show a random sample instead of the first ones.")
@click.option("--seed", default=0, show_default=True, help="For --random.")
@click.option("--like", "pattern", help="Only edits whose text contains this.")
@click.option("--actions", is_flag=True, help="Also print the actions that build the tree after from the one before.")
@click.option("--skip-bad", is_flag=True, help="Skip damaged lines.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show(
    file: str,
    edit: str | None,
    number: int,
    at_random: bool,
    seed: int,
    pattern: str | None,
    actions: bool,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Show edits as coloured word diffs in their context.

    EDIT is an edit's id, the beginning of one, or its number in the file (#3). Without it, the first edits are shown.

    \b
    editvec show edits.jsonl.gz
    editvec show edits.jsonl.gz '#17'
    editvec show edits.jsonl.gz -n 20 --random --like Assert
    editvec show edits.jsonl.gz '#17' --actions
    """
    from editvec.cli.terminal import console, print_edit, print_json, printable
    from editvec.data import edit_files
    from editvec.data.sampling import as_json as edit_as_json
    from editvec.data.sampling import select

    damage = edit_files.Damage() if skip_bad else None
    chosen = select(
        edit_files.read(file, damage=damage),
        identity=edit,
        number=number,
        seed=seed if at_random else None,
        pattern=pattern,
    )
    if not chosen:
        why = f"no edit has {pattern!r} in its text" if pattern else f"{printable(file)} holds no edits"
        click.echo(f"editvec: {why}.", err=True)
    derivations = _derivations(file, [found for _, found in chosen]) if actions else [None] * len(chosen)
    if as_json:
        rows = [{"number": at, **edit_as_json(found)} for at, found in chosen]
        print_json(
            [row if lines is None else {**row, "actions": lines} for row, lines in zip(rows, derivations, strict=True)]
        )
        return
    out = console()
    for (at, found), lines in zip(chosen, derivations, strict=True):
        print_edit(out, found, at)
        for line in lines or ():
            out.print(f"    {printable(line)}")
        if lines is not None:
            out.print()
    if damage and damage.count:
        click.echo(f"editvec: skipped {damage.count} damaged lines; the first: {damage.first[0]}", err=True)


def _derivations(file: str, edits: list[Edit]) -> list[list[str] | None]:
    """The actions of each edit in words; one line that says why where it has none."""
    from itertools import islice

    from editvec.data import edit_files
    from editvec.neural.grammar import SourceTree, UnseenError, derive, edit_trees
    from editvec.ui.explain import grammar_of, tell

    grammar = grammar_of([*edits, *islice(edit_files.read(file, damage=edit_files.Damage()), _GRAMMAR_EDITS)])
    told: list[list[str] | None] = []
    for edit in edits:
        try:
            before, after = edit_trees(edit)
            source = SourceTree.of(before)
            told.append(tell(grammar, source, derive(grammar, source, after)))
        except UnseenError as error:
            told.append([f"no derivation: {error}"])
    return told
