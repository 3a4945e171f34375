"""Ask in the terminal whether to apply each edit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.core.splice import TextEdit
    from editvec.rewrite.plan import FilePlan
    from editvec.rewrite.review import ReviewChoice


class Asker:
    """Asks about an edit, which is shown as a diff with file names relative to `base`."""

    def __init__(self, base: Path) -> None:
        self._base = base

    def __call__(self, plan: FilePlan, data: bytes, edit: TextEdit) -> ReviewChoice:
        """Show an edit, and return the choice of the user."""
        from editvec.cli.diffs import print_diff
        from editvec.rewrite.review import ReviewChoice, Then, is_sound

        print_diff(plan.path, data, (edit,), self._base)
        while True:
            answer = click.prompt("Apply? y/n/e/a/q", default="y", show_default=False, err=True).strip().lower()[:1]
            if answer == "q":
                return ReviewChoice(None, Then.STOP)
            if answer == "n":
                return ReviewChoice(None)
            if answer in ("y", "a", "e"):
                wanted = edited(plan, data, edit) if answer == "e" else edit
                if wanted is None:
                    return ReviewChoice(None)
                if is_sound(plan, data, wanted):
                    return ReviewChoice(wanted, Then.TAKE_ALL if answer == "a" else Then.ASK)
                click.echo(
                    "not written: it would add syntax errors. Answer e to change the edit, n to skip it.",
                    err=True,
                )
                continue
            click.echo("y: yes, n: no, e: change the edit first, a: yes to all, q: quit", err=True)


def edited(plan: FilePlan, data: bytes, edit: TextEdit) -> TextEdit | None:
    """Return the edit as the user rewrites it, or None if the text editor is closed without saving."""
    from editvec.core.errors import UserError
    from editvec.rewrite.review import EditedLines

    lines = EditedLines(data, edit)
    text = lines.text
    while True:
        written = click.edit(text, extension=plan.path.suffix if plan.path is not None else ".txt")
        if written is None:
            return None
        try:
            return lines.edit(written)
        except UserError as error:
            click.echo(f"editvec: {error} Edit it again.", err=True)
            text = written
