"""Write suggestions as SARIF 2.1.0, which code hosts and editors can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from editvec.core.about import __version__
from editvec.core.match import Suggestion
from editvec.data.project import Project
from editvec.patterns.baseline import fingerprints_of
from editvec.patterns.find import SuppressedSuggestion
from editvec.patterns.pattern import Pattern
from editvec.syntax.token import encode
from editvec.ui.report.formats import severity_of

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT = "editvec/v1"
_LEVELS = {"hint": "note", "info": "note", "warning": "warning", "error": "error"}


def sarif(
    patterns: Sequence[Pattern], project: Project, suppressed: Sequence[SuppressedSuggestion] = ()
) -> dict[str, Any]:
    """Return a SARIF log: a rule per pattern that has suggestions, and a result with a fix per suggestion.

    Suppressed places are results, too, with their suppression.
    """
    hidden = _by_pattern(suppressed)
    prints = fingerprints_of(patterns)
    shown = [pattern for pattern in patterns if pattern.suggestions or pattern.name in hidden]
    driver = {
        "name": "editvec",
        "version": __version__,
        "rules": [
            {
                "id": pattern.name,
                "shortDescription": {"text": pattern.title},
                "fullDescription": {"text": f"{pattern.before} → {pattern.after}"},
            }
            for pattern in shown
        ],
    }
    results = []
    for number, pattern in enumerate(shown):
        for each in pattern.suggestions:
            partial = {_FINGERPRINT: prints[pattern.name, each]}
            results.append(_result(pattern, number, each, project) | {"partialFingerprints": partial})
        for silenced in hidden.get(pattern.name, ()):
            kind = "external" if silenced.silence.comment is None else "inSource"
            suppression = {"kind": kind, "justification": silenced.silence.text}
            results.append(_result(pattern, number, silenced.suggestion, project) | {"suppressions": [suppression]})
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _by_pattern(suppressed: Sequence[SuppressedSuggestion]) -> dict[str, list[SuppressedSuggestion]]:
    found: dict[str, list[SuppressedSuggestion]] = {}
    for each in suppressed:
        found.setdefault(each.pattern, []).append(each)
    return found


def _result(pattern: Pattern, number: int, suggestion: Suggestion, project: Project) -> dict[str, Any]:
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
        "level": _LEVELS[severity_of(pattern, project)],
        "message": {"text": f"{pattern.title}: {suggestion.why}"},
        "locations": [{"physicalLocation": {"artifactLocation": file, "region": region}}],
        "fixes": [{"artifactChanges": [{"artifactLocation": file, "replacements": [change, *imports]}]}],
        "rank": round(100 * suggestion.confidence, 1),
    }
