"""Canonical names and literals, and the restoration of the original tokens.

Declared names become VAR0, VAR1, etc. in order of first use over before, after, context before and context behind.
Literals other than 0 and 1 become LITERAL. There are two definitions of a declared name:

- `SCOPED` (the default): a local name counts inside its own function, and a field or property counts inside the file.
  An identifier is renamed only where it can mean that variable: not where it is a member of another object, a type or
  the name of an argument.
- `BY_NAME` (the recipe `iclr19`): the behaviour of the authors' extractor. A name declared anywhere in the version
  before is renamed wherever it occurs in both versions. A name declared only in the version after is renamed there.

Each canonical sequence is as long as its original token sequence, and `restore` returns exactly the original tokens. A
name that already looks canonical (`VAR7`, `LITERAL`) is renamed too, so that the map stays one-to-one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from editvec.core.edit import Canonical, Tokens
from editvec.syntax.leaves import Leaf, Role
from editvec.syntax.treesitter import Parsed

LITERAL = "LITERAL"
KEPT_LITERALS = frozenset({"0", "1"})
_RESERVED = re.compile(r"VAR\d+|LITERAL")
_CANONICAL_NAME = re.compile(r"VAR(\d+)")
_ZERO_OR_ONE = re.compile(r"([01])(?:\.0*)?[uUlLfFdDmM]*|0[xX]0*([01])")


class Naming(Enum):
    """The definition of a declared name."""

    SCOPED = "scoped"
    BY_NAME = "by-name"


class Passage(NamedTuple):
    """Tokens of one version of a file."""

    parsed: Parsed
    leaves: Sequence[Leaf]


def canonicalise(
    before: Passage, after: Passage, context_before: Passage, context_behind: Passage, naming: Naming
) -> Canonical:
    """Return the canonical form of the four passages of an edit."""
    numbers: dict[str, str] = {}
    literals: list[str] = []
    declared = _declared_by_name(before.parsed, after.parsed) if naming is Naming.BY_NAME else is_declared
    values = naming is Naming.BY_NAME

    def rewrite(passage: Passage) -> Tokens:
        out = []
        for leaf in passage.leaves:
            text, role = leaf.text, leaf.role
            if role is Role.LITERAL and not _is_kept(text, values):
                literals.append(text)
                out.append(LITERAL)
            elif (role is not Role.OTHER and declared(passage.parsed, leaf)) or is_reserved(text):
                out.append(numbers.setdefault(text, f"VAR{len(numbers)}"))
            else:
                out.append(text)
        return tuple(out)

    forms = [rewrite(passage) for passage in (before, after, context_before, context_behind)]
    return Canonical(forms[0], forms[1], forms[2], forms[3], tuple(numbers), tuple(literals))


def restore(canonical: Canonical) -> tuple[Tokens, Tokens, Tokens, Tokens]:
    """Return the original tokens of a canonical form: before, after, context before, context behind."""
    literals = iter(canonical.literals)

    def original(token: str) -> str:
        if token == LITERAL:
            return next(literals)
        number = canonical_number(token)
        return token if number is None else canonical.names[number]

    before, after, context_before, context_behind = (
        tuple([original(token) for token in sequence])
        for sequence in (
            canonical.before,
            canonical.after,
            canonical.context_before,
            canonical.context_behind,
        )
    )
    return before, after, context_before, context_behind


def is_reserved(token: str) -> bool:
    """Return whether a token looks canonical: VARi or LITERAL."""
    return token[:1] in "VL" and _RESERVED.fullmatch(token) is not None


def canonical_number(token: str) -> int | None:
    """Return i for VARi, and None for a token that is not a canonical name."""
    match = _CANONICAL_NAME.fullmatch(token)
    return int(match[1]) if match else None


def _is_kept(text: str, by_value: bool) -> bool:
    """Return whether a literal stays as it is: 0 and 1.

    With `by_value`, other spellings of these values, such as 1.0 or 0L, stay too.
    """
    return text in KEPT_LITERALS or (by_value and _ZERO_OR_ONE.fullmatch(text) is not None)


def is_declared(parsed: Parsed, leaf: Leaf) -> bool:
    """Return whether a leaf, at its position, can mean a variable declared in the file."""
    if leaf.role is Role.NAME:
        return leaf.text in parsed.locals_at(leaf.start) or parsed.declares_member(leaf.text)[0]
    return leaf.role is Role.OWN_MEMBER and parsed.declares_member(leaf.text)[1]


def _declared_by_name(before: Parsed, after: Parsed) -> Callable[[Parsed, Leaf], bool]:
    """Return a function that tells whether a leaf is declared by the definition `BY_NAME`."""
    known: dict[tuple[bool, str], bool] = {}

    def declared(parsed: Parsed, leaf: Leaf) -> bool:
        if leaf.role is Role.LITERAL:
            return False
        key = parsed is after, leaf.text
        if key not in known:
            known[key] = before.declares(leaf.text) or (parsed is after and after.declares(leaf.text))
        return known[key] and not parsed.keeps(leaf.start)

    return declared
