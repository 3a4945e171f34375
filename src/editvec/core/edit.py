"""The one record that every room speaks: an edit, where it came from, and its canonical form.

This module owns plain frozen data. It knows neither git nor a language nor a file format, and imports nothing
of the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """One side of an edit: its text, its tokens, and its tree where the data came with one."""

    text: str
    tokens: Tokens
    tree: str | None = None
    """The tree as `syntax.tree.dumps` writes it; None where it is to be parsed from the text."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where an edit came from."""

    repository: str
    commit: str = ""
    path: str = ""
    author: str = ""
    author_date: datetime | None = None
    lines_before: tuple[int, int] | None = None
    """First and last line (1-based, inclusive) that the edit covers in the version before."""
    lines_after: tuple[int, int] | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Canonical:
    """An edit's tokens with declared names as VAR0, VAR1 … and literals as LITERAL, and the map back.

    Each sequence is as long as the tokens it stands for; `names[i]` is what VARi was called, and `literals` are
    the texts behind LITERAL in order over before, after, context before, context behind.
    """

    before: Tokens
    after: Tokens
    context_before: Tokens
    context_behind: Tokens
    names: Tokens
    literals: Tokens


@dataclass(frozen=True, slots=True)
class Edit:
    """`before → after`, in its context, with its origin."""

    id: str
    language: str
    before: Version
    after: Version
    context_before: Tokens = ()
    context_behind: Tokens = ()
    canonical: Canonical | None = None
    """None where the tokens are what a model sees: prose, and data that was canonical when it was read."""
    source: Source | None = None
    label: str = ""
    """What kind of edit this is, where somebody said so (the fixer of C#Fixers)."""
    extra: str = ""
    """Fields of a foreign format that have no place here, as JSON, so that writing gives them back."""

    @property
    def model_before(self) -> Tokens:
        """The tokens before, as a model sees them."""
        return self.canonical.before if self.canonical else self.before.tokens

    @property
    def model_after(self) -> Tokens:
        """The tokens after, as a model sees them."""
        return self.canonical.after if self.canonical else self.after.tokens

    @property
    def model_context(self) -> tuple[Tokens, Tokens]:
        """The context before and behind, as a model sees it."""
        if self.canonical:
            return self.canonical.context_before, self.canonical.context_behind
        return self.context_before, self.context_behind
