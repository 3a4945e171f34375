"""`editvec learn`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import config_options, min_confidence_option, verify_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from editvec.patterns.pattern import Pattern
    from editvec.patterns.pipeline import Learned

_SHOWN = 20


def _top() -> int:
    from editvec.patterns.pipeline import TOP

    return TOP


@click.command()
@click.argument("repo", default=".")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder to write to.  [default: .editvec in REPO]")
@click.option("--language", multiple=True, help="Language to learn from; may be repeated.  [default: all]")
@click.option("--since", help="Learn only from commits after this date (2023-01-01, '2 years ago', ...).")
@click.option("--until", help="Learn only from commits before this date.")
@click.option("--range", help="Learn only from these commits, such as v1.0..HEAD.")
@click.option("--author", multiple=True, help="Learn only from edits of this author (part of a name); may be repeated.")
@click.option(
    "--path",
    "--paths",
    "paths",
    multiple=True,
    help="Learn only from files below this path, and search places only there; may be repeated.",
)
@click.option("--prose", is_flag=True, help="Learn from sentences (Markdown, LaTeX, ...) instead of code.")
@click.option("--model", help="Folder of a trained model; none does without one.  [default: packaged]")
@click.option("--min-edits", type=click.IntRange(2), default=3, show_default=True, help="Minimum edits per pattern.")
@click.option(
    "--min-commits", type=click.IntRange(1), default=2, show_default=True, help="Minimum commits per pattern."
)
@min_confidence_option
@click.option(
    "--top",
    type=click.IntRange(1),
    default=_top,
    show_default="50",
    help="Maximum number of habits, and of migrations; places are searched only for these.",
)
@config_options
@verify_option
@click.option("--workers", type=click.IntRange(0), default=0, show_default=True, help="Processes; 0 is one per core.")
@click.option("--json", "as_json", is_flag=True, help="Print patterns.json.")
def learn(repo: str, as_json: bool, **options: Any) -> None:
    r"""Learn the edits that recur in a repository as rules, and find the places where they are still due.

    REPO is a clone, a bare repository or an address that git can clone; the default is the current folder. A rule is
    kept only if it is verified on its examples; for code, ast-grep itself runs the verification. Your files are not
    changed: patterns.json, rules/, edits.jsonl.gz and report.html are written to .editvec, which git ignores because of
    the .gitignore in it. A folder given with -o can be committed. It must be new, empty or written by learn; files that
    you add to it are kept. A later run mines only the new commits.

    \b
    editvec learn
    editvec learn ~/src/gin --since '3 years ago' --author ada --path src --top 15
    editvec learn --prose ~/src/book
    editvec learn --verify 'make check'
    editvec apply 1            # then show the places of the first pattern as a diff
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from editvec.cli.terminal import print_json, progress, tell_filtered, tell_verified
    from editvec.core.errors import StoppedError
    from editvec.core.files import from_json
    from editvec.patterns.folder import PATTERNS
    from editvec.patterns.learn import learn as run
    from editvec.ui.report.patterns import render_learned

    try:
        learned = run(repo, report=render_learned, progress=progress, **options)
    except KeyboardInterrupt:
        raise StoppedError("stopped. The mined edits are kept. Run the same command again to continue.") from None
    tell_filtered(learned.filtered)
    tell_verified(learned.verification)
    assert learned.folder is not None
    if as_json:
        print_json(from_json((learned.folder / PATTERNS).read_bytes()))
    else:
        _print(learned, repo, learned.folder)


