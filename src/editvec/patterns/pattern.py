"""A pattern: edits that mean the same, what they say together, and what became of it: a rule, evidence, places still
due. Plain data, and the documented JSON of `patterns.json`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

from editvec.core.edit import Edit
from editvec.core.match import Suggestion
from editvec.rules.rule import Rule
from editvec.suggest.evidence import Evidence
from editvec.syntax import languages
from editvec.syntax.languages import Language

MIN_CONFIDENCE = 0.4
"""How sure history must be that a place is due, unless somebody says otherwise."""
SCHEMA = 2
"""Of `patterns.json`."""
_WORD = re.compile(r"\w+|[^\w\s]")
_NO_EVIDENCE = 0.3
"""The share of a pattern of which history says nothing."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Edits that mean the same. `before` and `after` are the change as people read it: the rule's, with its
    metavariables, or that of the most typical edit."""

    name: str
    title: str
    words: tuple[str, ...]
    language: str
    before: str
    after: str
    edits: tuple[Edit, ...]
    """The most typical first; empty in a pattern that was read from `patterns.json`."""
    num_edits: int
    commits: int
    authors: int
    span: tuple[datetime, datetime] | None = None
    """The first and the last time it was made."""
    rule: Rule | None = None
    """Where one was verified."""
    support: int = 0
    """How many of the edits the rule makes exactly."""
    of_imports: bool = False
    """Whether its edits are of imports alone, which follow their uses."""
    evidence: Evidence | None = None
    places: tuple[Suggestion, ...] = ()

    @property
    def id(self) -> str:
        """The same for the same change, whatever else is in the history."""
        return blake2b(repr((self.language, self.before, self.after)).encode(), digest_size=5).hexdigest()

    @property
    def confidence(self) -> float:
        """How sure it is that a match of its rule is due."""
        return self.evidence.confidence if self.evidence else 0.0

    @property
    def promises(self) -> bool:
        """Whether all that it puts in is a promise about code elsewhere, such as readonly: what stands at a place does
        not say whether it can be kept, and where people left it out it mostly cannot."""
        before, after = (Counter(_WORD.findall(side)) for side in (self.before, self.after))
        put_in = after - before
        language = languages.get(self.language)
        promises = language.promises if isinstance(language, Language) else frozenset()
        return bool(put_in) and not before - after and put_in.keys() <= promises

    def is_due(self, min_confidence: float = MIN_CONFIDENCE) -> bool:
        """Whether a match of its rule is a place where it is due."""
        return self.confidence >= min_confidence and not self.promises

    @property
    def worth(self) -> float:
        """What it is ranked by: how often the team made it (in different commits rather than in one), times how sure
        it is where it is due. A little of that is the share of all that its rule ever matched, so that what was
        finished long ago comes before what says too little. Twice as much when it is due somewhere, a third where no
        rule could be verified (then its edits are alike at most), and a third for imports, which nobody edits for their
        own sake."""
        often = self.commits + math.sqrt(self.num_edits)
        said = self.confidence + 0.1 * (self.evidence.share if self.evidence else _NO_EVIDENCE)
        return often * said * (2 if self.places else 1) / (1 if self.rule else 3) / (3 if self.of_imports else 1)

    def with_places(self, places: tuple[Suggestion, ...]) -> Pattern:
        """The same with places where it is still due."""
        return replace(self, places=places)

    def as_json(self, number: int, rule_file: str | None) -> dict[str, Any]:
        """For machines: an entry of `patterns.json`."""
        first, last = self.span or (None, None)
        return {
            "number": number,
            "id": self.id,
            "name": self.name,
            "title": self.title,
            "words": list(self.words),
            "language": self.language,
            "before": self.before,
            "after": self.after,
            "num_edits": self.num_edits,
            "edits": [edit.id for edit in self.edits],
            "commits": self.commits,
            "authors": self.authors,
            "first": first.isoformat() if first else None,
            "last": last.isoformat() if last else None,
            "rule": {"file": rule_file, "support": self.support} if rule_file else None,
            "evidence": self.evidence.as_json() if self.evidence else None,
            "places": [place.as_json() for place in self.places],
        }


_EVIDENCE = ("matched", "edited", "reversed", "left", "years")


def from_json(entry: Mapping[str, Any], rule: Rule | None) -> Pattern:
    """What `as_json` wrote, with its rule's text; without its edits and places."""
    dates = [datetime.fromisoformat(entry[key]) for key in ("first", "last") if entry[key]]
    evidence = entry["evidence"]
    return Pattern(
        name=entry["name"],
        title=entry["title"],
        words=tuple(entry["words"]),
        language=entry["language"],
        before=entry["before"],
        after=entry["after"],
        edits=(),
        num_edits=entry["num_edits"],
        commits=entry["commits"],
        authors=entry["authors"],
        span=(dates[0], dates[1]) if len(dates) == 2 else None,
        rule=rule,
        support=entry["rule"]["support"] if entry["rule"] else 0,
        evidence=Evidence(**{key: evidence[key] for key in _EVIDENCE}) if evidence else None,
    )
