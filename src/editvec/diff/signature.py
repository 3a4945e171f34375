"""Signature of an edit: its runs of removed and added tokens, with variables numbered by first use.

Edits with the same signature make the same change to different code.
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
"""Punctuation that is added or removed together with the names around a change."""


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """The runs of changed tokens in order, each as (removed, added)."""

    runs: tuple[tuple[Tokens, Tokens], ...]

    @property
    def changes(self) -> frozenset[tuple[str, str]]:
        """Return every changed token with its sign, `-` or `+`."""
        return frozenset(
            (sign, token)
            for removed, added in self.runs
            for sign, tokens in (("-", removed), ("+", added))
            for token in tokens
        )

    @property
    def says_something(self) -> bool:
        """Return whether a token other than a variable or a literal was changed.

        Without such a token, edits with the same signature have nothing in common.
        """
        return any(_is_own(token) for _, token in self.changes)

    @property
    def names_something(self) -> bool:
        """Return whether a name or a keyword was changed, not only punctuation."""
        return any(_is_own(token) and any(map(str.isalpha, token)) for _, token in self.changes)

    @property
    def is_whole(self) -> bool:
        """Return whether the signature fully determines the edit.

        This is the case if every added variable is also among the removed tokens.
        """
        known = {token for removed, _ in self.runs for token in removed}
        return all(token in known for _, added in self.runs for token in added if _VARIABLE.match(token))

    @property
    def removed_names(self) -> frozenset[str]:
        """Return the removed tokens other than variables and literals.

        They occur unchanged in every before version with this signature.
        """
        return frozenset(token for sign, token in self.changes if sign == "-" and _is_own(token))


def signature_of(edit: Edit) -> Signature:
    """Return the signature of an edit."""
    return signature_between(edit.model_before, edit.model_after)


def changed_tokens_between(before: Tokens, after: Tokens) -> ChangedTokens:
    """Return the words and operators that were added or removed, with their signs.

    A removed token counts only if it does not occur in `after`. The result is the same for `x = x + 1 → x++` and
    `this.n = this.n + 1 → this.n++`, and a different one for `x = x - 1 → x++`.
    """
    stays = frozenset(after)
    return frozenset(
        (sign, token)
        for sign, token in signature_between(before, after).changes
        if _is_own(token) and token not in _JOINTS and (sign == "+" or token not in stays)
    )


def signature_between(before: Tokens, after: Tokens, alignment: Alignment | None = None) -> Signature:
    """Return the signature of the change from one token sequence to another.

    `alignment` is the alignment of the two sequences, if it is already known.
    """
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
    """Return the Jaccard similarity of the changed tokens of two signatures."""
    together = one.changes | other.changes
    return len(one.changes & other.changes) / len(together) if together else 1.0


def _is_own(token: str) -> bool:
    """Return whether a token is neither a variable nor a literal."""
    return not _VARIABLE.match(token) and token != _NO_NAME


def _runs(before: Tokens, after: Tokens, alignment: Alignment) -> Iterator[tuple[Tokens, Tokens]]:
    """Yield the removed and the added tokens of each run of changes."""
    for changed, positions in groupby(alignment.positions, lambda place: place.tag is not Tag.EQUAL):
        if changed:
            run = list(positions)
            yield (
                tuple(before[place.before] for place in run if place.before is not None),
                tuple(after[place.after] for place in run if place.after is not None),
            )
