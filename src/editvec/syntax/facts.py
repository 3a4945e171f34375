"""Grammars, parsers and compiled queries of the languages, with caches of the names that texts declare.

The caches pay off because the same texts come again in other versions of a file.
"""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TypeVar

import tree_sitter as ts

from editvec.core.errors import LimitError
from editvec.core.text import line_of, line_starts
from editvec.syntax.languages.base import Language
from editvec.syntax.layout import Span
from editvec.syntax.token import decode

MAX_PARSE_SECONDS = 10
"""Maximum duration of a parse; code that people wrote takes a small part of it."""
MAX_ANGLES = 3_000
"""Maximum number of open angle brackets in a statement of a language in which they can be brackets of types."""
_STATEMENT_END = re.compile(rb"[;{}]")
_END = 0xFFFFFFFF
_K = TypeVar("_K")
_T = TypeVar("_T")
Captured = tuple[frozenset[str], frozenset[str]]
"""The names that a query captures as @name and as @member.

A name captured as @name is reached as it is, one captured as @member through `this` or `self`.
"""


class Recent(OrderedDict[_K, _T]):
    """A mapping with a maximum size that drops its oldest entries."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def __setitem__(self, key: _K, value: _T) -> None:
        super().__setitem__(key, value)
        while len(self) > self.size:
            self.popitem(last=False)


class Declarations:
    """A query for declared names, with caches of its captures."""

    def __init__(self, grammar: ts.Language, query: str) -> None:
        self.query = ts.Query(grammar, query)
        self.by_text = Recent[int, Captured](200_000)
        """The captures by the hash of the declaring text, which versions of a file mostly share."""
        self.outside = Recent[int, dict[str, tuple[bool, bool]]](500)
        """The known names by the hash of all the text outside blocks.

        Each name maps to whether that text declares it as @name, and whether as @member.
        """

    def captures(self, node: ts.Node) -> dict[str, list[ts.Node]]:
        """Return the nodes that the query captures below a node, by the names of the captures."""
        return ts.QueryCursor(self.query).captures(node)

    def names(self, node: ts.Node) -> Captured:
        """Return the names that the query captures below a node as @name and as @member."""
        captured = self.captures(node)
        return texts(captured, "name"), texts(captured, "member")


def texts(captured: dict[str, list[ts.Node]], name: str) -> frozenset[str]:
    """Return the texts of the nodes captured under a name."""
    return frozenset([decode(node.text) for node in captured.get(name, ()) if node.text])


class Facts:
    """A language ready for parsing: its grammar, its compiled queries and its parser."""

    def __init__(self, language: Language) -> None:
        module, function = language.grammar.split(":")
        self.language = language
        self.grammar = ts.Language(getattr(import_module(module), function)())
        with warnings.catch_warnings():
            # tree-sitter has a newer way to limit the time, but for texts that it reads in pieces only.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.parser = ts.Parser(self.grammar, timeout_micros=MAX_PARSE_SECONDS * 1_000_000)
        self.locals = Declarations(self.grammar, language.locals_query)
        self.members = Declarations(self.grammar, language.members_query)
        self.authors = Declarations(
            self.grammar, language.authors_query or language.locals_query + language.members_query
        )
        self.declared = [(re.compile(before), re.compile(behind)) for before, behind in language.declared]

    def parse(self, data: bytes, spans: Sequence[Span] | None = None, old: ts.Tree | None = None) -> ts.Tree:
        """Return the tree of a file, or of some of its bytes.

        `spans` are the bytes to parse, in order. `old` is the tree of a previous version whose nodes were moved to
        their positions in this file; it makes parsing faster.

        Raises:
            LimitError: The text takes too long to parse.
        """
        if spans is None:
            self.parser.included_ranges = [ts.Range((0, 0), (_END, _END), 0, _END)]
        else:
            # No caller reads a node's row, but tree-sitter's error recovery depends on rows.
            starts = line_starts(data)
            rows = [(line_of(starts, low), line_of(starts, high)) for low, high in spans]
            self.parser.included_ranges = [
                ts.Range((row, low - starts[row]), (end_row, high - starts[end_row]), low, high)
                for (low, high), (row, end_row) in zip(spans, rows, strict=True)
            ]
        if not self.is_readable(data):
            raise LimitError(f"a {self.language.name} text has more than {MAX_ANGLES:,} open angle brackets.")
        try:
            return self.parser.parse(data, old) if old is not None else self.parser.parse(data)
        except ValueError:
            # What is left of the parse would be continued by the next call.
            self.parser.reset()
            raise LimitError(
                f"a {self.language.name} text of {len(data):,} bytes takes more than {MAX_PARSE_SECONDS} s to parse."
            ) from None

    def is_readable(self, data: bytes) -> bool:
        """Return whether a text has no thousands of open angle brackets.

        Where they can be brackets of types, the parser tries both readings of each, which takes cubic time in one step
        that no time limit interrupts.
        """
        if not self.language.type_brackets or data.count(b"<") <= MAX_ANGLES:
            return True
        return all(
            part.count(b"<") - part.count(b">") - 2 * part.count(b"<<") <= MAX_ANGLES
            for part in _STATEMENT_END.split(data)
        )


@cache
def facts_of(language: Language) -> Facts:
    """Return the facts of a language; they are created once per process."""
    return Facts(language)
