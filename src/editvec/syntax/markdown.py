"""Paragraphs of Markdown files: markdown-it-py finds the blocks, and this module keeps those that are prose.

It knows nothing of sentences and words (see `prose`). Front matter, code, tables, comments, scripts, and lines of
images, components and template directives are not prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FENCES = ("---", "+++")
"""What stands around front matter."""
_SKIP = re.compile(r"\s*(?:\||!\[|:::|\{[{%]|\{/\*|\[!\w+\]\s*$|(?:<(?!https?:|mailto:)[^<>]*(?:>\s*|$))+$)")
"""Lines that are not prose, although they stand in a paragraph."""
_MARKER = re.compile(r"^\s*(?:\[[ xX]\]\s+|\[\^[^\]]+\]:\s*)")
"""The box of a task and the label of a footnote."""
_TAG = re.compile(r"\s*<(?!https?:|mailto:)")
"""Lines of an HTML block that begin with a tag."""
_HIDDEN = re.compile(r"\s*<(?:!|\?|script\b|style\b|pre\b|textarea\b|svg\b|table\b|iframe\b|video\b)", re.IGNORECASE)
"""The beginning of HTML that holds no prose."""


class Paragraph(NamedTuple):
    """A paragraph: its first and last line (0-based, inclusive) and the text of its lines without markers."""

    first: int
    last: int
    text: str


def paragraphs(lines: Sequence[str]) -> Iterator[Paragraph]:
    """Yield the paragraphs, items and headings of a Markdown file, given its lines."""
    start = _front_matter(lines)
    # Only "\n" may end a line here, so that the parser's line numbers are those of the file.
    yield from _blocks(start, [line.rstrip("\r\n").replace("\r", " ").replace("\n", " ") for line in lines[start:]])


def _blocks(first: int, lines: Sequence[str]) -> Iterator[Paragraph]:
    """Yield the paragraphs of some lines; `first` is the number of the first one."""
    num_tables = 0
    for token in _parser().parse("\n".join(lines)):
        num_tables += (token.type == "table_open") - (token.type == "table_close")
        if token.map and token.type == "inline" and not num_tables:
            yield from _prose(first + token.map[0], token.content.split("\n"))
        elif token.map and token.type == "html_block" and not _HIDDEN.match(token.content):
            # What stands between the tags is often Markdown again.
            for number, run in _runs(token.content.split("\n"), _TAG):
                yield from _blocks(first + token.map[0] + number, dedent("\n".join(run)).split("\n"))


def _front_matter(lines: Sequence[str]) -> int:
    """Return the number of lines of the front matter."""
    mark = lines[0].rstrip() if lines else ""
    if mark in _FENCES:
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == mark:
                return number + 1
    return 0


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _prose(first: int, lines: Sequence[str]) -> Iterator[Paragraph]:
    """Yield the runs of lines of a block that are prose; `first` is the number of its first line."""
    for number, (head, *others) in _runs(lines, _SKIP):
        text = "\n".join(line.strip() for line in (_MARKER.sub("", head), *others))
        yield Paragraph(first + number, first + number + len(others), text)


def _runs(lines: Sequence[str], skip: re.Pattern[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the runs of lines that are not blank and do not match a pattern, each with the number of its first line."""
    run: list[str] = []
    for number, line in enumerate([*lines, ""]):
        if line.strip() and not skip.match(line):
            run.append(line)
        elif run:
            yield number - len(run), run
            run = []
