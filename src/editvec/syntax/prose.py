"""Lossless splitting of prose: files into paragraphs, sentences and tokens.

A paragraph is a run of lines that the markup does not interrupt. Code blocks, tables, directives and the like are not
paragraphs. A sentence ends with punctuation that is followed by white space and by something that can start a
sentence, unless the word before is a known abbreviation or an initial.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from editvec.syntax import markdown
from editvec.syntax.languages.base import Markup
from editvec.syntax.markdown import Paragraph
from editvec.syntax.token import Token, decode

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_BOUNDARY = re.compile(r"[.!?…][\"'”’)\]*_`]*(?=\s+[\"'“‘(\[*_`]*[A-Z0-9\u00c0-\u00de`*\[\\])|[。！？]")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“‘])(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|al|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Fig|Eq|Sec|Ch|resp|approx|"
    r"incl|viz|ca|pp|Vol|Ref|Inc|Ltd|Co|Corp|U\.S|a\.k\.a|w\.r\.t)\.$"
)


class Span(NamedTuple):
    """The characters [start, end) of a text."""

    start: int
    end: int


def tokenize(data: bytes) -> list[Token]:
    """Return the words and punctuation with their bytes; only white space is between them."""
    text = decode(data)
    tokens = []
    chars = at = 0
    for match in _TOKEN.finditer(text):
        at += len(text[chars : match.start()].encode("utf-8", "surrogateescape"))
        word = match.group()
        size = len(word.encode("utf-8", "surrogateescape"))
        tokens.append(Token(word, at, at + size))
        at += size
        chars = match.end()
    return tokens


def words(text: str) -> tuple[str, ...]:
    """Return the tokens of a sentence."""
    return tuple(_TOKEN.findall(text))


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of a paragraph, without the white space between them."""
    spans = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match.group()[0] == "." and _ABBREVIATION.search(text, start, match.start() + 1):
            continue
        spans.append(_trim(text, start, match.end()))
        start = match.end()
    spans.append(_trim(text, start, len(text)))
    return [span for span in spans if span.start < span.end]


def _trim(text: str, start: int, end: int) -> Span:
    """Return the span without the white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


class _Begun(NamedTuple):
    """A block to leave out that begins in a line: the pattern that ends it, and whether it ends in the same line."""

    closing: re.Pattern[str]
    is_over: bool


class _Patterns:
    """The compiled patterns of a markup."""

    def __init__(self, markup: Markup) -> None:
        self.fences = [(re.compile(opening), closing) for opening, closing in markup.fences]
        self.skip, self.marker = re.compile(markup.skip), re.compile(markup.marker)
        self.starts, self.follows = re.compile(markup.starts), re.compile(markup.follows)
        self.code = re.compile(r"(\t| {4,})\S" if markup.indented_code else "(?!)")

    def begun(self, line: str) -> _Begun | None:
        """Return the block to leave out that begins in a line, or None."""
        for opening, closing in self.fences:
            if match := opening.match(line):
                ends = re.compile(closing.replace("{opened}", re.escape(match[1])))
                return _Begun(ends, ends.match(line, match.end()) is not None)
        return None


_patterns_of = cache(_Patterns)


def paragraphs(markup: Markup, lines: list[str]) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file, given its lines."""
    return markdown.paragraphs(lines) if markup.is_markdown else _by_lines(markup, lines)


def _by_lines(markup: Markup, lines: list[str]) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file whose markup is described line by line."""
    patterns = _patterns_of(markup)
    run: list[str] = []
    first = 0
    listed = False
    closing: re.Pattern[str] | None = None
    blank_before = True
    for number, line in enumerate(lines):
        bare = line.rstrip("\r\n")
        if closing is not None:
            closing = None if closing.match(bare) else closing
            blank_before = True
            continue
        begun = patterns.begun(bare)
        code = blank_before and not run and patterns.code.match(bare)
        interrupts = begun is not None or not bare.strip() or patterns.skip.match(bare) or code
        starts = patterns.starts.match(bare) or ((listed or not run) and patterns.follows.match(bare))
        if run and (interrupts or starts):
            yield Paragraph(first, number - 1, "\n".join(run))
            run = []
        if begun is not None:
            closing = None if begun.is_over else begun.closing
        elif not interrupts:
            if not run:
                first, listed = number, bool(starts)
            text = bare[match.end() :] if (match := patterns.marker.match(bare)) else bare
            run.append(text if not run else bare.strip())
        blank_before = not bare.strip() or bool(code)
    if run:
        yield Paragraph(first, len(lines) - 1, "\n".join(run))
