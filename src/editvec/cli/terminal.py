"""Terminal output: consoles, progress, word diffs. Untrusted text is always escaped before it is printed."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from editvec.core.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from editvec.core.edit import Edit, Tokens
    from editvec.data.edit_files import Damage
    from editvec.suggest.verify import Judgement

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_CONTEXT_WIDTH = 120
_MESSAGES = 5
"""Maximum number of messages of a checker that are printed."""


def printable(text: str) -> str:
    """Escape the control and direction characters of a text, except for tabs and line feeds."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), text)


def in_one_line(text: str) -> str:
    """Escape the control and direction characters of a text, with tabs and line feeds."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def one_line(code: str, longest: int = 60) -> str:
    """Return code on one line, shortened to `longest` characters."""
    line = " ".join(code.split()) or "(nothing)"
    return line if len(line) <= longest else line[: longest - 1] + "…"


def read_stdin() -> bytes:
    """Return everything on stdin.

    Raises:
        UserError: There is no stdin.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise UserError("there is no stdin to read from.")
    return sys.stdin.buffer.read()


def console() -> Console:
    """Return a console on stdout without automatic highlighting."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value to stdout as a JSON document."""
    from editvec.core.files import to_json

    click.echo(to_json(value, indent=True).decode())


def tell_filtered(count: int) -> None:
    """Print to stderr how many files were skipped because a git filter rewrites them."""
    if count:
        files = "1 file was" if count == 1 else f"{describe(count)} files were"
        click.echo(f"{files} skipped because a git filter rewrites them (filter= in .gitattributes).", err=True)


def tell_verified(verification: Judgement | None) -> None:
    """Print to stderr what a command said of places: how many passed, how many of them ran, and why others are out."""
    if verification is None:
        return
    if verification.failed_before:
        click.echo(f"{printable(verification.command)} fails without any edit; only new messages count.", err=True)
    kept, built = len(verification.kept), verification.num_built
    line = f"Verified: {describe(kept)} of {describe(verification.num_places)} places pass"
    if built:
        line += f" ({describe(built)} built, not exercised)"
    line += f", in {describe(verification.num_runs)} runs and {verification.seconds:.0f} s."
    click.echo(line, err=True)
    if verification.undecided:
        click.echo(f"{describe(len(verification.undecided))} were left out because there was no time.", err=True)
    messages = Counter(verification.refused.values())
    for message, count in messages.most_common(_MESSAGES):
        click.echo(f"  {count} refused: {printable(message)}", err=True)
    others = messages.total() - sum(count for _, count in messages.most_common(_MESSAGES))
    if others:
        click.echo(f"  and {describe(others)} more", err=True)


def tell_damage(damage: Damage | None) -> None:
    """Print to stderr how many damaged lines were skipped."""
    if damage and damage.count:
        click.echo(f"editvec: skipped {damage.count} damaged lines; the first: {damage.first[0]}", err=True)


def describe(number: float) -> str:
    """Return a number with thousands separators, such as 12,345."""
    return f"{number:,}"


@contextmanager
def progress(title: str, unit: str) -> Iterator[Callable[[int, int, int], None]]:
    """Show a progress line on stderr, and yield a function that updates it: (done, total, found).

    Nothing is shown if stderr is not a terminal.
    """
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
    """Yield the edits, and show their count on stderr meanwhile, if stderr is a terminal."""
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
    """Yield a function that returns the seconds since the start."""
    start = time.monotonic()
    yield lambda: time.monotonic() - start


def word_diff(edit: Edit) -> tuple[Text, Text]:
    """Return both versions of an edit, with the differences in colour."""
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
    """Return an edit's context on one line, spaced like the edit: as much of its end or start as fits."""
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
    """Print an edit with its origin and its context."""
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
