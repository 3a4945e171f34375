"""Variants: patterns that mean the same are one pattern with several rules.

Two patterns of a language mean the same if they add and remove the same names and operators, if one rule is an instance
of the other, if they write the same instead of one name or another, or if the same commits made most of both and the
changed names are mostly the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from editvec.core.edit import Edit
from editvec.patterns.grouping import num_authors, num_commits
from editvec.patterns.pattern import Pattern, span_of
from editvec.patterns.ranking import course_of
from editvec.patterns.wording import changed_signed, changed_words
from editvec.syntax import lexer
from editvec.syntax.token import encode

_SAME_COMMITS = 0.5
"""Share of the commits of the smaller pattern that must have made the larger one too."""
_ONE_COMMIT = "one commit made all of these edits and left the other places as they are"
_SAME_NAMES = 0.5
"""Share of the parts of the changed names that both patterns must have in common then."""
_Sides = tuple[Sequence[bytes], Sequence[bytes]]


class _Known:
    """A pattern with what it is compared by."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.signed = changed_signed(pattern.before, pattern.after)
        self.parts = changed_words(pattern.before, pattern.after)
        self.commits = frozenset(edit.source.commit for edit in pattern.edits if edit.source)

    @cached_property
    def sides(self) -> _Sides:
        """Return the tokens of both sides."""
        return lexer.lex(encode(self.pattern.before)).texts, lexer.lex(encode(self.pattern.after)).texts

    def means_the_same(self, other: _Known) -> bool:
        """Return whether two patterns mean the same; `self` is the one with more edits."""
        if self.pattern.language != other.pattern.language or self.pattern.of_imports != other.pattern.of_imports:
            return False
        if self.signed and self.signed == other.signed:
            return True
        if is_instance(other.sides, self.sides) or is_instance(self.sides, other.sides):
            return True
        if _differ_in_one_name(self.sides, other.sides):
            return True
        fewer = min(len(self.commits), len(other.commits))
        together, all_parts = self.parts & other.parts, self.parts | other.parts
        return (
            bool(all_parts and fewer)
            and len(self.commits & other.commits) >= _SAME_COMMITS * fewer
            and len(together) >= _SAME_NAMES * len(all_parts)
        )


def gather(patterns: Sequence[Pattern]) -> list[Pattern]:
    """Return the patterns with those that mean the same joined, the ones with a rule and the most edits first.

    Each one is joined to the first before it that means the same and is not itself joined, so that no chains arise. A
    joined pattern has the edits of all; its own rule, sides and evidence stay those of the first.
    """
    ordered = sorted(patterns, key=lambda each: (each.rule is None, -each.num_edits, each.name))
    leaders: list[tuple[_Known, list[Pattern]]] = []
    for known in map(_Known, ordered):
        for leader, joined in leaders:
            if leader.means_the_same(known):
                joined.append(known.pattern)
                break
        else:
            leaders.append((known, []))
    gathered = [_joined(leader.pattern, joined) if joined else leader.pattern for leader, joined in leaders]
    return [_left_alone(each) if each.commits == 1 else each for each in gathered]


def _joined(leader: Pattern, variants: Sequence[Pattern]) -> Pattern:
    edits: dict[str, Edit] = {edit.id: edit for each in (leader, *variants) for edit in each.edits}
    made = tuple(edits.values())
    return replace(
        leader,
        edits=made,
        num_edits=len(made),
        commits=num_commits(made),
        authors=num_authors(made),
        span=span_of(made),
        course=course_of(made),
        num_reversed=max(each.num_reversed for each in (leader, *variants)),
        variants=tuple(variants),
    )


def _left_alone(pattern: Pattern) -> Pattern:
    """Return a pattern of a single commit so that no place of it is due."""
    variants = tuple(map(_left_alone, pattern.variants))
    return replace(pattern, reserved=pattern.reserved or _ONE_COMMIT, variants=variants)


def is_instance(special: _Sides, general: _Sides) -> bool:
    """Return whether a rule does nothing but what a more general one does, perhaps with more code around it.

    Both are given as the tokens of their two sides. A metavariable of the general rule stands for any tokens, the same
    ones wherever it occurs.
    """
    (before, after), (general_before, general_after) = special, general
    width = len(general_before)
    if not width or width > len(before) + 1:
        return False
    for start in range(len(before)):
        for bound, end in _bindings(general_before, before, start, {}):
            written = [token for each in general_after for token in bound.get(each, (each,))]
            if [*before[:start], *written, *before[end:]] == list(after):
                return True
    return False


def _differ_in_one_name(one: _Sides, other: _Sides) -> bool:
    """Return whether two rules write the same instead of one name or another, such as `var` for any type."""
    (before, after), (other_before, other_after) = one, other
    if list(after) != list(other_after) or len(before) != len(other_before) or len(before) < 2:
        return False
    names = [pair for pair in zip(before, other_before, strict=True) if pair[0] != pair[1]]
    return len(names) == 1 and all(lexer.is_word(name) and name not in after for name in names[0])


_MOST_TOKENS = 12
"""Maximum number of tokens that a metavariable stands for when rules are compared."""


def _bindings(
    wanted: Sequence[bytes], tokens: Sequence[bytes], at: int, bound: dict[bytes, tuple[bytes, ...]]
) -> list[tuple[dict[bytes, tuple[bytes, ...]], int]]:
    """Return the ways to read tokens from a position on as the wanted ones, each with where it ends."""
    if not wanted:
        return [(bound, at)]
    first, rest = wanted[0], wanted[1:]
    if not first.startswith(b"$"):
        return _bindings(rest, tokens, at + 1, bound) if tokens[at : at + 1] == [first] else []
    if first in bound:
        same = bound[first]
        return _bindings(rest, tokens, at + len(same), bound) if tuple(tokens[at : at + len(same)]) == same else []
    low = 0 if first.startswith(b"$$$") else 1
    return [
        found
        for size in range(low, min(_MOST_TOKENS, len(tokens) - at) + 1)
        for found in _bindings(rest, tokens, at + size, bound | {first: tuple(tokens[at : at + size])})
    ]
