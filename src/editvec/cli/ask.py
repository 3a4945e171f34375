"""Asking at every place: what `editvec apply -i` does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.rewrite.apply import Change
    from editvec.rewrite.splice import TextEdit


class _QuitError(Exception):
    """The user has seen enough."""


def ask(changes: Iterable[Change]) -> tuple[int, int, list[str]]:
    """Asks at every place and writes each that is wanted at once, so that nothing is lost when the user stops.

    Returns the number of places and files written, and what could not be.
    """
    asker = _Asker()
    try:
        for change in changes:
            asker.go_through(change)
    except _QuitError:
        pass
    return asker.num_places, asker.num_files, asker.problems


class _Asker:
    def __init__(self) -> None:
        self.num_places = self.num_files = 0
        self.problems: list[str] = []
        self.all = False

    def go_through(self, change: Change) -> None:
        if change.problem:
            self.problems.append(f"{change.path}: not written: {change.problem}.")
            return
        wanted: list[TextEdit] = []
        for edit in change.edits:
            chosen = edit if self.all else self._choose(change, edit)
            if chosen is not None:
                self._write(change, wanted, chosen)
                wanted.append(chosen)
        self.num_places += len(wanted)
        self.num_files += bool(wanted)

    def _write(self, change: Change, wanted: list[TextEdit], chosen: TextEdit) -> None:
        from editvec.rewrite.splice import splice
        from editvec.rewrite.tree import write_file

        assert change.path is not None
        write_file(change.path, splice(change.before, wanted), splice(change.before, [*wanted, chosen]))

    def _choose(self, change: Change, edit: TextEdit) -> TextEdit | None:
        """The edit, another one that the user wrote, or None."""
        from editvec.cli.apply import print_diff

        print_diff(change, (edit,))
        while True:
            answer = click.prompt("Apply? y/n/e/a/q", default="y", show_default=False, err=True).strip().lower()[:1]
            if answer == "q":
                raise _QuitError
            if answer == "n":
                return None
            if answer == "e":
                return _edited(change, edit)
            if answer in ("y", "a"):
                self.all = answer == "a"
                return edit
            click.echo("y: yes, n: no, e: edit it first, a: yes to all, q: quit", err=True)


def _edited(change: Change, edit: TextEdit) -> TextEdit | None:
    """The lines of the edit as the user wants them; None when the editor was left without saving."""
    from editvec.rewrite.splice import TextEdit, splice
    from editvec.syntax.token import decode, encode

    data = change.before
    low = data.rfind(b"\n", 0, edit.start) + 1
    end = data.find(b"\n", edit.end)
    high = len(data) if end < 0 else end + 1
    lines = splice(data[low:high], [TextEdit(edit.start - low, edit.end - low, edit.text)])
    suffix = change.path.suffix if change.path is not None else ".txt"
    written = click.edit(decode(lines), extension=suffix)
    return None if written is None else TextEdit(low, high, encode(written))
