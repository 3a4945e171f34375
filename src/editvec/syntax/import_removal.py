"""Remove an import from a file: an item of a list, or a whole statement with its line.

The edit changes import statements, and blank lines around them, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import tree_sitter as ts

from editvec.core.splice import TextEdit
from editvec.core.text import BOM
from editvec.syntax.imports import Import, ImportBlock, ImportItem, ImportStatement


def removing(block: ImportBlock, imported: Import) -> TextEdit | None:
    """Return the edit that removes an import, or None if it does not stand where it can be removed."""
    for statement in block.statements:
        for item in statement.items:
            same = block.target(item.imported) == block.target(imported)
            if same and item.imported.names == imported.names and not statement.head.startswith("pub"):
                return _without(block, statement, item)
    return None


def _without(block: ImportBlock, statement: ImportStatement, item: ImportItem) -> TextEdit | None:
    node = item.node
    while node != statement.node and node.parent is not None:
        around = node.parent
        elements = block.elements(around)
        is_list = around.type in (*block.facts.lists, "import_clause") or (
            around == statement.node and len(statement.items) > 1
        )
        if is_list and len(elements) > 1:
            return _element_removed(block, elements, node)
        node = around
    return _line_removed(block, statement)


def _element_removed(block: ImportBlock, elements: Sequence[ts.Node], node: ts.Node) -> TextEdit | None:
    if node not in elements:
        return None
    at = list(elements).index(node)
    around = node.parent
    if around is not None and block.facts.paths.get(around.parent.type if around.parent else "") and len(elements) == 2:
        (left,) = (each for each in elements if each != node)
        if left.type == "identifier":
            return TextEdit(around.start_byte, around.end_byte, block.stripped(left))
    if at + 1 < len(elements):
        return TextEdit(node.start_byte, elements[at + 1].start_byte, b"")
    return TextEdit(elements[at - 1].end_byte, node.end_byte, b"")


def _line_removed(block: ImportBlock, statement: ImportStatement) -> TextEdit | None:
    """Return the edit that removes a statement with its line, and a blank line if two would follow each other."""
    data = block.data
    start, end = statement.start, statement.end
    around = statement.node.parent
    siblings = [each for each in block.statements if each.node.parent == around]
    if block.facts.group[0] and around is not None and around.type in block.facts.scopes and len(siblings) == 1:
        outer = around.parent if around.parent is not None and around.parent != block.root else around
        start, end = outer.start_byte, outer.start_byte + len(block.stripped(outer))
    low, high = block.line_start(start), block.line_end(end)
    behind = data[end:high].strip(b" \t;")
    if data[low:start].strip(b" \t") not in (b"", BOM) or (
        behind and not behind.startswith(block.language.comment_marks)
    ):
        return None
    low = start if data[low:start].startswith(BOM) else low
    high = min(len(data), high + len(block.newline))
    following = re.match(rb"[ \t]*\r?\n", data[high:])
    preceded = low == 0 or re.search(rb"(?:\A|\n)[ \t]*\r?\n\Z", data[:low]) or data[:low].rstrip().endswith(b"(")
    if following and preceded:
        high += following.end()
    elif data[high:].lstrip(b" \t")[:1] in (b")", b"") and (blank := re.search(rb"(?<=\n)[ \t]*\r?\n\Z", data[:low])):
        low = blank.start()
    return TextEdit(low, high, b"")
