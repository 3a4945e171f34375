"""The JSON of `patterns.json` as types: what is written, what is accepted, and its schema in the documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from editvec.patterns.pattern import Pattern
from editvec.patterns.ranking import Course
from editvec.patterns.wording import ChangeKind
from editvec.rules.rule import Rule
from editvec.suggest.document import ImportEditEntry
from editvec.suggest.evidence import Evidence
from editvec.suggest.imports import NO_IMPORTS, ImportChanges

SCHEMA = 4
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


class VariantEntry(msgspec.Struct, frozen=True):
    """Another rule of a pattern, with the part of the edits that it stands for."""

    name: str
    title: str
    kind: ChangeKind
    before: str
    after: str
    num_edits: Count
    commits: Count
    authors: Count
    rule: RuleEntry | None
    evidence: EvidenceEntry | None
    reserved: str


class PatternEntry(msgspec.Struct, frozen=True):
    """A pattern: edits with the same intent that recur."""

    number: Annotated[int, Meta(ge=1)]
    id: str
    name: str
    title: str
    """The change in words."""
    quotation: str
    """The subject of a commit that shares words with the change; empty if there is none."""
    kind: ChangeKind
    course: Course
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
    reversed: Count
    """Number of times that people made the reverse edit."""
    done: Share | None
    """Share of all known places that people edited."""
    reserved: str
    """Why only an author can decide whether the change is right at a place; empty if others can too."""
    variants: list[VariantEntry]
    suggestions: list[SuggestionEntry]
    imports: ImportChanges = NO_IMPORTS
    """The imports that come along with the edits."""

    @classmethod
    def of(cls, pattern: Pattern, number: int, rule_files: Mapping[str, str]) -> PatternEntry:
        """Return a pattern as an entry; `rule_files` has the file of each rule by the name of its pattern."""
        first, last = pattern.span or (None, None)
        return cls(
            number=number,
            id=pattern.id,
            name=pattern.name,
            title=pattern.title,
            quotation=pattern.quotation,
            kind=pattern.kind,
            course=pattern.course,
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
            rule=_rule_entry(pattern, rule_files),
            evidence=_evidence_entry(pattern),
            reversed=pattern.num_reversed,
            done=None if pattern.done is None else round(pattern.done, 4),
            reserved=pattern.reserved,
            variants=[
                VariantEntry(
                    name=each.name,
                    title=each.title,
                    kind=each.kind,
                    before=each.before,
                    after=each.after,
                    num_edits=each.num_edits,
                    commits=each.commits,
                    authors=each.authors,
                    rule=_rule_entry(each, rule_files),
                    evidence=_evidence_entry(each),
                    reserved=each.reserved,
                )
                for each in pattern.variants
            ],
            suggestions=[msgspec.convert(each.as_json(), SuggestionEntry) for each in pattern.suggestions],
            imports=pattern.imports,
        )

    def rules(self) -> list[RuleEntry]:
        """Return the rules of the pattern and of its variants."""
        entries: tuple[PatternEntry | VariantEntry, ...] = (self, *self.variants)
        return [each.rule for each in entries if each.rule]

    def pattern(self, rule_of: Callable[[str], Rule]) -> Pattern:
        """Return the entry as a pattern with its rules, read by `rule_of`; its edits and suggestions are empty."""
        pattern = self._read(self, rule_of)
        return replace(
            pattern,
            quotation=self.quotation,
            words=tuple(self.words),
            span=(self.first, self.last) if self.first and self.last else None,
            course=self.course,
            num_reversed=self.reversed,
            variants=tuple(self._read(each, rule_of) for each in self.variants),
        )

    def _read(self, entry: PatternEntry | VariantEntry, rule_of: Callable[[str], Rule]) -> Pattern:
        """Return what this entry and one of its variants have in common, as a pattern."""
        evidence = entry.evidence
        counts = {} if evidence is None else msgspec.structs.asdict(evidence)
        counts.pop("confidence", None)
        return Pattern(
            name=entry.name,
            title=entry.title,
            quotation="",
            kind=entry.kind,
            words=(),
            language=self.language,
            before=entry.before,
            after=entry.after,
            edits=(),
            num_edits=entry.num_edits,
            commits=entry.commits,
            authors=entry.authors,
            rule=rule_of(entry.rule.file) if entry.rule else None,
            support=entry.rule.support if entry.rule else 0,
            reserved=entry.reserved,
            evidence=Evidence(**counts) if counts else None,
            imports=self.imports,
        )


def _rule_entry(pattern: Pattern, rule_files: Mapping[str, str]) -> RuleEntry | None:
    return RuleEntry(rule_files[pattern.name], pattern.support) if pattern.name in rule_files else None


def _evidence_entry(pattern: Pattern) -> EvidenceEntry | None:
    return EvidenceEntry(**pattern.evidence.as_json()) if pattern.evidence else None


class LearnedFrom(msgspec.Struct, frozen=True):
    """What a run was restricted to; empty where it was not."""

    since: str = ""
    until: str = ""
    range: str = ""
    authors: list[str] = []
    paths: list[str] = []


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
    learned_from: LearnedFrom = LearnedFrom()
    seconds: dict[str, float] = {}
    """Duration of each stage."""

    def about(self) -> dict[str, Any]:
        """Return everything but the patterns, by key."""
        found = msgspec.structs.asdict(self)
        del found["patterns"]
        return found
