"""Read the imports of a file: what each one binds, where it stands, and which names the file uses.

`import_edits` writes them. This module knows the forms of imports from the facts of the languages, and no repository.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import tree_sitter as ts

from editvec.syntax.cst import parse
from editvec.syntax.facts import facts_of
from editvec.syntax.languages.base import ImportFacts, ImportForm, Language
from editvec.syntax.token import decode

_WORD = re.compile(rb"(?<![\w$])(?:[^\W\d]|[$_])[\w$]*")
_MEMBER = re.compile(rb"(?:^|[^.])\.\s*\Z")
_VERSION = re.compile(r"v\d+")
_ALIAS = re.compile(r"\s+as\s+|\s*:\s*")
_READ_COMMENTS = (b"/**", b"///", b"# type:")
"""Beginnings of comments that tools read, so that a name in them is used."""
_DECLARING = re.compile(r"(?:declaration|declarator|definition|assignment|specifier|_item|_spec)\Z")
"""Ends of the kinds that declare a name, in all grammars."""
_OPTIONAL = frozenset({"if_statement", "try_statement", "block", "else_clause", "except_clause"})
"""Kinds around an import that may run when the file is loaded."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported thing.

    `head` holds the first keywords of its statement, `item` the text that stands for it alone. `names` are the names
    that it may bind: empty if they cannot be known from the file, several if they are a guess.
    """

    form: str
    head: str
    module: str
    item: str
    names: tuple[str, ...]

    @property
    def is_all(self) -> bool:
        """Return whether everything that the module exports is imported, under names of its own."""
        return self.item.endswith("*")

    @property
    def is_for_types(self) -> bool:
        """Return whether the import exists for the type checker alone, as in TypeScript's `import type`."""
        return self.head == "import type" or self.item.startswith("type ")

    @property
    def member(self) -> str:
        """Return the name that the module has for what is imported."""
        return _ALIAS.split(self.item)[0].removeprefix("type ")


@dataclass(frozen=True, eq=False)
class ImportItem:
    """An import with the node that stands for it in its statement."""

    imported: Import
    node: ts.Node


@dataclass(frozen=True, eq=False)
class ImportStatement:
    """A statement that imports something: the bytes [start, end), without white space at its end."""

    node: ts.Node
    start: int
    end: int
    head: str
    items: tuple[ImportItem, ...]

    @property
    def first(self) -> Import:
        """Return the first import of the statement."""
        return self.items[0].imported


