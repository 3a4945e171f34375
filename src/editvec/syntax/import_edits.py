"""Add an import to a file: the smallest edit, where the language and the file put it.

The edit changes import statements, and blank lines around them, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import tree_sitter as ts

from editvec.core.splice import TextEdit
from editvec.core.text import BOM
from editvec.syntax.imports import Import, ImportBlock, ImportItem, ImportStatement
from editvec.syntax.languages.base import ImportFacts
from editvec.syntax.token import encode

_Key = Callable[[ImportStatement], Any]


def adding(block: ImportBlock, imported: Import) -> TextEdit:
    """Return the edit that adds an import; the file must not have it."""
    imported = _in_style_of(block, imported)
    return (
        _into_list(block, imported)
        or _joined(block, imported)
        or _grouped(block, imported)
        or _new_statement(block, imported)
    )


def _in_style_of(block: ImportBlock, imported: Import) -> Import:
    """Return the import in the module system of the file, and with the keywords that the file uses for it."""
    form = block.form(imported.form)
    styles = [block.form(each.form).style for each in block.imports]
    if not form.same or not styles or form.style in styles or imported.is_for_types:
        return imported
    other = block.form(form.same)
    heads = [each.head for each in block.imports if block.form(each.form).style == other.style]
    head = next((head for head in heads if " " not in head), "import")
    item = imported.item
    if other.same == "named":
        item = re.sub(r"\s+as\s+", ": ", item)
    elif form.same == "named":
        item = re.sub(r"\s*:\s*", " as ", item)
    return replace(imported, form=other.name, head=head, item=item)


# Lists of items -------------------------------------------------------------------------------------------------------


def _into_list(block: ImportBlock, imported: Import) -> TextEdit | None:
    """Return the edit that adds an item to a statement that imports other things of the same module."""
    for statement in reversed(block.statements):
        for item in statement.items:
            around = item.node.parent
            one = item.imported
            if around is None or around.type not in block.facts.lists or one.is_all or imported.is_all:
                continue
            # Not `self`, nor a path: their lists are those of another module.
            alone = block.text(item.node) == one.item or not block.facts.paths
            if alone and (one.form, one.head, one.module) == (imported.form, imported.head, imported.module):
                return _inserted(block, block.elements(around), imported.item)
    return None


def _inserted(block: ImportBlock, elements: Sequence[ts.Node], item: str) -> TextEdit:
    data, new = block.data, encode(item)
    at = _place(block.facts, [block.text(each) for each in elements], item)
    first = elements[0]
    before = data[: first.start_byte].rstrip()
    own_lines = b"\n" in data[len(before) : first.start_byte]
    if not own_lines and len(elements) > 1:
        own_lines = all(b"\n" in data[one.end_byte : other.start_byte] for one, other in pairwise(elements))
    indent = data[data.rfind(b"\n", 0, first.start_byte) + 1 : first.start_byte]
    indent = b" " * len(indent) if indent.strip() else indent
    separator = b"," + block.newline + indent if own_lines else b", "
    if at < len(elements):
        start = elements[at].start_byte
        return TextEdit(start, start, new + separator)
    end = elements[-1].end_byte
    return TextEdit(end, end, separator + new)


def _place(facts: ImportFacts, texts: Sequence[str], item: str) -> int:
    """Return the index at which an item belongs in a list, by the order that the list has."""
    for name in facts.list_orders:
        key = _ITEM_ORDERS[name]
        keys = [key(text) for text in texts]
        if keys == sorted(keys):
            return sum(each <= key(item) for each in keys)
    return len(texts)


def _by_type(text: str) -> tuple[int, str]:
    """Order constants before classes before functions, as import sorters for Python do."""
    if text.isupper() and len(text) > 1:
        return 0, text.lower()
    return (1 if text[:1].isupper() else 2), text.lower()


_ITEM_ORDERS: dict[str, Callable[[str], Any]] = {
    "type": _by_type,
    "lower": lambda text: text.removeprefix("type ").lower(),
    "exact": lambda text: (text != "self", text.removeprefix("type ")),
}


def _joined(block: ImportBlock, imported: Import) -> TextEdit | None:
    """Return the edit that adds an import to a statement of another form, such as names to a default import."""
    joins = block.form(imported.form).joins
    for statement in block.statements:
        first = statement.first
        forms = {item.imported.form for item in statement.items}
        if first.module != imported.module or first.head != imported.head or len(forms) > 1:
            continue
        if first.form in joins:
            node = statement.items[0].node
            if first.form == "named" and node.parent is not None:
                node = node.parent
            there = block.data[node.start_byte : node.end_byte]
            text = joins[first.form].format(there="\0", item=imported.item)
            return TextEdit(node.start_byte, node.end_byte, encode(text).replace(b"\0", there))
    return None


# Statements -----------------------------------------------------------------------------------------------------------


def _text(block: ImportBlock, imported: Import) -> str:
    """Return a new statement."""
    spoken = block.data[: block.all[-1][1]] if block.all else block.data
    quote = "'" if spoken.count(b"'") >= spoken.count(b'"') else '"'
    ends = [block.data[: each.end].endswith(b";") for each in block.statements]
    end = ";" if (not ends and b";" in block.data) or ends.count(True) * 2 > len(ends) else ""
    name = imported.names[0] if imported.names else ""
    form = block.form(imported.form)
    text = form.text.format(
        head=imported.head, module=imported.module, item=imported.item, name=name, quote=quote, end=end
    )
    return text.replace(" ::", " ") if not imported.module else text


def _grouped(block: ImportBlock, imported: Import) -> TextEdit | None:
    """Return the edit that makes a group of the only statement, where the language groups statements in brackets."""
    opening, closing = block.facts.group
    if not opening or len(block.statements) != 1:
        return None
    (statement,) = block.statements
    around = statement.node.parent
    if around is None or around.type not in block.facts.scopes or around.parent != block.root:
        return None
    one = block.data[statement.start : statement.end]
    new = encode(_text(block, imported))
    other = replace(statement, head=statement.head)
    texts = sorted([(_rank(block, other.first), one), (_rank(block, imported), new)])
    lines = [b"\t" + text for _, text in texts]
    if texts[0][0] != texts[1][0]:
        lines.insert(1, b"")
    whole = block.newline.join([encode(opening), *lines, encode(closing)])
    return TextEdit(around.start_byte, around.start_byte + len(block.stripped(around)), whole)


def _rank(block: ImportBlock, imported: Import) -> int:
    """Return the position of an import's module in the usual order."""
    ranks = block.facts.ranks
    module = imported.module or imported.item
    if imported.form == "future":
        return 0
    others = ranks.index("") if "" in ranks else 0
    return next((at for at, each in enumerate(ranks) if each and re.match(each, module)), others)


