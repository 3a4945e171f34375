"""`editvec apply`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import Number, verify_option

if TYPE_CHECKING:
    from editvec.patterns.apply import Applied


@click.command()
@click.argument("arguments", nargs=-1, metavar="[RULE] [PATHS]...")
@click.option(
    "--like",
    nargs=2,
    multiple=True,
    metavar="BEFORE AFTER",
    help="Example of the edit, instead of a rule; may be repeated. Several examples give a better rule.",
)
@click.option("--editor", is_flag=True, help="Use the neural editor where no rule matches.")
@click.option("--model", help="Folder of the neural editor's model.  [default: packaged]")
@click.option(
    "--sure",
    default=0.8,
    show_default=True,
    type=Number(0, 1, min_open=True),
    help="Minimum estimated probability of being correct; less certain edits of the neural editor are left out.",
)
@click.option("--language", help="Language of the examples.  [default: the language of the files]")
@click.option("-C", "--repo", default=".", show_default=True, help="Repository whose patterns are applied.")
@click.option("--patterns", type=click.Path(path_type=Path), help="Folder of patterns.  [default: .editvec in REPO]")
@click.option("--everywhere", is_flag=True, help="Apply a pattern even if its confidence is below the threshold.")
@click.option("-U", "--update", is_flag=True, help="Write the files.")
@verify_option
@click.option("-i", "--interactive", is_flag=True, help="Ask about every place, and write the ones that you accept.")
@click.option("--check", is_flag=True, help="Exit with code 1 if a place was found.")
@click.option("--json", "as_json", is_flag=True, help="Print the places as JSON instead of a diff.")
def apply(
    arguments: tuple[str, ...], interactive: bool, check: bool, as_json: bool, update: bool, **options: Any
) -> None:
    r"""Apply a rule, or an edit given by example, to files.

    By default, a diff is printed and nothing is written; -U and -i write.

    RULE is the number or name of a pattern that editvec learn found here, or a file of ast-grep rules with a fix, such
    as those that editvec rule writes. PATHS are files and folders; for a pattern, the default is the whole work tree.
    Files that git ignores, vendored files and generated files are skipped. If - is the only path, the text is read from
    stdin and the result is written to stdout.

    Imports that came or went with the edits of a pattern are added or removed in the files where places are written.
    With --like, they can stand at the start of the two texts.

    With --like, rules are induced from the examples; --editor adds the neural editor where no rule matches. Edits of
    the neural editor are not verified as rules are, so review them with -i. The answers of -i are y (yes), n (no), e
    (edit it first), a (yes to all) and q (quit).

    A file is not written if it would have more syntax errors than before. Exit codes: 0 success, 1 a file
    could not be written, or --check was given and a place was found, 2 wrong usage, 3 the rule is damaged, 130
    interrupted.

    \b
    editvec apply 1
    editvec apply 1 -C ~/src/gin
    editvec apply 1 -U --verify 'go vet ./...'
    editvec apply rules/use-assert-empty.yml src/
    editvec apply --like 'x = x + 1;' 'x++;' src/ -i
    editvec apply --like 'log(a, b);' 'log.debug(a, b);' --like 'log(c);' 'log.debug(c);' --editor src/ -i
    editvec apply --like 'time.time()' 'import clock; clock.now()' src/ -U
    editvec apply rule.yml - < Old.cs > New.cs
    editvec apply rule.yml . | git apply
    """
    from editvec.cli.ask import Asker
    from editvec.cli.diffs import base_of, print_diff
    from editvec.cli.terminal import print_json, progress
    from editvec.core.errors import UserError
    from editvec.patterns.apply import apply as run

    rule, paths = (None, arguments) if options["like"] else ((arguments or (None,))[0], arguments[1:])
    if interactive and (update or as_json or options["verify"] is not None):
        raise UserError("-i asks about every place and writes the files. Leave out -U, --json and --verify.")
    if "-" in paths:
        if update or interactive or options["verify"] is not None:
            raise UserError("with - as the path, the result goes to stdout. Leave out -U, -i and --verify.")
        _pipe(rule, paths, options, check=check, as_json=as_json)
        return
    base = base_of([Path(path) for path in paths])
    if interactive:
        options["choose"] = Asker(base)
    elif not as_json:
        options["watch"] = lambda plan: print_diff(plan.path, plan.before, plan.all_edits, base)
    if update:
        options["watch"] = _warn_if_dirty(options.get("watch"))
    done = run(rule, paths, update=update, progress=progress, **options)
    _tell(done)
    if as_json:
        print_json([plan.as_json() for plan in done.plans])
    _close(done, _summary(done, base, update, interactive, as_json), check and not interactive)


def _tell(done: Applied) -> None:
    """Print to stderr which files and places were left out."""
    from editvec.cli.terminal import printable, tell_filtered, tell_verified

    tell_filtered(done.filtered)
    tell_verified(done.verification)
    for line in done.refused:
        click.echo(f"editvec: left out: {printable(line)}", err=True)


def _warn_if_dirty(watch: Any) -> Any:
    from editvec.cli.terminal import printable
    from editvec.rewrite.writer import dirty_files

    def warn(plan: Any) -> None:
        if watch is not None:
            watch(plan)
        if dirty_files([plan.path]):
            click.echo(f"editvec: {printable(str(plan.path))} had uncommitted changes, which are kept.", err=True)

    return warn


def _summary(done: Applied, base: Path, update: bool, interactive: bool, as_json: bool) -> str:
    line = f"{done.num_matches} places in {done.num_files} files"
    if interactive:
        return f"{line} were written."
    if update:
        return f"{line}. {'Those were written.' if done.problems else 'They were written.'}"
    if not done.num_matches:
        return f"{line}."
    line += ". Nothing was written. Use -U to write, or -i to review each place."
    if base != Path.cwd() and not as_json:
        line += f" File names are relative to {base}; apply the diff with git -C {base} apply."
    return line


def _close(done: Applied, line: str, check: bool) -> None:
    from editvec.cli.terminal import printable

    for problem in done.problems:
        click.echo(f"editvec: {printable(problem)}", err=True)
    if done.num_matches == 1:
        line = line.replace("1 places", "1 place", 1)
    if done.num_files == 1:
        line = line.replace("in 1 files", "in 1 file", 1)
    click.echo(line, err=True)
    if done.problems or (check and done.num_matches):
        raise click.exceptions.Exit(1)


def _pipe(rule: str | None, paths: tuple[str, ...], options: dict[str, Any], *, check: bool, as_json: bool) -> None:
    from editvec.cli.terminal import print_json, read_stdin
    from editvec.core.errors import UserError
    from editvec.patterns.apply import Applied, apply_to_text

    if paths != ("-",):
        raise UserError("- (stdin) must be the only path. Leave the other paths out.")
    del options["verify"]
    plan = apply_to_text(read_stdin(), rule, **options)
    done = Applied()
    if plan.problem:
        done.problems.append(f"stdin is unchanged: {plan.problem}.")
    else:
        done.num_matches = len(plan.edits)
    if as_json:
        print_json([plan.as_json()] if done.num_matches else [])
    else:
        sys.stdout.buffer.write(plan.before if plan.problem else plan.after)
        sys.stdout.buffer.flush()
    _close(done, f"{done.num_matches} places.", check)
