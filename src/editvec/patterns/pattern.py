"""The type of a pattern, an intent that recurs in a history: its edits, its rule, its evidence and its matches.

A pattern is plain data; `document` has its JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

from editvec.core.edit import Edit
from editvec.core.match import Suggestion
from editvec.patterns.ranking import Course
from editvec.patterns.wording import ChangeKind
from editvec.rules.rule import Rule
from editvec.suggest.complete import POSSIBLE
from editvec.suggest.evidence import Evidence
from editvec.suggest.imports import NO_IMPORTS, ImportChanges

MIN_CONFIDENCE = POSSIBLE
"""Default minimum confidence of a match."""
RESERVED = 0.29
"""Maximum confidence of a match of a change that only an author can decide on: such places are not shown by default."""


class JudgedPattern(NamedTuple):
    """What a command said of the places of a pattern."""

    kept: int
    refused: int
    message: str
    """The first message of a place that was refused."""
    command: str

    @property
    def share(self) -> float:
        """Return the share of places that passed; one is added, so that no verdict gives certainty."""
        return (self.kept + 1) / (self.kept + self.refused + 1)

    @property
    def why(self) -> str:
        """Return the verdict in words; empty if nothing was refused."""
        if not self.refused:
            return ""
        return f"{self.command!r} refused {self.refused} of {self.kept + self.refused} places: {self.message}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern: edits with the same intent.

    `before` and `after` show the change to people: the two sides of the rule with its metavariables or, without a rule,
    those of the most typical edit.
    """

    name: str
    title: str
    """The change in words, computed from its two sides."""
    quotation: str
    """The subject of a commit that made such edits and shares words with the change; empty if none does."""
    kind: ChangeKind
    words: tuple[str, ...]
    language: str
    before: str
    after: str
    edits: tuple[Edit, ...]
    """The edits, the most typical first; empty if the pattern was read from `patterns.json`."""
    num_edits: int
    commits: int
    authors: int
    span: tuple[datetime, datetime] | None = None
    """The dates of the first and the last edit."""
    course: Course = Course.HABIT
    num_reversed: int = 0
    """Number of times that people made the reverse edit."""
    rule: Rule | None = None
    """The verified rule, if there is one."""
    support: int = 0
    """Number of edits that the rule reproduces exactly."""
    of_imports: bool = False
    """Whether the edits change only imports, which follow from edits elsewhere."""
    reserved: str = ""
    """Why only an author can decide whether the change is right at a place; empty if others can too."""
    evidence: Evidence | None = None
    imports: ImportChanges = NO_IMPORTS
    """The imports that come along with the edits."""
    judged: JudgedPattern | None = None
    """What a command said of its places, if one has judged them."""
    suggestions: tuple[Suggestion, ...] = ()
    """The matches to edit, also those of the variants."""
    variants: tuple[Pattern, ...] = ()
    """Other rules of the same intent, as patterns with a part of the edits and without suggestions of their own."""

    @property
    def id(self) -> str:
        """Return an identifier that depends only on the language and the change, not on the rest of the history."""
        return blake2b(repr((self.language, self.before, self.after)).encode(), digest_size=5).hexdigest()

    @property
    def names(self) -> frozenset[str]:
        """Return the name and the id, by which settings and comments refer to the pattern."""
        return frozenset({self.name, self.id})

    @property
    def confidence(self) -> float:
        """Return the confidence that a match of the rule is to be edited; 0 without evidence.

        It falls with the share of places that a command refused. It is low if only an author can decide.
        """
        found = self.evidence.confidence * (self.judged.share if self.judged else 1.0) if self.evidence else 0.0
        return min(found, RESERVED) if self.reserved else found

    @property
    def share_edited(self) -> float:
        """Return the largest share of the matches of a rule, then and today, that people edited; 0 without a rule."""
        return max((each.evidence.share for each in self.rules if each.evidence), default=0.0)

    @property
    def rules(self) -> tuple[Pattern, ...]:
        """Return the pattern and its variants, those of them that have a rule."""
        return tuple(each for each in (self, *self.variants) if each.rule)

    @property
    def done(self) -> float | None:
        """Return the share of all known places that people edited; None if no rule says how many are left."""
        said = [each.evidence for each in self.rules if each.evidence]
        left = sum(each.left for each in said)
        return self.num_edits / (self.num_edits + left) if said else None

    def is_due(self, min_confidence: float = MIN_CONFIDENCE) -> bool:
        """Return whether a match of the rule is a suggestion: the confidence suffices."""
        return self.confidence >= min_confidence

    def with_suggestions(self, suggestions: tuple[Suggestion, ...]) -> Pattern:
        """Return a copy of the pattern with the given suggestions."""
        return replace(self, suggestions=suggestions)


def span_of(edits: Sequence[Edit]) -> tuple[datetime, datetime] | None:
    """Return the dates of the first and the last of some edits; None if no edit has a date."""
    dates = [edit.source.author_date for edit in edits if edit.source and edit.source.author_date]
    return (min(dates), max(dates)) if dates else None


def regrouped(patterns: Sequence[Pattern], found: Mapping[str, Pattern]) -> list[Pattern]:
    """Return patterns with what was found for each of their rules, by name; suggestions go to the pattern itself."""
    again = []
    for pattern in patterns:
        members = [found.get(each.name, each) for each in (pattern, *pattern.variants)]
        places = sorted((place for each in members for place in each.suggestions), key=lambda at: (at.path, at.start))
        variants = tuple(each.with_suggestions(()) for each in members[1:])
        again.append(replace(members[0], suggestions=tuple(places), variants=variants))
    return again
