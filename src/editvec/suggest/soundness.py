"""Whether a file would still parse with a suggested edit; asked once, for every caller.

A file is parsed once, and again from its tree for each edit, which is much faster than from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import tree_sitter as ts

from editvec.core.errors import LimitError
from editvec.core.splice import TextEdit, splice
from editvec.core.text import line_of
from editvec.suggest.searched import EditMatch, SearchedFile
from editvec.syntax.cst import errors_in
from editvec.syntax.facts import facts_of
from editvec.syntax.languages import Language, known


class Soundness:
    """Checks edits of files; the errors of a file are counted once."""

    def __init__(self) -> None:
        self._errors: dict[int, tuple[SearchedFile, int]] = {}

    def sound(self, matches: Iterable[EditMatch]) -> Iterator[EditMatch]:
        """Yield the matches after which their file parses as well as before, each alone."""
        for match in matches:
            language = known().get(match.file.language)
            tree = match.file.tree
            if tree is None or not isinstance(language, Language) or self._is_sound(language, tree, match):
                yield match

    def _is_sound(self, language: Language, tree: ts.Tree, match: EditMatch) -> bool:
        file = match.file
        if id(file) not in self._errors:
            self._errors[id(file)] = file, errors_in(tree.root_node)
        num_errors = self._errors[id(file)][1]
        after = splice(file.data, [TextEdit(match.start, match.end, match.after)])
        moved = _moved(tree, file, match)
        try:
            return errors_in(facts_of(language).parse(after, None, moved).root_node) <= num_errors
        except LimitError:
            return False


def _moved(tree: ts.Tree, file: SearchedFile, match: EditMatch) -> ts.Tree:
    """Return the tree with its nodes moved to where they stand after the edit."""
    new_end = match.start + len(match.after)
    first = match.after.rfind(b"\n")
    start, end = _point(file, match.start), _point(file, match.end)
    row = start.row + match.after.count(b"\n")
    column = start.column + len(match.after) if first < 0 else len(match.after) - first - 1
    moved = tree.copy()
    moved.edit(match.start, match.end, new_end, start, end, ts.Point(row, column))
    return moved


def _point(file: SearchedFile, offset: int) -> ts.Point:
    starts = file.lexed.line_starts
    row = line_of(starts, offset)
    return ts.Point(row, offset - starts[row])
