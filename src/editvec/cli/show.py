"""`editvec show`."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.argument("file")
@click.argument("edit", required=False)
@click.option("-n", "--number", default=10, show_default=True, type=click.IntRange(1), help="Number of edits.")
@click.option("--random", is_flag=True, help="Show a random sample instead of the first edits.")
@click.option("--seed", default=0, show_default=True, help="Random seed of the sample.")
@click.option("--like", help="Show only edits whose text contains this string.")
@click.option("--actions", is_flag=True, help="Also print the actions that build the tree after from the tree before.")
@click.option("--skip-bad", is_flag=True, help="Skip damaged lines.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show(file: str, skip_bad: bool, as_json: bool, **options: Any) -> None:
    r"""Show edits as coloured word diffs in their context.

    EDIT is an edit's id, the beginning of one, or its number in the file (#3). Without it, the first edits are shown.

    \b
    editvec show edits.jsonl.gz
    editvec show edits.jsonl.gz '#17'
    editvec show edits.jsonl.gz -n 20 --random --like Assert
    editvec show edits.jsonl.gz '#17' --actions
    """
    from editvec.cli.terminal import console, print_edit, print_json, printable, tell_damage
    from editvec.data import edit_files
    from editvec.ui.show import show as run

    damage = edit_files.Damage() if skip_bad else None
    shown = run(file, damage=damage, **options)
    if not shown:
        like = options["like"]
        why = f"no edit contains {like!r}" if like else f"{printable(file)} contains no edits"
        click.echo(f"editvec: {why}.", err=True)
    if as_json:
        print_json([each.as_json() for each in shown])
        return
    out = console()
    for each in shown:
        print_edit(out, each.edit, each.number)
        for line in each.actions or ():
            out.print(f"    {printable(line)}")
        if each.actions is not None:
            out.print()
    tell_damage(damage)