def _new_statement(block: ImportBlock, imported: Import) -> TextEdit:
    text = _text(block, imported)
    groups = block.groups()
    if not groups:
        return _first_statement(block, text)
    rank = _rank(block, imported)
    best = max(groups, key=lambda group: max(_likeness(block, each, imported) for each in group))
    alike = max(_likeness(block, each, imported) for each in best)
    if not alike[1] and block.facts.apart:
        found = _own_group(block, groups, rank, text)
        if found is not None:
            return found
    behind = _neighbour(block, best, imported, text)
    if behind is None:
        return _before(block, best[0], text)
    return _behind(block, behind, text)


def _likeness(block: ImportBlock, statement: ImportStatement, imported: Import) -> tuple[bool, bool, int]:
    """Return how alike two imports are: the same keywords, the same rank, and the number of common segments."""
    separator = block.facts.separator
    ones, others = (text.split(separator) for text in (statement.first.module, imported.module))
    common = next((at for at, (a, b) in enumerate(zip(ones, others, strict=False)) if a != b), None)
    num_common = min(len(ones), len(others)) if common is None else common
    same_head = statement.head == imported.head or bool(block.facts.heads_first)
    return same_head, _rank(block, statement.first) == _rank(block, imported), num_common


def _own_group(
    block: ImportBlock, groups: Sequence[Sequence[ImportStatement]], rank: int, text: str
) -> TextEdit | None:
    """Return the edit that adds a group of its own, or None if the file does not separate its ranks."""
    ranks = [{_rank(block, each.first) for each in group} for group in groups]
    if any(len(each) > 1 for each in ranks):
        return None
    lower = [group for group, each in zip(groups, ranks, strict=True) if max(each) < rank]
    if lower:
        last = lower[-1][-1]
        end = block.line_end(last.end)
        return TextEdit(end, end, block.newline * 2 + _line(block, last, text))
    first = groups[0][0]
    start = block.line_start(first.start)
    return TextEdit(start, start, _line(block, first, text) + block.newline * 2)


