"""The JSON of `finish --json` as types: what is written, and its schema in the documentation."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

SCHEMA = 1
Offset = Annotated[int, Meta(ge=0)]
LineNumber = Annotated[int, Meta(ge=1)]
Probability = Annotated[float, Meta(ge=0, le=1)]


class DemonstrationEntry(msgspec.Struct, frozen=True):
    """A place where a person made an edit."""

    path: str
    line: LineNumber


class EditEntry(msgspec.Struct, frozen=True):
    """An edit that a person made in one or several places."""

    id: str
    """The same for the same edit, whatever else has changed."""
    summary: str
    demonstrations: list[DemonstrationEntry]


class ImportEditEntry(msgspec.Struct, frozen=True):
    """An edit of an import that comes along: `after` replaces the bytes [start, end) of the file as it is."""

    start: Offset
    end: Offset
    before: str
    after: str


class FinishEntry(msgspec.Struct, frozen=True):
    """A place where an edit belongs, too: `after` replaces the bytes [start, end) of the file as it is."""

    edit: str
    """The id of the edit."""
    path: str
    """Relative to the top of the work tree."""
    line: LineNumber
    start: Offset
    end: Offset
    before: str
    after: str
    confidence: Probability
    likely: bool
    reasons: list[str]
    imports: list[ImportEditEntry] = []
    """Edits of imports in the same file that it needs, if it is carried out alone."""


class VerificationEntry(msgspec.Struct, frozen=True):
    """What a command said of the likely places."""

    command: str
    failed_before: bool
    """Whether it fails without any of the places; then only new messages count."""
    kept: int
    exercised: int
    """Number of the kept places whose lines were seen to run."""
    refused: int
    undecided: int
    runs: int
    seconds: float


class FinishDocument(msgspec.Struct, frozen=True):
    """All of what `finish --json` prints: the edits that were made, and where they belong, too."""

    schema: Annotated[int, Meta(ge=1)]
    edits: list[EditEntry]
    suggestions: list[FinishEntry]
    """The most certain first."""
    files: Annotated[int, Meta(ge=0)]
    """Number of files that were searched."""
    skipped: dict[str, int]
    """Number of files that were not read, by reason."""
    verification: VerificationEntry | None = None
