"""Leaves of a parse tree: tokens with their roles.

The leaves and the gaps between them always make up the file, whatever its bytes. A string is one leaf. Comments and
white space are not leaves. Text that the grammar skipped becomes leaves of kind ERROR.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

import tree_sitter as ts

from editvec.syntax.languages.base import Language
from editvec.syntax.token import decode

ERROR = "ERROR"


class Role(IntEnum):
    """The role of a token in canonicalisation."""

    OTHER = 0
    NAME = 1
    """An identifier in a position where a variable can stand."""
    OWN_MEMBER = 2
    """A member of `this` or `self`."""
    FOREIGN_NAME = 3
    """An identifier that cannot be a variable: a type, another object's member, an argument's name."""
    LITERAL = 4
    KEYWORD = 5
    """A contextual keyword (`file`, `from`) that is used as an identifier.

    The grammar puts the keyword inside the identifier's node.
    """


class Leaf(NamedTuple):
    """A token with its kind and its role."""

    text: str
    start: int
    end: int
    kind: str
    role: Role


def walk_leaves(language: Language, data: bytes, tree: ts.Tree, start: int, end: int) -> list[Leaf]:
    """Return the leaves that begin in the bytes [start, end), in order.

    Text that the grammar skipped becomes leaves of kind ERROR.
    """
    # A cursor does not find the next node from white space between two nodes.
    start += len(data[start:end]) - len(data[start:end].lstrip())
    comments, literals = language.comments, language.literals
    names = language.identifiers | language.member_identifiers
    cursor = tree.walk()
    path: list[str] = []
    found: list[Leaf] = []
    covered = start
    while True:
        node = cursor.node
        assert node is not None
        low = node.start_byte
        if low >= end:
            break
        high = node.end_byte
        if high > start:
            kind = node.type
            literal = kind in literals and node.is_named
            if kind in comments:
                found += _skipped(data, covered, low)
                covered = max(covered, high)
            elif literal or not node.child_count:
                if low < start:
                    covered = max(covered, high)
                elif low >= covered and (text := data[low:high]) and not text.isspace():
                    if low > covered:
                        found += _skipped(data, covered, low)
                    covered = high
                    token = text.decode("utf-8", "surrogateescape")
                    if literal:
                        role = Role.LITERAL
                    elif kind in names and node.is_named:
                        role = _role_of_name(language, node, token, path, cursor.field_name or "")
                    else:
                        role = Role.KEYWORD if path and path[-1] in language.identifiers else Role.OTHER
                    found.append(Leaf(token, low, high, kind, role))
            elif (low < start and cursor.goto_first_child_for_byte(start) is not None) or cursor.goto_first_child():
                path.append(kind)
                continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found + _skipped(data, covered, end)
            path.pop()
    return found + _skipped(data, covered, end)


_CHUNK = re.compile(rb"\S+")


def _skipped(data: bytes, low: int, high: int) -> list[Leaf]:
    """Return the text between two leaves, other than white space, as leaves of kind ERROR."""
    if low >= high or data[low:high].isspace():
        return []
    return [
        Leaf(decode(match.group()), match.start(), match.end(), ERROR, Role.OTHER)
        for match in _CHUNK.finditer(data, low, high)
    ]


def _role_of_name(language: Language, node: ts.Node, text: str, path: list[str], place: str) -> Role:
    """Return the role of an identifier.

    It depends on the kinds of the nodes around it (`path`) and on the field that it fills (`place`).
    """
    if text in language.selves:
        return Role.FOREIGN_NAME
    parent = path[-1] if path else ""
    access = language.accesses.get(parent)
    if access is not None and place == access[1]:
        around = node.parent
        receiver = around.child_by_field_name(access[0]) if around else None
        own = receiver is not None and receiver.text is not None and decode(receiver.text) in language.selves
        return Role.OWN_MEMBER if own else Role.FOREIGN_NAME
    if (parent, place) in language.fixed or ("*", place) in language.fixed:
        return Role.FOREIGN_NAME
    if len(path) > 1 and (path[-2], parent, place) in language.fixed:
        return Role.FOREIGN_NAME
    if node.type in language.member_identifiers:
        return Role.OWN_MEMBER if parent in language.member_places else Role.FOREIGN_NAME
    return Role.NAME
