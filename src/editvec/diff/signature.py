"""The shape of an edit: what was taken away and what was put in, run by run, with variables by order of first use.
Edits of one shape make the same change to different code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from editvec.core.edit import Edit, Tokens
from editvec.diff.alignment import Alignment, Tag, align

ChangedTokens = frozenset[tuple[str, str]]
_VARIABLE = re.compile(r"VAR\d+$")
_NO_NAME = "LITERAL"
_JOINTS = frozenset("()[]{}.,;:")
"""What comes and goes with the names around a change."""


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """Runs of changed tokens in order, each (removed, added)."""

    runs: tuple[tuple[Tokens, Tokens], ...]

    @property
    def changes(self) -> frozenset[tuple[str, str]]:
        """Every changed token with its sign."""
        return frozenset(
            (sign, token)
            for removed, added in self.runs
            for sign, tokens in (("-", removed), ("+", added))
            for token in tokens
        )

    @property
    def says_something(self) -> bool:
        """Whether a token other than a variable or a literal was changed: without one, nothing ties the edits
        together."""
        return any(_is_own(token) for _, token in self.changes)

    @property
    def names_something(self) -> bool:
        """Whether a word was changed, a name or a keyword, and not punctuation alone."""
        return any(_is_own(token) and any(map(str.isalpha, token)) for _, token in self.changes)

    @property
    def is_whole(self) -> bool:
        """Whether one edit of this shape says all of what another one does: no variable is put in that was not taken
        away."""
        known = {token for removed, _ in self.runs for token in removed}
        return all(token in known for _, added in self.runs for token in added if _VARIABLE.match(token))

    @property
    def removed_names(self) -> frozenset[str]:
        """The tokens that were taken away, other than variables and literals: they stand so in every before."""
        return frozenset(token for sign, token in self.changes if sign == "-" and _is_own(token))


def signature_of(edit: Edit) -> Signature:
    """The shape of an edit."""
    return signature_between(edit.model_before, edit.model_after)


def changed_tokens_between(before: Tokens, after: Tokens) -> ChangedTokens:
    """The words and operators that are put in and those that are taken away for good, with their signs: the same for
    `x = x + 1 → x++` and `this.n = this.n + 1 → this.n++`, another one for `x = x - 1 → x++`."""
    stays = frozenset(after)
    return frozenset(
        (sign, token)
        for sign, token in signature_between(before, after).changes
        if _is_own(token) and token not in _JOINTS and (sign == "+" or token not in stays)
    )


def signature_between(before: Tokens, after: Tokens, alignment: Alignment | None = None) -> Signature:
    """The shape of what happened to tokens, whose alignment may be known."""
    numbers: dict[str, str] = {}

    def named(token: str) -> str:
        return numbers.setdefault(token, f"VAR{len(numbers)}") if _VARIABLE.match(token) else token

    return Signature(
        tuple(
            (tuple(map(named, removed)), tuple(map(named, added)))
            for removed, added in _runs(before, after, alignment or align(before, after))
        )
    )


def alikeness(one: Signature, other: Signature) -> float:
    """The share of changed tokens that two shapes have in common (Jaccard)."""
    together = one.changes | other.changes
    return len(one.changes & other.changes) / len(together) if together else 1.0


def _is_own(token: str) -> bool:
    """Whether a token stands for itself alone."""
    return not _VARIABLE.match(token) and token != _NO_NAME


def _runs(before: Tokens, after: Tokens, alignment: Alignment) -> Iterator[tuple[Tokens, Tokens]]:
    for changed, positions in groupby(alignment.positions, lambda place: place.tag is not Tag.EQUAL):
        if changed:
            run = list(positions)
            yield (
                tuple(before[place.before] for place in run if place.before is not None),
                tuple(after[place.after] for place in run if place.after is not None),
            )