class ImportBlock:
    """The imports of a file."""

    def __init__(self, language: Language, data: bytes) -> None:
        self.language = language
        self.data = data
        self.facts: ImportFacts = language.importing
        self._tree = parse(language, data)
        self.root = self._tree.root_node
        self.statements: list[ImportStatement] = []
        """The statements whose names hold for the rest of the file, in order."""
        self.optional: list[Import] = []
        """Imports that may be skipped when the file is loaded, such as those in a `try`."""
        self.all: list[tuple[int, int]] = []
        """The bytes of every import, wherever it stands."""
        self._read()

    @property
    def imports(self) -> list[Import]:
        """Return what the statements import, in order."""
        return [item.imported for statement in self.statements for item in statement.items]

    @property
    def newline(self) -> bytes:
        """Return the line end that most lines have."""
        return b"\r\n" if 2 * self.data.count(b"\r\n") > self.data.count(b"\n") else b"\n"

    def text(self, node: ts.Node) -> str:
        """Return the text of a node, with each run of white space as one space."""
        return " ".join(decode(self.data[node.start_byte : node.end_byte]).split())

    def stripped(self, node: ts.Node) -> bytes:
        """Return the bytes of a node without white space at its end."""
        return self.data[node.start_byte : node.end_byte].rstrip()

    def elements(self, around: ts.Node) -> list[ts.Node]:
        """Return the elements of a list, in order."""
        module = around.child_by_field_name("module_name")
        comments = self.language.comments
        return [each for each in around.children if each.is_named and each.type not in comments and each != module]

    def line_start(self, offset: int) -> int:
        """Return the start of the line of an offset."""
        return self.data.rfind(b"\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Return the end of the line of an offset, without its line end."""
        end = self.data.find(b"\n", offset)
        end = len(self.data) if end < 0 else end
        return end - 1 if self.data[offset:end].endswith(b"\r") else end

    def _read(self) -> None:
        found: dict[int, tuple[ts.Node, list[ImportItem]]] = {}
        for form, captured in self._matches():
            (item,) = captured["item"]
            statement = self._statement(item)
            if statement is not None:
                imported = self._import(form, captured, statement)
                found.setdefault(statement.id, (statement, []))[1].append(ImportItem(imported, item))
        for statement, items in sorted(found.values(), key=lambda each: each[0].start_byte):
            items.sort(key=lambda each: each.node.start_byte)
            end = statement.start_byte + len(self.data[statement.start_byte : statement.end_byte].rstrip())
            self.all.append((statement.start_byte, end))
            around = list(_around(statement))
            if all(node.type in self.facts.scopes for node in around):
                head = self._head(statement)
                self.statements.append(ImportStatement(statement, statement.start_byte, end, head, tuple(items)))
            elif all(self._is_optional(node) for node in around):
                self.optional += [each.imported for each in items]

    def _matches(self) -> Iterator[tuple[ImportForm, dict[str, list[ts.Node]]]]:
        for form in self.facts.forms:
            for _, captured in ts.QueryCursor(_query(self.language, form.query)).matches(self.root):
                if "item" in captured:
                    yield form, captured

    def _statement(self, item: ts.Node) -> ts.Node | None:
        node: ts.Node | None = item
        while node is not None and node.type not in self.facts.statements:
            node = node.parent
        return node

    def _head(self, statement: ts.Node) -> str:
        """Return the keywords before the first part of a statement that has a meaning of its own."""
        words = []
        for child in statement.children:
            if child.is_named and child.type != "visibility_modifier":
                break
            words.append(self.text(child))
        return " ".join(words)

    def _is_optional(self, node: ts.Node) -> bool:
        """Return whether the imports in a node hold for the file if they are reached."""
        first_line = self.data[node.start_byte : node.end_byte].split(b"\n", 1)[0]
        return node.type in self.facts.scopes | _OPTIONAL and b"TYPE_CHECKING" not in first_line

    def _import(self, form: ImportForm, captured: dict[str, list[ts.Node]], statement: ts.Node) -> Import:
        item, head = self.text(captured["item"][0]), self._head(statement)
        module = self.text(captured["module"][0]) if "module" in captured else ""
        names: tuple[str, ...] = ()
        if self.facts.paths:
            module, item, name = self._path(captured["item"][0])
            names = (name,)
        if "name" in captured:
            names = (self.text(captured["name"][0]),)
        elif form.binds:
            names = _bound(form, module.split(self.facts.separator))
        if item.endswith("*") and "name" not in captured:
            names = ()
        return Import(form.name, head, module, item, () if names in (("_",), (".",)) else names)

    def _path(self, item: ts.Node) -> tuple[str, str, str]:
        """Return the module, the item and the name of an import whose path begins in the nodes around it."""
        separator = self.facts.separator
        parts = [self.text(item)]
        node = item.parent
        while node is not None and node.type not in self.facts.statements:
            path = node.child_by_field_name(self.facts.paths.get(node.type, ""))
            if path is not None:
                parts.insert(0, self.text(path))
            node = node.parent
        if parts[-1] == "self" and len(parts) > 1:
            parts.pop()
        elif parts[-1].startswith("self as "):
            parts[-2:] = [parts[-2] + parts[-1].removeprefix("self")]
        module, _, last = separator.join(parts).rpartition(separator)
        return module, last, last

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """Return the packages whose names the file sees without an import."""
        if not self.facts.package:
            return ()
        cursor = ts.QueryCursor(_query(self.language, self.facts.package))
        return tuple(self.text(node) for node in cursor.captures(self.root).get("package", ()))

    @cached_property
    def declared(self) -> frozenset[str]:
        """Return the names that the file itself declares outside of functions and types."""
        found = set()
        imports = {low for low, _ in self.all}
        waiting = [(child, 0) for child in self.root.children]
        while waiting:
            node, depth = waiting.pop()
            if node.start_byte in imports:
                continue
            name = node.child_by_field_name("name") or node.child_by_field_name("left")
            if name is not None and not name.children and _DECLARING.search(node.type):
                found.add(self.text(name))
            elif depth < 3 and node.type not in self.language.functions:
                waiting += [(child, depth + 1) for child in node.children if child.is_named]
        return frozenset(found)

    @cached_property
    def uses(self) -> Counter[str]:
        """Return how often each word stands in the file outside of imports and comments, except as a member."""
        skipped = sorted([*self.all, *self._comments()])
        found: Counter[str] = Counter()
        at = 0
        for low, high in [*skipped, (len(self.data), len(self.data))]:
            for word in _WORD.finditer(self.data, at, max(at, low)):
                if not _MEMBER.search(self.data, max(0, word.start() - 40), word.start()):
                    found[decode(word[0])] += 1
            at = max(at, high)
        return found

    @cached_property
    def words(self) -> Counter[str]:
        """Return how often each word stands in the file outside of imports and comments, members included."""
        text = bytearray(self.data)
        for low, high in [*self.all, *self._comments()]:
            text[low:high] = b" " * (high - low)
        return Counter(decode(word) for word in _WORD.findall(bytes(text)))

    def _comments(self) -> list[tuple[int, int]]:
        found = []
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.type in self.language.comments:
                if not self.data.startswith(_READ_COMMENTS, node.start_byte):
                    found.append((node.start_byte, node.end_byte))
            else:
                waiting += node.children
        return found

    def target(self, imported: Import) -> tuple[str, str]:
        """Return what an import imports, whatever its form and its alias: the module and the member."""
        form = self.form(imported.form)
        if form.name in ("default", "all", "require") and form.style:
            return imported.module, ""
        if form.binds or not imported.item or form.name in ("alias", "effect", "include", "namespace"):
            return imported.module, ""
        if self.facts.relative == "dots" and not imported.is_all:
            joint = "" if imported.module.endswith(".") else "."
            return f"{imported.module}{joint}{imported.member}", ""
        return imported.module, imported.member

    def form(self, name: str) -> ImportForm:
        """Return a form by its name."""
        return next(form for form in self.facts.forms if form.name == name)

    def status(self, imported: Import) -> str:
        """Return "bound" if the file has an import, "clash" if its name means something else, or "missing"."""
        here = [*self.imports, *self.optional]
        target = self.target(imported)
        same = [each for each in here if self.target(each) == target and _binds_same(each, imported)]
        if any(each.is_for_types <= imported.is_for_types for each in same):
            return "bound"
        if any(_sees(package, target[0], self.facts) for package in self.packages):
            return "bound"
        names = set(imported.names)
        if not same and any(each.is_all and not each.names and self._covers(each, imported) for each in here):
            return "bound"
        if (self.facts.relative or self.facts.paths) and len(names) == 1 and names & self.declared:
            return "bound" if not _dotted(imported) else "clash"
        others = [each for each in here if names & set(each.names) and self.target(each) != target]
        others = [each for each in others if not (_dotted(each) and _dotted(imported))]
        return "clash" if (others or same) and len(names) == 1 else "missing"

    def _covers(self, everything: Import, imported: Import) -> bool:
        """Return whether an import of everything holds another import."""
        if everything.head != imported.head:
            return False
        if self.form(imported.form).binds == "last":
            return imported.module.rpartition(self.facts.separator)[0] == everything.module
        return everything.module == imported.module and not _ALIAS.search(imported.item)

    def groups(self) -> list[list[ImportStatement]]:
        """Return the statements of the main scope in groups between which there is a blank line or other code."""
        counts = Counter(_scope(each) for each in self.statements)
        if not counts:
            return []
        scope = counts.most_common(1)[0][0]
        here = [each for each in self.statements if _scope(each) == scope]
        found = [[here[0]]]
        for one, other in pairwise(here):
            if self._adjacent(one.end, other.start):
                found[-1].append(other)
            else:
                found.append([other])
        return found

    def _adjacent(self, low: int, high: int) -> bool:
        """Return whether there are only comments and no blank line between two statements."""
        between = self.data[low:high]
        if re.search(rb"\n[ \t\r]*\n", between):
            return False
        marks = self.language.comment_marks
        lines = [line.strip(b" \t\r;") for line in between.split(b"\n")[1:-1]]
        return all(line.startswith(marks) for line in lines)


@cache
def _query(language: Language, text: str) -> ts.Query:
    return ts.Query(facts_of(language).grammar, text)


def _around(node: ts.Node) -> Iterator[ts.Node]:
    """Yield the nodes around a node, without the root."""
    above = node.parent
    while above is not None and above.parent is not None:
        yield above
        above = above.parent


def _scope(statement: ImportStatement) -> int:
    return statement.node.parent.id if statement.node.parent is not None else 0


def _bound(form: ImportForm, segments: list[str]) -> tuple[str, ...]:
    if form.binds == "first":
        return (segments[0],)
    if form.binds == "last":
        return (segments[-1],)
    last = segments[-2] if len(segments) > 1 and _VERSION.fullmatch(segments[-1]) else segments[-1]
    last = re.sub(r"\.v\d+$", "", last)
    parts = [part for part in re.split(r"[-.]", last) if part not in ("go", "")]
    return tuple(dict.fromkeys([last, *parts, "".join(parts)] if not last.isidentifier() else [last]))


def _binds_same(one: Import, other: Import) -> bool:
    return not other.names or bool(set(one.names) & set(other.names))


def _dotted(imported: Import) -> bool:
    """Return whether a module is imported under its first segment, which other imports may bind, too."""
    return imported.form == "module" and " as " not in imported.item


def _sees(package: str, module: str, facts: ImportFacts) -> bool:
    """Return whether a file in a package sees what an import names: the package's own members."""
    if facts.outer:
        return package == module or package.startswith(module + facts.separator)
    return module.rpartition(facts.separator)[0] == package
