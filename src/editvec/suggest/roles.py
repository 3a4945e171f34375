"""The syntactic role of a place: the nodes around it in the tree of its file, and the function that it is in.

Only files with places are parsed, and only as many bytes as a budget allows: a place in a file that is not parsed has
no role, and the scorer does without it.
"""

from __future__ import annotations

from typing import NamedTuple

import tree_sitter as ts

from editvec.suggest.intents import DemoEdit
from editvec.suggest.searched import SearchedFile
from editvec.syntax.languages import Language, known, language_of

_BUDGET = 2_500_000
"""Maximum number of bytes that are parsed for an intent."""


class SyntacticRole(NamedTuple):
    """Where a place stands in the tree of its file."""

    kinds: tuple[str, ...]
    """The kinds of the nodes that contain the place, the innermost first."""
    field: str
    """The field that the innermost node fills in its parent; empty for none."""
    function: tuple[int, int]
    """The first and the last line of the innermost function around the place; (-1, -1) outside functions."""
    function_kind: str


class RoleReader:
    """Reads roles of places; only as many bytes are parsed as a budget allows."""

    def __init__(self) -> None:
        self._left = _BUDGET
        self._known: dict[int, tuple[SearchedFile, bool]] = {}
        self._before: dict[int, SearchedFile] = {}

    def role_before(self, edit: DemoEdit, start: int, end: int) -> SyntacticRole | None:
        """Return the role of the bytes [start, end) of the version before a shown edit."""
        if id(edit.before) not in self._before:
            language = language_of(edit.path)
            self._before[id(edit.before)] = SearchedFile(edit.path, language.name if language else "", edit.before.data)
        return self.role(self._before[id(edit.before)], start, end)

    def role(self, file: SearchedFile, start: int, end: int) -> SyntacticRole | None:
        """Return the role of the bytes [start, end) of a file, or None if it is not parsed."""
        language = known().get(file.language)
        if not isinstance(language, Language):
            return None
        if id(file) not in self._known:
            allowed = len(file.data) <= self._left
            # A file counts even if something else has parsed it, so that the same places always have the same roles.
            self._left -= len(file.data) if allowed else 0
            # The file is kept so that its id means no other one.
            self._known[id(file)] = file, allowed
        tree = file.tree if self._known[id(file)][1] else None
        return None if tree is None else _role(language, tree, start, end)


def _role(language: Language, tree: ts.Tree, start: int, end: int) -> SyntacticRole:
    cursor = tree.walk()
    kinds: list[str] = []
    field, function, function_kind = "", (-1, -1), ""
    while True:
        node = cursor.node
        if node is None:
            break
        kinds.append(node.type)
        field = cursor.field_name or ""
        if node.type in language.functions:
            function, function_kind = (node.start_point.row, node.end_point.row), node.type
        if cursor.goto_first_child_for_byte(start) is None:
            break
        child = cursor.node
        if child is None or child.start_byte > start or child.end_byte < end:
            break
    return SyntacticRole(tuple(reversed(kinds)), field, function, function_kind)
