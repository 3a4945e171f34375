"""The comments of a file, in any language that has some."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import tree_sitter as ts

from editvec.core.text import line_of, line_starts
from editvec.syntax.languages import Language, Markup, known
from editvec.syntax.treesitter import Parsed


class Comment(NamedTuple):
    """A comment: the bytes [start, end), and its first and last line, counted from 0 and inclusive."""

    start: int
    end: int
    first: int
    last: int
    alone: bool
    """Whether its lines hold nothing else."""


def comments_of(language_name: str, data: bytes) -> list[Comment]:
    """Return the comments of a UTF-8 text, in order; none for a language without comments."""
    language = known().get(language_name)
    if language is None:
        return []
    if isinstance(language, Markup):
        spans = [(match.start(), match.end()) for match in _pattern(language).finditer(data)]
    else:
        spans = list(_nodes(Parsed(language, data).tree.root_node, language))
    starts = line_starts(data)
    found = []
    for start, end in spans:
        # Some grammars count the line feed as part of the comment.
        end = start + len(data[start:end].rstrip(b"\r\n"))
        first, last = line_of(starts, start), line_of(starts, max(start, end - 1))
        before, behind = data[starts[first] : start], data[end : starts[last + 1]]
        found.append(Comment(start, end, first, last, not (before + behind).strip()))
    return found


@cache
def _pattern(language: Markup) -> re.Pattern[bytes]:
    return re.compile(language.comment.encode(), re.MULTILINE)


def _nodes(root: ts.Node, language: Language) -> Iterator[tuple[int, int]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in language.comments:
            yield node.start_byte, node.end_byte
        else:
            waiting += reversed(node.children)
