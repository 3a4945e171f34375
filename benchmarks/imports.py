"""Measure how often imports that come along with an edit are the ones that the commit itself wrote.

From commits that changed two or more files of a language, one file shows what it gained and lost, and each other file
gets its own edit without its imports. What is brought is compared with what the commit did to the imports of that file:
whether it is bound, whether it stands in the same place, and what was brought or removed that the commit did not.

    python benchmarks/imports.py clones/aiohttp clones/netty --commits 3000
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from editvec.core.edit import Demonstration
from editvec.core.splice import splice
from editvec.core.text import FileText
from editvec.mining.options import locate
from editvec.suggest.imports import ImportChanges, bring_imports, changes_of_edits
from editvec.suggest.intents import shown_edits
from editvec.syntax.imports import Import, ImportBlock
from editvec.syntax.languages import Language, language_of
from editvec.syntax.module_paths import moved
from editvec.vcs.git import MAX_TEXT_BYTES, Repository, list_commits
from editvec.vcs.history import CommitChange, walk
from editvec.vcs.objects import Blobs

_MAX_FILES = 20


@click.command()
@click.argument("repositories", nargs=-1, required=True)
@click.option("--commits", default=2000, show_default=True, help="Number of commits of each history, the newest first.")
def main(repositories: tuple[str, ...], commits: int) -> None:
    """Print a table with a row for each repository."""
    names = "repository, pairs, gained by both, bound, only these, at the same place, too many"
    click.echo(f"| {' | '.join(names.split(', '))} | lost by both | removed | too many |")
    click.echo("|---|---|---|---|---|---|---|---|---|---|")
    for name in repositories:
        repository = locate(name)
        tally: Counter[str] = Counter()
        for language, path, before, after, changes in _pairs(repository, commits):
            _compare(language, path, before, after, changes, tally)
        columns = ("pairs", "gained", "bound", "placeable", "placed", "extra", "lost", "removed", "extra removed")
        click.echo(f"| {name} | " + " | ".join(str(tally[column]) for column in columns) + " |")


def _pairs(repository: Repository, commits: int) -> Iterator[tuple[Language, str, bytes, bytes, ImportChanges]]:
    """Yield files with what the first file of their commit and language says of imports."""
    newest = list_commits(repository)[-commits:]
    blobs = Blobs(repository, MAX_TEXT_BYTES)
    try:
        for change in walk(repository, newest, (), renames=False):
            if isinstance(change, CommitChange) and len(change.files) > 1:
                yield from _of_commit(change, blobs)
    finally:
        blobs.close()


def _of_commit(change: CommitChange, blobs: Blobs) -> Iterator[tuple[Language, str, bytes, bytes, ImportChanges]]:
    shown: dict[str, ImportChanges] = {}
    for file in change.files[:_MAX_FILES]:
        language = language_of(file.path)
        before, after = blobs.read(file.blob_before), blobs.read(file.blob_after)
        if not isinstance(language, Language) or before is None or after is None or b"\0" in before + after:
            continue
        before, after = FileText(before).utf8, FileText(after).utf8
        if shown.get(language.name):
            yield language, file.path, before, after, shown[language.name]
        else:
            shown[language.name] = changes_of_edits(shown_edits(Demonstration(file.path, before, after)))


def _compare(
    language: Language, path: str, before: bytes, after: bytes, changes: ImportChanges, tally: Counter[str]
) -> None:
    """Count what is brought to a file whose commit changed it to `after`."""
    old, new = ImportBlock(language, before), ImportBlock(language, after)
    if not old.statements or not new.statements:
        return
    # The file with its own edit, and with the imports that it had.
    edited = before[: old.statements[-1].end] + after[new.statements[-1].end :]
    result = splice(edited, bring_imports(changes, path, before, edited).edits)
    block = ImportBlock(language, result)
    had, has, got = (_targets(each) for each in (old, new, block))
    tally["pairs"] += 1
    for name, companions in (("gained", changes.gained), ("lost", changes.lost)):
        mine = [moved(language.importing, each.imported, each.path, path) for each in companions]
        targets = {old.target(each) for each in mine if each is not None}
        both = targets & (has - had if name == "gained" else had - has)
        tally[name] += len(both)
        tally["bound" if name == "gained" else "removed"] += len(both & got if name == "gained" else both - got)
        if name == "gained" and both and has - had == both and not had - has:
            whole = result[: block.statements[-1].end] == after[: new.statements[-1].end]
            tally["placed"] += len(both) if whole else 0
            tally["placeable"] += len(both)
    tally["extra"] += len((got - had) - has)
    tally["extra removed"] += len((had - got) & has)


def _targets(block: ImportBlock) -> set[tuple[str, str]]:
    return {block.target(each) for each in _plain(block)}


def _plain(block: ImportBlock) -> list[Import]:
    return [*block.imports, *block.optional]


if __name__ == "__main__":
    main()
