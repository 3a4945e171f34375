"""Imports that come along with an edit: which ones an edit brought or made superfluous, and what they are elsewhere.

An import belongs to an edit if the edit introduces a name that the import binds, or removes the last use of one. Where
the names of an import cannot be known from a file (`#include`, `using`, star imports), it belongs to an edit that
introduces new words, if every file in which the edit was shown has the import afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from editvec.core.splice import TextEdit, compose, splice
from editvec.core.text import FileText
from editvec.rewrite.plan import FilePlan, checked
from editvec.suggest.intents import DemoEdit
from editvec.syntax.import_edits import adding
from editvec.syntax.import_removal import removing
from editvec.syntax.imports import Import, ImportBlock
from editvec.syntax.languages import Language, language_of
from editvec.syntax.lexer import is_word
from editvec.syntax.module_paths import moved
from editvec.syntax.token import decode

_MAX_FILES = 8
"""Maximum number of files in which an edit was shown that are looked at."""


@dataclass(frozen=True, slots=True)
class ShownFile:
    """Two versions of a file in which an edit was shown, with the words that the edit introduced and removed."""

    path: str
    before: bytes
    after: bytes
    added: frozenset[str]
    removed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Companion:
    """An import that came or went with an edit.

    `path` is the file in which it was seen. It is needed where one of the `words` is used more or less often.
    """

    imported: Import
    path: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportChanges:
    """The imports that come along with an edit."""

    gained: tuple[Companion, ...] = ()
    lost: tuple[Companion, ...] = ()
    at_imports: bool = False
    """Whether the edit itself was also made in an import."""

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost)

    def __or__(self, other: ImportChanges) -> ImportChanges:
        at_imports = self.at_imports or other.at_imports
        return ImportChanges(_unique(self.gained + other.gained), _unique(self.lost + other.lost), at_imports)

    def covers(self, path: str, data: bytes, start: int, end: int) -> bool:
        """Return whether the bytes [start, end) of a file are in an import, which follows from the edit elsewhere."""
        language = language_of(path)
        if not self or self.at_imports or not isinstance(language, Language):
            return False
        return any(low < end and start < high for low, high in _block(language, data).all)


NO_IMPORTS = ImportChanges()


@dataclass(slots=True)
class BroughtImports:
    """The edits that imports need in a file, and the names that cannot be imported there."""

    edits: list[TextEdit] = field(default_factory=list)
    clashes: list[str] = field(default_factory=list)
    """Names that would be introduced but mean something else in the file."""


def changes_of_edits(edits: Iterable[DemoEdit]) -> ImportChanges:
    """Return the imports that come along with edits that mean the same; some of the files are looked at."""
    by_path: dict[str, list[DemoEdit]] = {}
    for edit in edits:
        if len(by_path) < _MAX_FILES or edit.path in by_path:
            by_path.setdefault(edit.path, []).append(edit)
    found = import_changes(
        [
            ShownFile(
                path,
                each[0].before.data,
                each[0].after.data,
                words_of(token for edit in each for token in edit.added),
                words_of(token for edit in each for token in edit.removed),
            )
            for path, each in ((path, _without_imports(each)) for path, each in by_path.items())
            if each
        ]
    )
    at_imports = any(len(_without_imports(each)) < len(each) for each in by_path.values())
    return replace(found, at_imports=at_imports)


@lru_cache(128)
def _block(language: Language, data: bytes) -> ImportBlock:
    """Return the imports of a file; cached because several edits and suggestions ask about the same file."""
    return ImportBlock(language, data)


def _without_imports(edits: Sequence[DemoEdit]) -> list[DemoEdit]:
    """Return the edits that change more than imports."""
    return [edit for edit in edits if _changed_imports(edit) is None]


def words_of(tokens: Iterable[bytes]) -> frozenset[str]:
    """Return the tokens that are words."""
    return frozenset(decode(token) for token in tokens if is_word(token))


def import_changes(shown: Sequence[ShownFile]) -> ImportChanges:
    """Return the imports that come along with an edit that was shown in files."""
    gained: list[Companion] = []
    lost: list[Companion] = []
    afters: list[tuple[str, ImportBlock]] = []
    for file in shown:
        language = language_of(file.path)
        if not isinstance(language, Language):
            continue
        before, after = _block(language, file.before), _block(language, file.after)
        afters.append((file.path, after))
        if before.imports != after.imports:
            gained += _gained(file, before, after)
            lost += _lost(file, before, after)
    per_import = Counter(each.imported for each in gained)
    per_file = Counter(each.path for each in gained if not each.imported.names)
    sure = [
        each
        for each in gained
        if each.imported.names
        # Of several that one file gained, nothing says which of them the edit needs.
        or ((per_import[each.imported] > 1 or per_file[each.path] == 1) and all(_has(*after, each) for after in afters))
    ]
    return ImportChanges(_unique(sure), _unique(lost))


def _has(path: str, block: ImportBlock, companion: Companion) -> bool:
    here = moved(block.facts, companion.imported, companion.path, path)
    return here is not None and block.status(here) == "bound"


def _gained(file: ShownFile, before: ImportBlock, after: ImportBlock) -> list[Companion]:
    had = {before.target(each) + (each.names,) for each in before.imports}
    new = [each for each in after.imports if after.target(each) + (each.names,) not in had]
    fresh = {word for word in file.added if after.uses[word] and not before.words[word]}
    fresh |= {word for word in file.added if after.words[word] and not before.words[word]}
    fresh -= {name for each in new for name in each.names} | after.declared
    found = []
    for each in new:
        words = (set(each.names) & file.added) - file.removed if each.names else fresh
        if words:
            found.append(Companion(each, file.path, tuple(sorted(words))))
    return found


def _lost(file: ShownFile, before: ImportBlock, after: ImportBlock) -> list[Companion]:
    """Return the imports whose names an edit removed.

    Imports whose names are not known are never removed elsewhere: nothing says that they are not needed there.
    """
    has = {after.target(each) + (each.names,) for each in after.imports}
    found = []
    for each in before.imports:
        words = (set(each.names) & file.removed) - file.added
        if words and before.target(each) + (each.names,) not in has:
            found.append(Companion(each, file.path, tuple(sorted(words))))
    return found


def _unique(companions: Iterable[Companion]) -> tuple[Companion, ...]:
    """Return the companions, those for the same import as one, in order."""
    found: dict[tuple[object, ...], Companion] = {}
    for each in companions:
        one = each.imported
        key = (one.form, one.head, one.module, one.item, one.module.startswith(".") and each.path)
        known = found.get(key)
        words = sorted({*each.words, *(known.words if known else ())})
        found[key] = replace(known or each, words=tuple(words))
    return tuple(found.values())


def bring_imports(changes: ImportChanges, path: str, before: bytes, after: bytes) -> BroughtImports:
    """Return the edits of `after` that the imports of an edit need in a file that became `after`; both are UTF-8.

    An import is added if the file uses one of its words more often than before and does not bind it. It is removed if
    the file used its name before and no longer does.
    """
    found = BroughtImports()
    language = language_of(path)
    if not changes or before == after or not isinstance(language, Language):
        return found
    old, block = _block(language, before), ImportBlock(language, after)
    for companion in changes.gained:
        if not _is_introduced(companion, old, block):
            continue
        imported = moved(block.facts, companion.imported, companion.path, path)
        status = "clash" if imported is None else block.status(imported)
        if status == "clash":
            found.clashes += sorted(companion.words)
        elif imported is not None and status == "missing" and not _names_itself(imported, path):
            block = _after_edit(block, adding(block, imported), after, found)
    if not path.endswith("/__init__.py"):
        for companion in changes.lost:
            if all(old.uses[word] and not block.uses[word] for word in companion.words):
                imported = moved(block.facts, companion.imported, companion.path, path)
                edit = None if imported is None else removing(block, imported)
                if edit is not None:
                    block = _after_edit(block, edit, after, found)
    return found


def with_imports(plan: FilePlan, path: str, changes: ImportChanges) -> FilePlan:
    """Return the plan of a file together with the edits of imports that it needs; `path` is relative to the top."""
    if not changes or plan.problem or not plan.edits:
        return plan
    try:
        edits = import_edits(changes, path, plan.before, plan.after)
    except UnicodeEncodeError as error:
        return replace(plan, problem=f"its encoding cannot represent {error.object[error.start : error.end]!r}")
    imports: list[TextEdit] = []
    places: list[TextEdit] = []
    for edit in compose(plan.before, plan.edits, edits):
        is_place = any(edit.start <= one.end and one.start <= edit.end for one in plan.edits)
        (places if is_place else imports).append(edit)
    return checked(replace(plan, edits=tuple(places), imports=tuple(imports)))


def import_edits(changes: ImportChanges, path: str, before: bytes, after: bytes) -> list[TextEdit]:
    """Return the edits of `after` that imports need in a file that became `after`; both in the file's encoding.

    Raises:
        UnicodeEncodeError: The file's encoding cannot represent an import.
    """
    source = FileText(after)
    brought = bring_imports(changes, path, FileText(before).utf8, source.utf8)
    return [source.edit(each.start, each.end, decode(each.text)) for each in brought.edits]


def _after_edit(block: ImportBlock, edit: TextEdit, start: bytes, found: BroughtImports) -> ImportBlock:
    """Add an edit of a block to what was found, and return the block after it."""
    found.edits = compose(start, found.edits, [edit])
    return ImportBlock(block.language, splice(block.data, [edit]))


def _is_introduced(companion: Companion, old: ImportBlock, new: ImportBlock) -> bool:
    if companion.imported.names:
        return any(new.uses[word] > old.uses[word] for word in companion.words)
    return any(new.words[word] > old.words[word] for word in companion.words)


def _names_itself(imported: Import, path: str) -> bool:
    """Return whether an include names the file that it would be added to."""
    return imported.form == "include" and path.endswith(imported.module.strip('"<>'))


def accompanies(edit: DemoEdit, others: Iterable[ImportChanges]) -> bool:
    """Return whether an edit changes only imports that come along with other edits."""
    companions = [(each.gained, each.lost) for each in others]
    gained = {each.imported for ones, _ in companions for each in ones}
    lost = {each.imported for _, ones in companions for each in ones}
    if not gained | lost:
        return False
    changed = _changed_imports(edit)
    return changed is not None and changed[1] <= gained and changed[0] <= lost


def _changed_imports(edit: DemoEdit) -> tuple[set[Import], set[Import]] | None:
    """Return what an edit stopped importing and what it began to import; None if it changes anything else."""
    language = language_of(edit.path)
    if not isinstance(language, Language):
        return None
    before, after = _block(language, edit.before.data), _block(language, edit.after.data)
    old = _imported_in(before, *_span(edit.before.line_starts, edit.first_line, edit.last_line))
    new = _imported_in(after, *_span(edit.after.line_starts, edit.first_line_now, edit.last_line_now))
    return None if old is None or new is None or old == new else (old - new, new - old)


def _span(starts: Sequence[int], first: int, last: int) -> tuple[int, int]:
    return starts[min(first, len(starts) - 1)], starts[min(last, len(starts) - 1)]


def _imported_in(block: ImportBlock, low: int, high: int) -> set[Import] | None:
    """Return what the statements that touch some bytes import; None if there is anything else in the bytes."""
    touched = [each for each in block.statements if each.start < high and low < each.end]
    rest = bytearray(block.data[low:high])
    for each in touched:
        start, end = max(0, each.start - low), min(high, each.end) - low
        rest[start:end] = b" " * (end - start)
    keywords = block.facts.group[0].encode().split()
    if any(is_word(part) and part not in keywords for part in bytes(rest).split()):
        return None
    return {item.imported for each in touched for item in each.items}
