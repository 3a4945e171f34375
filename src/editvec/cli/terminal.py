"""What a person sees: consoles, progress, tables, word diffs. Untrusted text never reaches the terminal raw."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from editvec.core.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from editvec.core.edit import Edit, Tokens

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_CONTEXT_WIDTH = 120


def printable(text: str) -> str:
    """Text with control, escape and direction characters shown as escapes; tabs and line feeds stay."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), text)


def in_one_line(text: str) -> str:
    """The same with line feeds and tabs as escapes too."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def one_line(code: str, longest: int = 60) -> str:
    """Return code on one line, shortened."""
    line = " ".join(code.split()) or "(nothing)"
    return line if len(line) <= longest else line[: longest - 1] + "…"


def read_stdin() -> bytes:
    """All of it."""
    if sys.stdin is None or sys.stdin.closed:
        raise UserError("there is no stdin to read from.")
    return sys.stdin.buffer.read()


def console() -> Console:
    """A console on stdout that highlights nothing by itself."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout, for machines."""
    from editvec.core.files import to_json

    click.echo(to_json(value, indent=True).decode())


def tell_filtered(count: int) -> None:
    """Says on stderr how many files were not looked at because a filter of git rewrites them."""
    if count:
        files = "1 file was" if count == 1 else f"{describe(count)} files were"
        click.echo(f"{files} left out: a filter of git rewrites them (filter= in .gitattributes).", err=True)


def describe(number: float) -> str:
    """A count as people read it: 12,345."""
    return f"{number:,}"


@contextmanager
def progress(title: str, unit: str) -> Iterator[Callable[[int, int, int], None]]:
    """A progress line on stderr, told (done, total, found); silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total, found: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} {task.fields[unit]} · {task.fields[found]:,} found"),
        TimeElapsedColumn(),
        TextColumn("·"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1, found=0, unit=unit)

        def update(done: int, total: int, found: int) -> None:
            bar.update(task, completed=done, total=max(total, 1), found=found)

        yield update


def counted(edits: Iterable[Edit], title: str, total: int | None = None) -> Iterator[Edit]:
    """The edits as they are, with a count of them on stderr while it takes; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield from edits
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.completed:,.0f} edits"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable(title), total=total)
        for edit in edits:
            yield edit
            bar.advance(task)


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Seconds since the start."""
    start = time.monotonic()
    yield lambda: time.monotonic() - start


def word_diff(edit: Edit) -> tuple[Text, Text]:
    """The two versions with what differs in colour."""
    from rich.text import Text

    from editvec.diff import words

    lines = []
    for mark, pieces, colour in zip("-+", words.word_diff(edit), ("red", "green"), strict=True):
        line = Text(f"{mark} ", colour)
        for text, changed in pieces:
            line.append(printable(text).replace("\n", "\n  "), f"bold {colour} underline" if changed else "")
        lines.append(line)
    return lines[0], lines[1]


def shorten(edit: Edit, tokens: Tokens, *, end: bool) -> str:
    """An edit's context on one line, spaced as the edit is: its end or its start, as much as fits."""
    words = tuple([token.replace("\n", "⏎") for token in tokens])
    from editvec.core.edit import Version
    from editvec.syntax.languages import known
    from editvec.syntax.spacing import habits_of, spaced

    if edit.language in known():
        text = spaced(Version("", ()), words, {}, habits_of([edit.before, edit.after]), edit.language)
    else:
        text = " ".join(words)
    line = printable(text.replace("\n", " "))
    if len(line) <= _CONTEXT_WIDTH:
        return line
    return "…" + line[-_CONTEXT_WIDTH:] if end else line[:_CONTEXT_WIDTH] + "…"


def print_edit(out: Console, edit: Edit, number: int | None = None) -> None:
    """An edit with its origin, in its context."""
    from rich.text import Text

    head = Text()
    if number is not None:
        head.append(f"#{number}  ", "bold")
    head.append(printable(edit.label or edit.language), "cyan")
    if edit.source is not None:
        source = edit.source
        lines = f":{source.lines_before[0]}" if source.lines_before else ""
        place = " ".join(part for part in (source.repository, source.commit[:10], source.path + lines) if part)
        head.append(f"  {printable(place)}")
        if source.author_date:
            head.append(f"  {source.author_date:%Y-%m-%d}", "dim")
        if source.message:
            head.append(f"\n   {printable(source.message.splitlines()[0][:110])}", "italic dim")
    else:
        head.append(f"  {printable(edit.id)}")
    out.print(head)
    if edit.context_before:
        out.print(Text(f"  {shorten(edit, edit.context_before, end=True)}", "dim"))
    for line in word_diff(edit):
        out.print(line)
    if edit.context_behind:
        out.print(Text(f"  {shorten(edit, edit.context_behind, end=False)}", "dim"))
    out.print()