def _print(learned: Learned, repo: str, folder: Path) -> None:
    from editvec.cli.terminal import console, describe, printable
    from editvec.patterns.ranking import Section, section_of

    out, report, patterns = console(), learned.report, learned.patterns
    seconds = learned.seconds
    verified = sum(bool(pattern.rules) for pattern in patterns)
    due = [pattern for pattern in patterns if pattern.suggestions]
    files = {suggestion.path for pattern in due for suggestion in pattern.suggestions}
    count = sum(len(pattern.suggestions) for pattern in due)
    grouped = len({edit.id for pattern in patterns for edit in pattern.edits})
    lines = [
        (
            "Mining",
            f"{describe(report.commits)} commits · {describe(report.hunks)} hunks "
            f"→ {describe(len(learned.edits))} edits",
        ),
        ("Encoding", f"{describe(len(learned.edits))} edits" if learned.vectors is not None else "skipped"),
        ("Grouping", f"{len(patterns)} patterns in {describe(grouped)} edits"),
        ("Rules", f"{sum(len(each.rules) for each in patterns)} rules of {verified} patterns verified"),
        ("History", "how often people made the edits that the rules would make"),
        ("Finding", f"{count} places in {len(files)} files where {len(due)} patterns are still due"),
    ]
    if verified < len(patterns) and "Editing" in seconds:
        lines.append(("Editing", "places of patterns without a rule, by the neural editor"))
    for stage, text in lines:
        out.print(f"{stage:<9} {text:<72} {seconds.get(stage, 0):6.1f} s")
    if patterns:
        out.print()
        habits, migrations, others = (
            [pattern for pattern in patterns if section_of(pattern) is section] for section in Section
        )
        _print_habits(habits)
        _print_migrations(migrations, len(habits) + 1)
        if others:
            out.print(f"{len(others)} others, without a rule or often taken back, are in the report.\n")
    elif not learned.edits:
        out.print(
            "\nNo edits were found, so there is nothing to learn from. Run editvec mine to see why hunks were dropped."
        )
    else:
        out.print("\nNo edit recurs often enough. Try lower --min-edits and --min-commits, or an earlier --since.")
    shown = folder if not folder.is_relative_to(Path.cwd()) else folder.relative_to(Path.cwd())
    next_one = next((at for at, pattern in enumerate(patterns, 1) if pattern.suggestions and pattern.rules), None)
    due_by_default = next_one is None or any(rule.is_due() for rule in patterns[next_one - 1].rules)
    everywhere = "" if due_by_default else " --everywhere"
    hint = f"    Next  editvec apply {next_one}{everywhere}{printable(_where(repo, folder))}" if next_one else ""
    out.print(f"Report  {printable(str(shown))}/report.html{hint}")


def _where(repo: str, folder: Path) -> str:
    """Return the options with which `editvec apply` finds the patterns; empty if it needs none."""
    import shlex

    from editvec.core.errors import UserError
    from editvec.patterns.folder import default_folder
    from editvec.vcs.git import open_repository

    try:
        if default_folder(open_repository(".")).resolve() == folder.resolve():
            return ""
    except UserError:
        pass
    where = f" -C {shlex.quote(repo)}" if Path(repo).is_dir() else ""
    return where if where and folder.parent.samefile(repo) else f"{where} --patterns {shlex.quote(str(folder))}"


def _print_habits(patterns: Sequence[Pattern]) -> None:
    rows = [
        (number, each.num_edits, each.commits, each.authors, len(each.suggestions) or "", len(each.rules) or "–")
        for number, each in enumerate(patterns, 1)
    ]
    _print_table(("#", "edits", "commits", "authors", "due", "rules", "habit"), rows, patterns)


def _print_migrations(patterns: Sequence[Pattern], first: int) -> None:
    """Print the patterns that one or few commits made, numbered from `first` on."""
    rows = [
        (
            number,
            each.num_edits,
            each.commits,
            "?" if each.done is None else f"{each.done:.0%}",
            len(each.suggestions) or "",
            each.span[1].strftime("%Y-%m") if each.span else "",
        )
        for number, each in enumerate(patterns, first)
    ]
    _print_table(("#", "edits", "commits", "done", "due", "last", "migration"), rows, patterns)


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], patterns: Sequence[Pattern]) -> None:
    """Print the first patterns as a table; nothing if there are none."""
    from rich.table import Table

    from editvec.cli.terminal import console

    if not patterns:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns[:-1]:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(columns[-1], overflow="fold")
    for row, pattern in zip(rows[:_SHOWN], patterns, strict=False):
        table.add_row(*map(str, row), _named(pattern))
    out = console()
    out.print(table)
    out.print(f"  and {len(rows) - _SHOWN} more in the report\n" if len(rows) > _SHOWN else "")


def _named(pattern: Pattern) -> Text:
    """Return the name of a pattern with its quotation behind it."""
    from rich.text import Text

    from editvec.cli.terminal import printable

    name = Text(printable(pattern.title))
    return name.append(printable(f"  “{pattern.quotation}”"), "dim") if pattern.quotation else name
