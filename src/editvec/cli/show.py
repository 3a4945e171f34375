"""`editvec show`."""

from __future__ import annotations

import click


@click.command()
@click.argument("file")
@click.argument("edit", required=False)
@click.option("-n", "--number", default=10, show_default=True, type=click.IntRange(1), help="How many to show.")
@click.option("--random", "at_random", is_flag=True, help="Show a random sample instead of the first ones.")
@click.option("--seed", default=0, show_default=True, help="For --random.")
@click.option("--like", "pattern", help="Only edits whose text contains this.")
@click.option("--skip-bad", is_flag=True, help="Skip damaged lines.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show(
    file: str,
    edit: str | None,
    number: int,
    at_random: bool,
    seed: int,
    pattern: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Show edits as coloured word diffs in their context.

    EDIT is an edit's id, the beginning of one, or its number in the file (#3). Without it, the first edits are shown.

    \b
    editvec show edits.parquet
    editvec show edits.parquet '#17'
    editvec show edits.parquet -n 20 --random --like Assert
    """
    from editvec import store
    from editvec.cli.terminal import console, print_edit, print_json
    from editvec.selection import as_json as edit_as_json
    from editvec.selection import select

    damage = store.Damage() if skip_bad else None
    chosen = select(
        store.read(file, damage=damage),
        identity=edit,
        number=number,
        seed=seed if at_random else None,
        pattern=pattern,
    )
    if as_json:
        print_json([{"number": at, **edit_as_json(found)} for at, found in chosen])
        return
    out = console()
    for at, found in chosen:
        print_edit(out, found, at)
    if damage and damage.count:
        click.echo(f"editvec: skipped {damage.count} damaged lines; the first: {damage.first[0]}", err=True)