def _neighbour(
    block: ImportBlock, group: Sequence[ImportStatement], imported: Import, text: str
) -> ImportStatement | None:
    """Return the statement of a group behind which a new one belongs; None for the start of the group."""
    new = ImportStatement(group[0].node, 0, 0, imported.head, (ImportItem(imported, group[0].node),))
    for key in _statement_keys(block, new, text):
        keys = [key(each) for each in group]
        if keys == sorted(keys):
            before = sum(each <= key(new) for each in keys)
            return group[before - 1] if before else None
    return max(group, key=lambda each: (_likeness(block, each, imported), each.start))


def _statement_keys(block: ImportBlock, new: ImportStatement, text: str) -> list[_Key]:
    """Return the orders in which a group of statements may be sorted."""
    heads = block.facts.heads_first

    def head(each: ImportStatement) -> int:
        return heads.index(each.head) if each.head in heads else 0

    def module(each: ImportStatement) -> str:
        return each.first.module or each.first.item

    def path(each: ImportStatement) -> str:
        separator, item = block.facts.separator, each.first.item
        return module(each) + (separator + item if block.facts.paths and each.first.module else "")

    def whole(each: ImportStatement) -> str:
        return text if each is new else block.data[each.start : each.end].decode(errors="replace")

    def rank(each: ImportStatement) -> int:
        return _rank(block, each.first)

    return [
        lambda each: (rank(each), head(each), path(each).lower()),
        lambda each: (rank(each), head(each), path(each)),
        lambda each: (rank(each), path(each).lower()),
        lambda each: (head(each), path(each).lower()),
        lambda each: path(each).lower(),
        path,
        lambda each: whole(each).lower(),
        whole,
    ]


def _indent(block: ImportBlock, statement: ImportStatement) -> bytes:
    line = block.data[block.line_start(statement.start) : statement.start]
    return line if not line.strip() else b""


def _behind(block: ImportBlock, statement: ImportStatement, text: str) -> TextEdit:
    end = block.line_end(statement.end)
    return TextEdit(end, end, block.newline + _line(block, statement, text))


def _before(block: ImportBlock, statement: ImportStatement, text: str) -> TextEdit:
    start = block.line_start(statement.start)
    return TextEdit(start, start, _line(block, statement, text) + block.newline)


def _line(block: ImportBlock, near: ImportStatement, text: str) -> bytes:
    """Return the line of a new statement near another one, without its line end."""
    around = near.node.parent
    is_alone = around is not None and around.parent == block.root
    opening = block.facts.group[0].removesuffix("(") if is_alone else ""
    return _indent(block, near) + encode(opening + text)


def _first_statement(block: ImportBlock, text: str) -> TextEdit:
    """Return the edit that adds the first import of a file, behind its header."""
    data, newline = block.data, block.newline
    at = _header_end(block)
    opening = encode(block.facts.group[0].removesuffix("(")) if block.facts.group[0] else b""
    begin = len(BOM) if data.startswith(BOM) else 0
    lead = newline * 2 if at > begin and not data[:at].endswith(b"\n") else newline if at > begin else b""
    rest = data[at:]
    blank = not rest.strip() or rest.lstrip(b" \t").startswith((b"\n\n", b"\r\n\r\n"))
    if at > begin:
        return TextEdit(at, at, lead + opening + encode(text) + (b"" if blank or rest[:1] in b"\r\n" else newline))
    blank = rest.startswith((b"\n", b"\r\n")) or not rest
    return TextEdit(at, at, opening + encode(text) + newline + (b"" if blank else newline))


def _header_end(block: ImportBlock) -> int:
    """Return the end of what stands before the imports of a file: comments, a docstring, a package, a guard."""
    data = block.data
    end = len(BOM) if data.startswith(BOM) else 0
    waiting = list(block.root.children)
    while waiting:
        node = waiting.pop(0)
        if node.type in block.facts.scopes and data.startswith(b"#ifndef", node.start_byte) and not end:
            waiting = [child for child in node.children if child.is_named and child.type != "identifier"]
            continue
        kind = node.type
        if kind == "expression_statement" and node.child_count and node.children[0].type == "string":
            kind = "expression_statement string"
        text_end = node.start_byte + len(block.stripped(node))
        if kind in block.language.comments:
            behind = data[text_end:]
            if re.match(rb"[ \t\r]*\n[ \t\r]*\n", behind) or _leads(block, waiting):
                end = text_end
            elif not waiting or waiting[0].type not in block.language.comments:
                break
        elif kind in block.facts.header:
            end = block.line_end(text_end)
        else:
            break
    return end


def _leads(block: ImportBlock, following: Sequence[ts.Node]) -> bool:
    """Return whether the next node that is no comment belongs to the header."""
    node = next((each for each in following if each.type not in block.language.comments), None)
    return node is not None and node.type in block.facts.header
