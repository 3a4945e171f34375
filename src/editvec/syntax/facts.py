"""A language made ready to parse with: its grammar, its queries, and what was learned of texts that come again."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TypeVar

import tree_sitter as ts

from editvec.core.text import line_of, line_starts
from editvec.syntax.languages.base import Language
from editvec.syntax.layout import Span
from editvec.syntax.token import decode

_END = 0xFFFFFFFF
_K = TypeVar("_K")
_T = TypeVar("_T")
Captured = tuple[frozenset[str], frozenset[str]]
"""Names that a query captures as @name and as @member: reached by the bare name, and through `this` or `self`."""


class Recent(OrderedDict[_K, _T]):
    """A mapping that forgets its oldest entries beyond a size."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def __setitem__(self, key: _K, value: _T) -> None:
        super().__setitem__(key, value)
        while len(self) > self.size:
            self.popitem(last=False)


class Declarations:
    """A query for declared names, with what it captured in texts that may come again."""

    def __init__(self, grammar: ts.Language, query: str) -> None:
        self.query = ts.Query(grammar, query)
        self.by_text = Recent[int, Captured](200_000)
        """By the hash of the text that declares them: versions of a file mostly share it."""
        self.outside = Recent[int, dict[str, tuple[bool, bool]]](500)
        """By the hash of all that stands outside blocks: name → whether that declares it as @name, and as @member."""

    def captures(self, node: ts.Node) -> dict[str, list[ts.Node]]:
        """The nodes that the query captures below a node, by the names of the captures."""
        return ts.QueryCursor(self.query).captures(node)

    def names(self, node: ts.Node) -> Captured:
        """What the query captures below a node as @name and as @member."""
        captured = self.captures(node)
        return texts(captured, "name"), texts(captured, "member")


def texts(captured: dict[str, list[ts.Node]], name: str) -> frozenset[str]:
    """The texts of what was captured under a name."""
    return frozenset([decode(node.text) for node in captured.get(name, ()) if node.text])


class Facts:
    """A language made ready: its grammar loaded, its queries compiled, its parser waiting."""

    def __init__(self, language: Language) -> None:
        module, function = language.grammar.split(":")
        self.language = language
        self.grammar = ts.Language(getattr(import_module(module), function)())
        self.parser = ts.Parser(self.grammar)
        self.locals = Declarations(self.grammar, language.locals_query)
        self.members = Declarations(self.grammar, language.members_query)
        self.authors = Declarations(
            self.grammar, language.authors_query or language.locals_query + language.members_query
        )
        self.declared = [(re.compile(before), re.compile(behind)) for before, behind in language.declared]

    def parse(self, data: bytes, spans: Sequence[Span] | None = None, old: ts.Tree | None = None) -> ts.Tree:
        """The tree of a file, or of some bytes of it, in order; on top of an old one whose nodes are where they are in
        this file."""
        if spans is None:
            self.parser.included_ranges = [ts.Range((0, 0), (_END, _END), 0, _END)]
        else:
            # Nobody asks for a node's row, but how tree-sitter mends broken code depends on them.
            starts = line_starts(data)
            rows = [(line_of(starts, low), line_of(starts, high)) for low, high in spans]
            self.parser.included_ranges = [
                ts.Range((row, low - starts[row]), (end_row, high - starts[end_row]), low, high)
                for (low, high), (row, end_row) in zip(spans, rows, strict=True)
            ]
        return self.parser.parse(data, old) if old is not None else self.parser.parse(data)


@cache
def facts_of(language: Language) -> Facts:
    """The language made ready, once per process."""
    return Facts(language)
