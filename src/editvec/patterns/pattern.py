"""The type of a pattern, an intent that recurs in a history: its edits, its rule, its evidence and its matches.

A pattern is plain data; `document` has its JSON.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

from editvec.core.edit import Edit
from editvec.core.match import Suggestion
from editvec.rules.rule import Rule
from editvec.suggest.evidence import Evidence
from editvec.suggest.imports import NO_IMPORTS, ImportChanges
from editvec.syntax import languages
from editvec.syntax.languages import Language

MIN_CONFIDENCE = 0.4
"""Default minimum confidence of a match."""
_WORD = re.compile(r"\w+|[^\w\s]")
_NO_EVIDENCE = 0.3
"""Share of edited matches that is assumed for a pattern without evidence."""


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
    rule: Rule | None = None
    """The verified rule, if there is one."""
    support: int = 0
    """Number of edits that the rule reproduces exactly."""
    of_imports: bool = False
    """Whether the edits change only imports, which follow from edits elsewhere."""
    evidence: Evidence | None = None
    imports: ImportChanges = NO_IMPORTS
    """The imports that come along with the edits."""
    judged: JudgedPattern | None = None
    """What a command said of its places, if one has judged them."""
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def id(self) -> str:
        """Return an identifier that depends only on the language and the change, not on the rest of the history."""
        return blake2b(repr((self.language, self.before, self.after)).encode(), digest_size=5).hexdigest()

    @property
    def confidence(self) -> float:
        """Return the confidence that a match of the rule is to be edited; 0 without evidence.

        It falls with the share of places that a command refused.
        """
        said = self.judged.share if self.judged else 1.0
        return self.evidence.confidence * said if self.evidence else 0.0

    @property
    def promises(self) -> bool:
        """Return whether the pattern only adds modifiers, such as `readonly`, that are a promise about other code.

        Whether such a modifier is valid depends on code elsewhere, not on the match, and where people left it out it
        is mostly invalid.
        """
        before, after = (Counter(_WORD.findall(side)) for side in (self.before, self.after))
        put_in = after - before
        language = languages.get(self.language)
        promises = language.promises if isinstance(language, Language) else frozenset()
        return bool(put_in) and not before - after and put_in.keys() <= promises

    def is_due(self, min_confidence: float = MIN_CONFIDENCE) -> bool:
        """Return whether a match of the rule is a suggestion: the confidence suffices, and `promises` is False."""
        return self.confidence >= min_confidence and not self.promises

    @property
    def worth(self) -> float:
        """Return the score by which patterns are ranked.

        It is the frequency of the edit, in which commits count more than edits, times the confidence plus a tenth of
        the share of edited matches. Because of that share, patterns that are already applied everywhere rank before
        patterns with too little evidence. The score is doubled if there are remaining matches. It is divided by three
        if no rule could be verified, because then the edits are at most similar, and by three again if the edits
        change only imports, which nobody edits for their own sake.
        """
        often = self.commits + math.sqrt(self.num_edits)
        said = self.confidence + 0.1 * (self.evidence.share if self.evidence else _NO_EVIDENCE)
        return often * said * (2 if self.suggestions else 1) / (1 if self.rule else 3) / (3 if self.of_imports else 1)

    def with_suggestions(self, suggestions: tuple[Suggestion, ...]) -> Pattern:
        """Return a copy of the pattern with the given suggestions."""
        return replace(self, suggestions=suggestions)
