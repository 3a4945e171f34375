"""The JSON of `patterns.json` as types: what is written, what is accepted, and its schema in the documentation."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from editvec.patterns.pattern import Pattern
from editvec.rules.rule import Rule
from editvec.suggest.document import ImportEditEntry
from editvec.suggest.evidence import Evidence
from editvec.suggest.imports import NO_IMPORTS, ImportChanges

SCHEMA = 3
Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class SuggestionEntry(msgspec.Struct, frozen=True):
    """A place where a pattern is still due: the bytes [start, end) of a file become `after`."""

    path: str
    """Relative to the top of the work tree."""
    line: Count
    column: Count
    start: Count
    end: Count
    before: str
    after: str
    confidence: Share
    why: str
    imports: list[ImportEditEntry] = []
    """Edits of imports in the same file that come along."""


class EvidenceEntry(msgspec.Struct, frozen=True):
    """What history says of a rule."""

    matched: Count
    edited: Count
    reversed: Count
    left: Count
    years: float
    confidence: Share


class RuleEntry(msgspec.Struct, frozen=True):
    """The rule of a pattern."""

    file: str
    """Relative to the folder."""
    support: Count


class PatternEntry(msgspec.Struct, frozen=True):
    """A pattern: edits with the same intent that recur."""

    number: Annotated[int, Meta(ge=1)]
    id: str
    name: str
    title: str
    words: list[str]
    language: str
    before: str
    after: str
    num_edits: Count
    edits: list[str]
    """The ids of its edits in the edit file beside, the most typical first."""
    commits: Count
    authors: Count
    first: datetime | None
    last: datetime | None
    rule: RuleEntry | None
    evidence: EvidenceEntry | None
    suggestions: list[SuggestionEntry]
    imports: ImportChanges = NO_IMPORTS
    """The imports that come along with the edits."""

    @classmethod
    def of(cls, pattern: Pattern, number: int, rule_file: str | None) -> PatternEntry:
        """Return a pattern as an entry."""
        first, last = pattern.span or (None, None)
        evidence = pattern.evidence
        return cls(
            number=number,
            id=pattern.id,
            name=pattern.name,
            title=pattern.title,
            words=list(pattern.words),
            language=pattern.language,
            before=pattern.before,
            after=pattern.after,
            num_edits=pattern.num_edits,
            edits=[edit.id for edit in pattern.edits],
            commits=pattern.commits,
            authors=pattern.authors,
            first=first,
            last=last,
            rule=RuleEntry(rule_file, pattern.support) if rule_file else None,
            evidence=EvidenceEntry(**evidence.as_json()) if evidence else None,
            suggestions=[msgspec.convert(each.as_json(), SuggestionEntry) for each in pattern.suggestions],
            imports=pattern.imports,
        )

    def pattern(self, rule: Rule | None) -> Pattern:
        """Return the entry as a pattern with a rule; its edits and suggestions are empty."""
        evidence = self.evidence
        counts = {} if evidence is None else msgspec.structs.asdict(evidence)
        counts.pop("confidence", None)
        return Pattern(
            name=self.name,
            title=self.title,
            words=tuple(self.words),
            language=self.language,
            before=self.before,
            after=self.after,
            edits=(),
            num_edits=self.num_edits,
            commits=self.commits,
            authors=self.authors,
            span=(self.first, self.last) if self.first and self.last else None,
            rule=rule,
            support=self.rule.support if self.rule else 0,
            evidence=Evidence(**counts) if counts else None,
            imports=self.imports,
        )


class PatternsDocument(msgspec.Struct, frozen=True):
    """All of `patterns.json`: what was learned, and from what."""

    schema: Count
    version: str
    repository: str
    head: str
    commits: Count
    hunks: Count
    edits: Count
    patterns: list[PatternEntry]
    seconds: dict[str, float] = {}
    """Duration of each stage."""

    def about(self) -> dict[str, Any]:
        """Return everything but the patterns, by key."""
        found = msgspec.structs.asdict(self)
        del found["patterns"]
        return found
