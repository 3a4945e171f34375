"""`editvec apply`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import Number

if TYPE_CHECKING:
    from editvec.core.edit import Edit
    from editvec.core.splice import TextEdit
    from editvec.rewrite.plan import FilePlan, Finder
    from editvec.rules.rule import LoadedRule

_FILES_AT_ONCE = 500


@click.command()
@click.argument("arguments", nargs=-1, metavar="[RULE] [PATHS]...")
@click.option(
    "--like",
    nargs=2,
    multiple=True,
    metavar="BEFORE AFTER",
    help="An example instead of a rule. Several may be given, and say more.",
)
@click.option("--editor", is_flag=True, help="Where no rule fires, let the neural editor do as the examples did.")
@click.option("--model", help="Its model: a trained model's folder.  [default: packaged]")
@click.option(
    "--sure",
    default=0.8,
    show_default=True,
    type=Number(0, 1, min_open=True),
    help="The chance to be right, as the editor sees it, from which on it says something.",
)
@click.option("--language", help="What the example is written in; by default what the files are.")
@click.option("-C", "--repo", default=".", show_default=True, help="The repository whose patterns are meant.")
@click.option(
    "--patterns", "folder", type=click.Path(path_type=Path), help="Where they are.  [default: .editvec in REPO]"
)
@click.option("--everywhere", is_flag=True, help="A pattern's rule also where history is not sure that it is due.")
@click.option("-U", "--update", is_flag=True, help="Write the files.")
@click.option("-i", "--interactive", is_flag=True, help="Ask at every place, and write those that you want.")
@click.option("--check", is_flag=True, help="Exit with 1 when there is a place.")
@click.option("--json", "as_json", is_flag=True, help="Print the places as JSON instead of a diff.")
def apply(
    arguments: tuple[str, ...],
    like: tuple[tuple[str, str], ...],
    editor: bool,
    model: str | None,
    sure: float,
    language: str | None,
    repo: str,
    folder: Path | None,
    everywhere: bool,
    update: bool,
    interactive: bool,
    check: bool,
    as_json: bool,
) -> None:
    """Apply a rule, or an edit shown once, to files: a diff is printed, and nothing is written unless you say so.

    RULE is the number or the name of a pattern that editvec learn found here, or a file: a rule of editvec rule, or any
    ast-grep rule with a fix. Every match of the rule counts; a pattern of which history is not sure (editvec find says
    nothing of it either) needs --everywhere. PATHS are files and folders (by default, for a pattern, the whole work
    tree); of a folder, what git ignores and what is vendored or generated is left alone. With - as the only path, stdin
    becomes stdout.

    Of examples a rule is made, and with --editor the neural editor rewrites the statements that are like them where the
    rule does not match, or where there is none: not verified as a rule is, so look at what it does (-i).
    With -i the answers are y (yes), n (no), e (edit it first), a (yes to all), q (quit).

    A file that would parse worse than before is not written. Exit codes: 0 fine, 1 a file could not be written,
    or there are places and --check was given, 2 wrong use, 3 the rule is damaged, 130 interrupted.

    \b
    editvec apply 1
    editvec apply 1 -C ~/src/gin
    editvec apply rules/use-assert-empty.yml src/
    editvec apply --like 'x = x + 1;' 'x++;' src/ -i
    editvec apply --like 'log(a, b);' 'log.debug(a, b);' --like 'log(c);' 'log.debug(c);' --editor src/ -i
    editvec apply rule.yml - < Old.cs > New.cs
    editvec apply rule.yml . | git apply
    """
    from editvec.core.errors import StoppedError, UserError

    if editor and not like:
        raise UserError("--editor does as examples did: give some with --like BEFORE AFTER.")
    if not arguments:
        raise UserError(
            "say where: give files or folders, or - for stdin." if like else "say what: a pattern or a rule."
        )
    names = list(arguments)
    learned = not like and not Path(names[0]).suffix and not Path(names[0]).exists()
    rules = [] if like else _load(names.pop(0), repo, folder, everywhere)
    if not names and learned:
        names = [_top(repo)]
    if not names:
        raise UserError("say where: give files or folders, or - for stdin.")
    if "-" in names and names != ["-"]:
        raise UserError("- (stdin) must be the only path.")
    if interactive and (update or as_json):
        raise UserError("-i asks and writes by itself: leave -U and --json away.")
    paths = [Path(name) for name in names]
    from_stdin = names == ["-"]
    finders: dict[str, Finder] = {}
    if like:
        spoken = [language] if language else [] if from_stdin else _languages(paths)
        finders = _finders(like, spoken, model, sure) if editor else {}
        rules = _rules_like(like, spoken, needed=not finders)
    if from_stdin:
        if update or interactive:
            raise UserError("stdin becomes stdout: leave -U and -i away.")
        _pipe(rules, finders, check=check, as_json=as_json)
        return
    changes = _changes(rules, finders, paths)
    base = _base(paths)
    if interactive:
        from editvec.cli.ask import Asker

        asker = Asker(base)
        asker.ask(changes)
        line = f"{asker.num_places} places in {asker.num_files} files were written."
        _close(asker.num_places, asker.num_files, line, asker.problems, False)
        if asker.stopped:
            raise StoppedError("stopped.")
        return
    num_places = num_files = 0
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    for change in changes:
        if change.problem:
            problems.append(f"{change.path}: not written: {change.problem}.")
            continue
        num_places += len(change.edits)
        num_files += 1
        if as_json:
            rows.append(_as_json(change))
        else:
            print_diff(change.path, change.before, change.edits, base)
        if update:
            try:
                _write(change)
            except (OSError, UserError) as error:
                problems.append(f"{change.path}: not written: {error}")
    if as_json:
        from editvec.cli.terminal import print_json

        print_json(rows)
    written = "Those were written." if problems else "They were written."
    done = written if update else "Nothing was written: -U writes, -i asks one by one." if num_places else ""
    if base != Path.cwd() and num_places and not (update or as_json):
        done += f" The names are from {base}: git -C {base} apply."
    _close(num_places, num_files, f"{num_places} places in {num_files} files. {done}".rstrip(), problems, check)


def _close(num_places: int, num_files: int, line: str, problems: list[str], check: bool) -> None:
    from editvec.cli.terminal import printable

    for problem in problems:
        click.echo(f"editvec: {printable(problem)}", err=True)
    plural = line.replace("1 places", "1 place") if num_places == 1 else line
    plural = plural.replace("1 files", "1 file") if num_files == 1 else plural
    click.echo(plural, err=True)
    if problems or (check and num_places):
        raise click.exceptions.Exit(1)


def _load(name: str, repo: str, folder: Path | None, everywhere: bool) -> list[LoadedRule]:
    from editvec.core.errors import UserError
    from editvec.rules.rule import load_rules

    path = Path(name)
    if not path.is_file():
        if path.suffix not in (".yml", ".yaml") and len(path.parts) == 1:
            return _learned(name, repo, folder, everywhere)
        raise UserError(f"{name} is not a rule file. Make one with editvec rule, or give --like BEFORE AFTER.")
    try:
        return load_rules(path.read_text(encoding="utf-8"), name)
    except UnicodeDecodeError:
        raise UserError(f"{name} is not UTF-8. Give a rule as YAML.") from None


def _top(place: str) -> str:
    """The top of the work tree that a place is in."""
    from editvec.core.errors import UserError
    from editvec.vcs.git import open_repository, work_tree

    top = work_tree(open_repository(place))
    if top is None:
        raise UserError(
            f"{place} is a bare repository: there are no files to change. Name some, or give a clone with -C."
        )
    return str(top)


def _learned(name: str, repo: str, folder: Path | None, everywhere: bool) -> list[LoadedRule]:
    """The rule of a pattern that `editvec learn` found in a repository."""
    from editvec.cli.learn import default_folder
    from editvec.core.errors import UserError
    from editvec.patterns import folder as folders
    from editvec.rules.rule import load_rules
    from editvec.vcs.git import open_repository

    known = folders.load(folder or default_folder(open_repository(repo)))
    (pattern,) = folders.pick(known, [name])
    if pattern.rule is None:
        raise UserError(f"no rule could be verified for pattern {name}. Give an example instead: --like BEFORE AFTER.")
    if not everywhere and not pattern.is_due():
        evidence = pattern.evidence
        said = (
            f"edited: {evidence.edited} of {evidence.matched + evidence.left} such places"
            if evidence
            else "it is silent"
        )
        raise UserError(
            f"history does not say that pattern {name} is due ({said}). To apply it all the same: --everywhere."
        )
    return load_rules(pattern.rule)


def _examples(like: tuple[tuple[str, str], ...], name: str) -> list[Edit]:
    from editvec.syntax.snippet import snippet_edit

    return [snippet_edit(before, after, name, f"example{at or ''}") for at, (before, after) in enumerate(like)]


def _rules_like(like: tuple[tuple[str, str], ...], names: list[str], *, needed: bool) -> list[LoadedRule]:
    """Rules of examples in each of the languages in which they are some."""
    from editvec.core.errors import UserError
    from editvec.rules.induction import make_rules, why_not
    from editvec.rules.rule import load_rules
    from editvec.rules.sites import edit_example

    if not names:
        raise UserError("say what the example is written in, such as --language csharp.")
    reason = ""
    found: list[LoadedRule] = []
    for name in names:
        edits = _examples(like, name)
        for each in make_rules(edits):
            found += load_rules(each.rule.as_yaml())
        if not found and not reason:
            examples = [example for edit in edits if (example := edit_example(edit)) is not None]
            reason = why_not(examples) if len(examples) == len(edits) else f"it does not parse as {name}"
    if not found and needed:
        raise UserError(f"no rule can be made of the example: {reason}.")
    return found


def _finders(like: tuple[tuple[str, str], ...], names: list[str], model: str | None, sure: float) -> dict[str, Finder]:
    """The neural editor for each of the languages in which the examples are some."""
    from editvec.core.errors import UserError
    from editvec.neural.model import load
    from editvec.rules.sites import edit_example
    from editvec.suggest.editor import finder_like
    from editvec.suggest.few_shot import FewShotEditor

    examples = {name: _examples(like, name) for name in names}
    parsed = {name: edits for name, edits in examples.items() if all(map(edit_example, edits))}
    if not parsed:
        raise UserError("the examples do not parse in the language of the files. Say which it is with --language.")
    trained = FewShotEditor(load(model))
    return {name: finder_like(trained, edits, sure) for name, edits in parsed.items()}


def _changes(rules: list[LoadedRule], finders: dict[str, Finder], paths: list[Path]) -> Iterator[FilePlan]:
    """What is to be changed, file by file; a rule looks at the files of its language."""
    from collections import Counter

    from editvec.cli.terminal import progress, tell_filtered
    from editvec.rewrite.plan import find_changes
    from editvec.rewrite.writer import find_files, is_worth_reading
    from editvec.syntax.languages import known, language_of

    wanted = {rule.language for rule in rules} | finders.keys()
    files: dict[str, list[Path]] = {}
    tally: Counter[str] = Counter()
    for file in find_files(paths, wanted, tally):
        found = language_of(file.name)
        name = found.name if found is not None and found.name in wanted else next(iter(wanted))
        files.setdefault(name, []).append(file)
    tell_filtered(tally["filtered"])
    total = sum(len(each) for each in files.values())
    with progress("Looking", "files") as tell:
        done = places = 0
        for name in (each for each in known() if each in files):
            chosen = [rule for rule in rules if rule.language == name]
            for start in range(0, len(files[name]), _FILES_AT_ONCE):
                part = files[name][start : start + _FILES_AT_ONCE]
                texts = ((file, file.read_bytes()) for file in part)
                written = [each for each in texts if is_worth_reading(each[1])]
                for change in find_changes(chosen, written, name, also=finders.get(name)):
                    places += len(change.edits)
                    yield change
                done += len(part)
                tell(done, total, places)


def _languages(paths: list[Path]) -> list[str]:
    """The languages of the files, the most frequent first; code before prose."""
    from collections import Counter

    from editvec.rewrite.writer import find_files
    from editvec.syntax.languages import Language, known, language_of

    counts: Counter[str] = Counter()
    for file in find_files(paths, set(known())):
        if (found := language_of(file.name)) is not None:
            counts[found.name] += 1
    return sorted(counts, key=lambda name: (not isinstance(known()[name], Language), -counts[name]))


def _pipe(rules: list[LoadedRule], finders: dict[str, Finder], *, check: bool, as_json: bool) -> None:
    from editvec.cli.terminal import read_stdin
    from editvec.core.errors import UserError
    from editvec.rewrite.plan import find_changes

    wanted = {rule.language for rule in rules} | finders.keys()
    if len(wanted) > 1:
        raise UserError("the rules are for several languages. Give files instead of stdin.")
    (name,) = wanted
    data = read_stdin()
    found = find_changes(rules, [(None, data)], name, also=finders.get(name))
    problem = found[0].problem if found else ""
    if as_json:
        from editvec.cli.terminal import print_json

        print_json([_as_json(change) for change in found if not change.problem])
    else:
        sys.stdout.buffer.write(found[0].after if found and not problem else data)
        sys.stdout.buffer.flush()
    places = len(found[0].edits) if found and not problem else 0
    _close(places, 1, f"{places} places.", [f"stdin is unchanged: {problem}."] if problem else [], check)


def _write(change: FilePlan) -> None:
    from editvec.cli.terminal import printable
    from editvec.rewrite.writer import dirty_files, write_file

    assert change.path is not None
    if dirty_files([change.path]):
        click.echo(f"editvec: {printable(str(change.path))} had uncommitted changes; they are kept.", err=True)
    write_file(change.path, change.before, change.after)


def print_diff(path: Path | None, before: bytes, edits: tuple[TextEdit, ...], base: Path) -> None:
    """The diff of a file, named from a base: coloured and harmless on a terminal, byte for byte elsewhere."""
    from editvec.cli.terminal import console, printable
    from editvec.rewrite.patch import unified_diff

    assert path is not None
    text = unified_diff(_name(path, base), before, edits)
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
        return
    out = console()
    colours = {"-": "red", "+": "green", "@": "cyan"}
    for line in text.decode(errors="replace").split("\n")[:-1]:
        style = "bold" if line.startswith(("--- ", "+++ ")) else colours.get(line[:1])
        out.print(printable(line.removesuffix("\r")), style=style)


def _base(paths: list[Path]) -> Path:
    """Where a diff's names start: here, or, where a path leads out of here, at the top of its work tree."""
    from editvec.core.errors import UserError

    here = Path.cwd()
    outside = [path for path in paths if not _absolute(path).is_relative_to(here)]
    if not outside:
        return here
    try:
        return Path(_top(str(outside[0] if outside[0].is_dir() else outside[0].parent)))
    except UserError:
        return here


def _absolute(path: Path) -> Path:
    import os

    return Path(os.path.normpath(Path.cwd() / path))


def _name(path: Path, base: Path) -> bytes:
    """The path as a diff names it."""
    import os

    absolute = _absolute(path)
    shown = absolute.relative_to(base) if absolute.is_relative_to(base) else absolute
    return os.fsencode(shown.as_posix().lstrip("/"))


def _as_json(change: FilePlan) -> dict[str, Any]:
    places = [_place(change.before, edit) for edit in change.edits]
    return {"path": None if change.path is None else str(change.path), "places": places}


def _place(data: bytes, edit: TextEdit) -> dict[str, Any]:
    line_start = data.rfind(b"\n", 0, edit.start) + 1
    return {
        "start": edit.start,
        "end": edit.end,
        "line": data.count(b"\n", 0, edit.start) + 1,
        "column": len(data[line_start : edit.start].decode(errors="replace")) + 1,
        "before": data[edit.start : edit.end].decode(errors="replace"),
        "after": edit.text.decode(errors="replace"),
    }
