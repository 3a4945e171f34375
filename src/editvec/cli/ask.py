"""Asking at every place: what `editvec apply -i` does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    from editvec.core.splice import TextEdit
    from editvec.rewrite.plan import FilePlan


class _QuitError(Exception):
    """The user has seen enough."""


class Asker:
    """Asks at every place and writes each that is wanted at once, so that nothing is lost when the user stops."""

    def __init__(self, base: Path) -> None:
        self.num_places = self.num_files = 0
        self.problems: list[str] = []
        self.stopped = False
        """Whether the user broke off, instead of leaving."""
        self._base = base
        self._all = False

    def ask(self, changes: Iterable[FilePlan]) -> None:
        """Goes through all places, or as far as the user likes."""
        try:
            for change in changes:
                if change.problem:
                    self.problems.append(f"{change.path}: not written: {change.problem}.")
                else:
                    self._go_through(change)
        except _QuitError:
            pass
        except click.Abort:
            self.stopped = True

    def _go_through(self, change: FilePlan) -> None:
        from editvec.core.errors import UserError
        from editvec.core.splice import TextEdit

        data, shift, passed, first = change.before, 0, 0, True
        for edit in change.edits:
            # What the user rewrote by hand is not asked about again.
            if edit.start < passed:
                continue
            here = TextEdit(edit.start + shift, edit.end + shift, edit.text)
            wanted = here if self._all else self._choose(change, data, here)
            if wanted is None:
                continue
            try:
                data = self._write(change, data, wanted)
            except (OSError, UserError) as error:
                self.problems.append(f"{change.path}: not written: {error}")
                return
            passed = max(wanted.end, here.end) - shift
            shift += len(wanted.text) - (wanted.end - wanted.start)
            self.num_places += 1
            self.num_files += first
            first = False

    def _write(self, change: FilePlan, data: bytes, edit: TextEdit) -> bytes:
        from editvec.core.splice import splice
        from editvec.rewrite.writer import write_file

        assert change.path is not None
        after = splice(data, [edit])
        write_file(change.path, data, after)
        return after

    def _choose(self, change: FilePlan, data: bytes, edit: TextEdit) -> TextEdit | None:
        """The edit, another one that the user wrote, or None."""
        from editvec.cli.apply import print_diff

        print_diff(change.path, data, (edit,), self._base)
        while True:
            answer = click.prompt("Apply? y/n/e/a/q", default="y", show_default=False, err=True).strip().lower()[:1]
            if answer == "q":
                raise _QuitError
            if answer == "n":
                return None
            if answer in ("y", "a", "e"):
                wanted = _edited(change, data, edit) if answer == "e" else edit
                if wanted is None:
                    return None
                if _is_sound(change, data, wanted):
                    self._all = answer == "a"
                    return wanted
                click.echo(
                    "the file would parse worse than before, so it is not written: e edits it, n leaves it.", err=True
                )
                continue
            click.echo("y: yes, n: no, e: edit it first, a: yes to all, q: quit", err=True)


def _is_sound(change: FilePlan, data: bytes, edit: TextEdit) -> bool:
    from editvec.core.splice import splice
    from editvec.rewrite.plan import breaks
    from editvec.syntax.languages import Language, language_of

    language = language_of(change.path.name) if change.path is not None else None
    return not isinstance(language, Language) or not breaks(language, data, splice(data, [edit]))


def _edited(change: FilePlan, data: bytes, edit: TextEdit) -> TextEdit | None:
    """The lines of the edit as the user wants them, in the file's encoding and with its line ends; None when the editor
    was left without saving."""
    from editvec.core.splice import TextEdit
    from editvec.core.text import FileText

    source = FileText(data)
    codec = source.codec
    text = data.decode(codec)
    start, end = (len(data[:offset].decode(codec)) for offset in (edit.start, edit.end))
    low = text.rfind("\n", 0, start) + 1
    behind = text.find("\n", end)
    high = len(text) if behind < 0 else behind + 1
    lines = text[low:start] + edit.text.decode(codec) + text[end:high]
    suffix = change.path.suffix if change.path is not None else ".txt"
    while True:
        written = click.edit(lines.replace("\r\n", "\n"), extension=suffix)
        if written is None:
            return None
        if not lines.endswith("\n"):
            written = written.removesuffix("\n")
        if "\r\n" in lines or (source.has_crlf and "\n" not in lines):
            written = written.replace("\n", "\r\n")
        try:
            new = written.encode(codec)
        except UnicodeEncodeError as error:
            click.echo(f"{codec} has no {error.object[error.start : error.end]!r}: edit it again.", err=True)
            lines = written
            continue
        return TextEdit(len(text[:low].encode(codec)), len(text[:high].encode(codec)), new)
