"""The files in which edits are looked for, and the places that are found in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import tree_sitter as ts

from editvec.core.errors import LimitError
from editvec.syntax.facts import facts_of
from editvec.syntax.languages import Language, known
from editvec.syntax.lexer import LexedText, Tokens

_WINDOW = 6
"""Number of lines above and below an anchor in which a hypothesis may match."""
_MAX_PARSED = 300_000
"""Maximum size of a file that is parsed, in bytes."""


@dataclass(frozen=True)
class Window:
    """The tokens of some lines of a file."""

    tokens: Tokens
    first_line: int

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Return the different tokens."""
        return frozenset(self.tokens.texts)


class SearchedFile:
    """A file in which edits are looked for."""

    def __init__(self, path: str, language: str, data: bytes) -> None:
        self.path, self.language, self.data = path, language, data
        self.lexed = LexedText(data)
        self._windows: dict[int, Window] = {}

    @cached_property
    def tree(self) -> ts.Tree | None:
        """Return the tree of the file, or None if it is not code, too large or takes too long to parse."""
        language = known().get(self.language)
        if not isinstance(language, Language) or len(self.data) > _MAX_PARSED:
            return None
        try:
            return facts_of(language).parse(self.data)
        except LimitError:
            return None

    def window(self, line: int) -> Window:
        """Return the tokens of a line and of the lines around it."""
        if line not in self._windows:
            self._windows[line] = Window(self.lexed.lines(line - _WINDOW, line + _WINDOW + 1), line - _WINDOW)
        return self._windows[line]


@dataclass(eq=False, slots=True)
class EditMatch:
    """A place in a file with what hypotheses would make of it."""

    file: SearchedFile
    start: int
    end: int
    after: bytes
    window: Window
    low: int
    """The first token of the window that the edit concerns; the edit concerns the tokens [low, high)."""
    high: int
    line: int
    """The 0-based line of the first changed byte."""
    repeats: bool = False
    """Whether the one word that the edit inserts stands directly beside the place already."""
    hypotheses: list[int] = field(default_factory=list)
    """The numbers of the hypotheses that propose this edit."""
