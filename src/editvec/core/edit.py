"""The record that every package uses: an edit, where it comes from, and its canonical form.

This module owns plain frozen data. It does not know git, programming languages or file formats, and imports nothing of
the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """One side of an edit: its text, its tokens, and its tree if the data contains one."""

    text: str
    tokens: Tokens
    tree: str | None = None
    """The tree as `syntax.tree.dumps` writes it; None if it has to be parsed from the text."""


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of an edit."""

    repository: str
    commit: str = ""
    path: str = ""
    author: str = ""
    author_date: datetime | None = None
    lines_before: tuple[int, int] | None = None
    """The first and the last line (1-based, inclusive) that the edit covers in the version before."""
    lines_after: tuple[int, int] | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Canonical:
    """An edit's tokens with declared names as VAR0, VAR1, etc. and literals as LITERAL, and the map back.

    Each sequence is as long as the original token sequence. `names[i]` is the original name of VARi. `literals` are
    the original texts of the LITERAL tokens, in order over before, after, context before and context behind.
    """

    before: Tokens
    after: Tokens
    context_before: Tokens
    context_behind: Tokens
    names: Tokens
    literals: Tokens


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit `before → after` with its context and its origin."""

    id: str
    language: str
    before: Version
    after: Version
    context_before: Tokens = ()
    context_behind: Tokens = ()
    canonical: Canonical | None = None
    """The canonical form; None if models read the tokens as they are (prose, and data that is already canonical)."""
    source: Source | None = None
    label: str = ""
    """The kind of edit, if the data names one (such as the fixer in C#Fixers)."""
    extra: str = ""
    """Fields of a foreign format that have no counterpart here, as JSON, so that they can be written back."""

    @property
    def model_before(self) -> Tokens:
        """Return the tokens of the version before, as models read them."""
        return self.canonical.before if self.canonical else self.before.tokens

    @property
    def model_after(self) -> Tokens:
        """Return the tokens of the version after, as models read them."""
        return self.canonical.after if self.canonical else self.after.tokens

    @property
    def model_context(self) -> tuple[Tokens, Tokens]:
        """Return the context tokens before and behind the edit, as models read them."""
        if self.canonical:
            return self.canonical.context_before, self.canonical.context_behind
        return self.context_before, self.context_behind


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A file in which somebody has shown an edit: its whole text before and after, as UTF-8."""

    path: str
    before: bytes
    after: bytes
