"""Write suggestions as SARIF 2.1.0, which code hosts and editors can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from editvec.core.about import __version__
from editvec.core.match import Suggestion
from editvec.patterns.pattern import Pattern
from editvec.syntax.token import encode

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(patterns: Sequence[Pattern]) -> dict[str, Any]:
    """Return a SARIF log: a rule per pattern that has suggestions, and a result with a fix per suggestion."""
    shown = [pattern for pattern in patterns if pattern.suggestions]
    driver = {
        "name": "editvec",
        "version": __version__,
        "rules": [
            {
                "id": pattern.name,
                "shortDescription": {"text": pattern.title or pattern.name},
                "fullDescription": {"text": f"{pattern.before} → {pattern.after}"},
            }
            for pattern in shown
        ],
    }
    results = [
        _result(pattern, number, suggestion)
        for number, pattern in enumerate(shown)
        for suggestion in pattern.suggestions
    ]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _result(pattern: Pattern, number: int, suggestion: Suggestion) -> dict[str, Any]:
    file = {"uri": quote(encode(suggestion.path))}
    region = {
        "startLine": suggestion.line,
        "startColumn": suggestion.column,
        "byteOffset": suggestion.start,
        "byteLength": suggestion.end - suggestion.start,
        "snippet": {"text": suggestion.before},
    }
    change = {"deletedRegion": region, "insertedContent": {"text": suggestion.after}}
    imports = [
        {
            "deletedRegion": {"byteOffset": each.start, "byteLength": each.end - each.start},
            "insertedContent": {"text": each.after},
        }
        for each in suggestion.imports
    ]
    return {
        "ruleId": pattern.name,
        "ruleIndex": number,
        "level": "note",
        "message": {"text": f"{pattern.title or pattern.name}: {suggestion.why}"},
        "locations": [{"physicalLocation": {"artifactLocation": file, "region": region}}],
        "fixes": [{"artifactChanges": [{"artifactLocation": file, "replacements": [change, *imports]}]}],
        "rank": round(100 * suggestion.confidence, 1),
    }
