"""`editvec finish`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import Number, verify_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from editvec.core.match import Suggestion
    from editvec.suggest.finish import Finished, FinishReview
    from editvec.suggest.session import EditSummary

_MAX_EDITS = 5
_QUESTION = "Write it? y/n/a/d/e/b/q/?"
_ANSWERS = """\
y  yes, write it
n  no; the remaining places are scored again
a  write this and all remaining likely places
d  no more of this kind
e  change the lines first
b  back: take the last answer back
q  quit
?  this help"""


def _possible() -> float:
    from editvec.suggest.complete import POSSIBLE

    return POSSIBLE


@click.command()
@click.argument("paths", nargs=-1)
@click.option("-C", "--repo", default=".", show_default=True, help="Work tree whose edits are finished.")
@click.option("--changed-since", metavar="REV", help="Finish the edits made since the branch point with REV.")
@click.option("--staged", is_flag=True, help="Finish the edits in the index alone.")
@click.option("--commit", metavar="REV", help="Finish the edits of a commit.")
@click.option("--from", "origin", metavar="REPO", help="Repository of the commit.  [default: the work tree's]")
@click.option(
    "--edit", "edits", multiple=True, metavar="FILE:LINE", help="Finish only the edit on this line; may be repeated."
)
@click.option(
    "--not", "refused", multiple=True, metavar="FILE:LINE", help="Place where no edit belongs; may be repeated."
)
@click.option("-i", "--interactive", is_flag=True, help="Ask about each place, and write the ones that you accept.")
@click.option("-U", "--update", is_flag=True, help="Write the likely places.")
@verify_option
@click.option("--diff", is_flag=True, help="Print the likely places as a patch for git apply.")
@click.option("--check", is_flag=True, help="Exit with code 1 if likely places are left.")
@click.option(
    "--min-confidence",
    type=Number(0, 1),
    default=_possible,
    show_default="0.3",
    help="Minimum confidence of a place; less certain places are left out.",
)
@click.option("--max", "most", type=click.IntRange(1), metavar="N", help="Maximum number of places.")
@click.option("--explain", type=click.IntRange(1), metavar="N", help="Explain the confidence of place N of the list.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def finish(
    interactive: bool, diff: bool, check: bool, explain: int | None, as_json: bool, update: bool, **options: Any
) -> None:
    r"""Find the other places of an edit that you have begun.

    Change one or a few places by hand. This command reads your changes (HEAD against the files of the work tree) and
    lists the other places where the same edit belongs, with the confidence that you would make it there. Different
    edits are handled separately. By default, nothing is written: -U writes the likely places (confidence of at
    least 0.8), -i asks about each place, and editvec undo takes back what they wrote. PATHS are the files and folders
    to search.

    The more places you have changed, the better the list. A place where the edit does not belong can be named with
    --not; in -i, every answer counts for the remaining places.

    Exit codes: 0 success; 1 likely places are left and --check was given, or a file could not be written; 2 wrong
    usage; 3 damaged input; 4 git failed; 130 interrupted.

    \b
    editvec finish
    editvec finish -i
    editvec finish src/ --not src/legacy.py:40 -U
    editvec finish -U --verify 'mypy src'
    editvec finish --diff | git apply
    editvec finish --changed-since main --check
    editvec finish --commit HEAD~2 -C ../other --from .
    """
    from editvec.cli.terminal import print_json, progress, tell_verified
    from editvec.core.errors import UserError
    from editvec.suggest.finish import finish as run

    if sum((interactive, update, diff, as_json, explain is not None)) > 1:
        raise UserError("-i, -U, --diff, --json and --explain exclude each other. Give one of them.")
    if interactive and options["verify"] is not None:
        raise UserError("--verify judges what -U writes, and -i asks about every place. Leave out one of them.")
    done = run(update=update, decide=_review if interactive else None, progress=progress, **options)
    tell_verified(done.verification)
    if as_json:
        print_json(done.as_json())
    elif diff:
        _print_patch(done)
    elif explain is not None:
        _explain(done, explain)
    elif update or interactive:
        _print_written(done)
    else:
        _print(done)
    if done.problems or (check and done.likely and not update):
        raise click.exceptions.Exit(1)


def _print(done: Finished) -> None:
    """Print what was shown and where else it belongs."""
    if not done.num_changed:
        click.echo("Nothing has changed in this work tree. Change one place by hand, then run editvec finish again.")
        return
    if not done.edits:
        click.echo("The changes are of white space only, or too large to look for elsewhere.")
        return
    _print_edits(done.edits)
    if not done.suggestions:
        click.echo(f"No other place found in {done.num_files:,} files.")
        return
    likely = len(done.likely)
    click.echo(
        f"Found {_count(len(done.suggestions), 'more place')} in {_count(_num_files(done.suggestions), 'file')}"
        f" ({done.num_files:,} searched): {likely} likely, {len(done.suggestions) - likely} possible\n"
    )
    for suggestion in done.suggestions:
        _print_suggestion(done, suggestion)
    click.echo("\nNext  editvec finish -U  writes the likely places     editvec finish -i  asks about each place")


def _print_edits(edits: Sequence[EditSummary]) -> None:
    from editvec.cli.terminal import in_one_line

    for edit in edits[:_MAX_EDITS]:
        shown = edit.demonstrations
        where = f"{shown[0].path}:{shown[0].line}" if len(shown) == 1 else f"{len(shown)} places"
        click.echo(f"Edit  {in_one_line(edit.summary)}  ({in_one_line(where)})")
    if len(edits) > _MAX_EDITS:
        click.echo(f"      and {len(edits) - _MAX_EDITS} more")


def _print_suggestion(done: Finished, suggestion: Suggestion) -> None:
    """Print a suggestion: confidence, place, and its lines as a word diff."""
    from editvec.cli.terminal import console, in_one_line
    from editvec.suggest.complete import LIKELY

    text = _word_diff(done, suggestion)
    likely = suggestion.confidence >= LIKELY
    text.truncate(max(40, console().width - 30), overflow="ellipsis")
    console().print(
        f"{suggestion.confidence:4.0%}  {in_one_line(suggestion.path)}:{suggestion.line}  ",
        text,
        "" if likely else "  (possible)",
        sep="",
    )


def _word_diff(done: Finished, suggestion: Suggestion) -> Any:
    from rich.text import Text

    from editvec.cli.terminal import in_one_line

    plan = done.plans([suggestion])[0]
    edit = plan.edits[0] if plan.edits else None
    low = plan.before.rfind(b"\n", 0, edit.start if edit else 0) + 1
    high = plan.before.find(b"\n", edit.end if edit else 0)
    high = len(plan.before) if high < 0 else high
    text = Text()
    if edit is None:
        return text

    def shown(data: bytes) -> str:
        return in_one_line(data.decode(errors="replace").rstrip("\r"))

    text.append(shown(plan.before[low : edit.start].lstrip()))
    if edit.end > edit.start:
        text.append(f"[-{shown(plan.before[edit.start : edit.end])}-]", style="red")
    if edit.text:
        text.append(f"{{+{shown(edit.text)}+}}", style="green")
    text.append(shown(plan.before[edit.end : high]))
    return text


def _print_patch(done: Finished) -> None:
    from editvec.cli.diffs import print_diff
    from editvec.cli.terminal import printable

    for plan in done.plans(done.likely):
        if plan.problem:
            click.echo(f"editvec: {printable(str(plan.path))}: left out: {plan.problem}.", err=True)
        else:
            print_diff(plan.path, plan.before, plan.all_edits, done.top)


def _explain(done: Finished, number: int) -> None:
    from editvec.core.errors import UserError

    if number > len(done.suggestions):
        raise UserError(f"there are {len(done.suggestions)} places. Give the number of one of them.")
    suggestion = done.suggestions[number - 1]
    _print_edits([edit for edit in done.edits if edit.id == suggestion.edit])
    _print_suggestion(done, suggestion)
    click.echo(f"      {suggestion.why}")


def _print_written(done: Finished) -> None:
    from editvec.cli.terminal import printable

    for problem in done.problems:
        click.echo(f"editvec: {printable(problem)}", err=True)
    if not done.num_changed:
        click.echo("Nothing has changed in this work tree. Change one place by hand, then run editvec finish again.")
        return
    line = f"{_count(done.num_written, 'place')} in {_count(len(done.written), 'file')} written."
    click.echo(line + (" editvec undo takes them back." if done.num_written else ""))


def _review(review: FinishReview) -> None:
    """Ask about the open suggestions until none is left or the person stops."""
    while suggestions := review.remaining():
        if _asked(review, suggestions) == "q":
            return


def _asked(review: FinishReview, suggestions: Sequence[Suggestion]) -> str:
    """Ask about the first suggestion, act on the answer and return it."""
    from editvec.cli.ask import edited
    from editvec.cli.diffs import print_diff
    from editvec.suggest.complete import LIKELY

    suggestion = suggestions[0]
    plan = review.plan(suggestion)
    if plan.problem:
        click.echo(f"editvec: {suggestion.path}:{suggestion.line}: left out: {plan.problem}.", err=True)
        review.refuse(suggestion)
        return ""
    print_diff(plan.path, plan.before, plan.all_edits, review.top)
    click.echo(f"{suggestion.confidence:.0%}, {suggestion.why}; {len(suggestions) - 1} more", err=True)
    answer = click.prompt(_QUESTION, default="y", show_default=False, err=True).strip().lower()[:1]
    problem = ""
    if answer == "y":
        problem = review.accept(suggestion)
    elif answer == "n":
        review.refuse(suggestion)
    elif answer == "d":
        review.mute(suggestion)
    elif answer == "a":
        problem = review.accept(suggestion)
        while not problem and (rest := [each for each in review.remaining() if each.confidence >= LIKELY]):
            problem = review.accept(rest[0])
    elif answer == "e":
        written = edited(plan, plan.before, plan.edits[0])
        if written is not None:
            problem = review.accept(suggestion, written)
    elif answer == "b":
        if not review.back():
            click.echo("there is no answer to take back.", err=True)
    elif answer != "q":
        click.echo(_ANSWERS, err=True)
    if problem:
        click.echo(f"editvec: not written: {problem}", err=True)
        review.refuse(suggestion)
    return answer


def _num_files(suggestions: Sequence[Suggestion]) -> int:
    return len({each.path for each in suggestions})


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
