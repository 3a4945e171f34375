"""Write suggestions in the formats of code hosts: GitLab's code quality, GitHub's workflow commands, rdjson."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from editvec.core.match import Suggestion
from editvec.core.text import FileText
from editvec.data.project import Level, Project
from editvec.patterns.baseline import fingerprints_of
from editvec.patterns.pattern import Pattern

_GITLAB: Mapping[str, str] = {"hint": "info", "info": "minor", "warning": "major", "error": "critical"}
_GITHUB: Mapping[str, str] = {"hint": "notice", "info": "notice", "warning": "warning", "error": "error"}
_RDJSON: Mapping[str, str] = {"hint": "INFO", "info": "INFO", "warning": "WARNING", "error": "ERROR"}
_LEVELS: tuple[Level, ...] = ("error", "warning", "info", "hint")


def gitlab(patterns: Sequence[Pattern], project: Project) -> list[dict[str, Any]]:
    """Return a report of GitLab's code quality; fingerprints do not contain line numbers."""
    prints = fingerprints_of(patterns)
    return [
        {
            "description": message_of(pattern, each),
            "check_name": pattern.name,
            "fingerprint": prints[pattern.name, each],
            "severity": _GITLAB[severity_of(pattern, project)],
            "location": {"path": each.path, "lines": {"begin": each.line}},
        }
        for pattern in patterns
        for each in pattern.suggestions
    ]


def github(patterns: Sequence[Pattern], project: Project) -> list[str]:
    """Return workflow commands of GitHub, the most important first, because GitHub shows only the first ones."""
    found = [
        (
            _LEVELS.index(severity_of(pattern, project)),
            -each.confidence,
            each.path,
            each.line,
            _command(pattern, each, project),
        )
        for pattern in patterns
        for each in pattern.suggestions
    ]
    return [command for *_, command in sorted(found)]


def _command(pattern: Pattern, place: Suggestion, project: Project) -> str:
    values = {
        "file": place.path,
        "line": place.line,
        "endLine": place.line + place.before.count("\n"),
        "title": f"editvec: {pattern.name}",
    }
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in values.items())
    return f"::{_GITHUB[severity_of(pattern, project)]} {shown}::{_data(message_of(pattern, place))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def rdjson(patterns: Sequence[Pattern], project: Project) -> dict[str, Any]:
    """Return a DiagnosticResult of reviewdog, with a suggestion for each place."""
    return {
        "source": {"name": "editvec"},
        "diagnostics": [
            {
                "message": message_of(pattern, each),
                "location": {"path": each.path, "range": (span := _range(each, project.top))},
                "severity": _RDJSON[severity_of(pattern, project)],
                "code": {"value": pattern.name},
                "suggestions": [{"range": span, "text": each.after}],
            }
            for pattern in patterns
            for each in pattern.suggestions
        ],
    }


def _range(place: Suggestion, top: Path | None) -> dict[str, dict[str, int]]:
    """Return the range of a place; columns are bytes of UTF-8, counted from 1, and the end is exclusive."""
    column = place.column
    if top is not None:
        text = FileText((top / place.path).read_bytes()).utf8
        column = place.start - text.rfind(b"\n", 0, place.start)
    lines = place.before.encode("utf-8", "surrogateescape").split(b"\n")
    end = len(lines[-1]) + (column if len(lines) == 1 else 1)
    return {
        "start": {"line": place.line, "column": column},
        "end": {"line": place.line + len(lines) - 1, "column": end},
    }


def message_of(pattern: Pattern, place: Suggestion) -> str:
    """Return what is said of a place in reports."""
    return f"{pattern.title or pattern.name}: {pattern.before} → {pattern.after} ({place.why})"


def severity_of(pattern: Pattern, project: Project) -> Level:
    """Return the severity of a pattern's places."""
    return project.pattern(pattern.names).severity or "hint"
