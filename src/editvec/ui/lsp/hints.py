"""Diagnostics on places that are due, each with its fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from editvec.core.match import Suggestion
from editvec.core.splice import shrink
from editvec.core.text import FileText
from editvec.suggest.complete import LIKELY
from editvec.ui.lsp.due import DuePlace
from editvec.ui.lsp.offers import Offer, place_key
from editvec.ui.lsp.positions import Positions
from editvec.ui.lsp.roots import WorkspaceRoot
from editvec.ui.lsp.tree import without_bom

SOURCE = "editvec"
NEXT_PLACE = "next-place"
_SEVERITY = {"hint": types.DiagnosticSeverity.Hint, "information": types.DiagnosticSeverity.Information}
_LONGEST = 80
_MAX_POSSIBLE = 30
"""Maximum number of possible places of an edit that get hints, too."""


def diagnostics(root: WorkspaceRoot, path: str, data: bytes, version: int | None) -> list[types.Diagnostic]:
    """Return the diagnostics of a file in order, for offers that are hinted and for due patterns."""
    severity = _SEVERITY.get(root.settings.hints)
    if severity is None:
        return []
    positions = Positions(without_bom(data), root.encoding)
    found = [
        next_place(offer, each, data, positions, severity, version)
        for offer in root.offers
        if root.hinted(offer) and offer.texts.get(path) == data
        for each in hinted_places(offer)
        if each.path == path
    ]
    taken = [(each.range.start, each.range.end) for each in found]
    for due in root.due_in(path, data):
        diagnostic = due_pattern(due, data, positions, severity, version)
        if (diagnostic.range.start, diagnostic.range.end) not in taken:
            found.append(diagnostic)
    return sorted(found, key=lambda each: (each.range.start.line, each.range.start.character))


def hinted_places(offer: Offer) -> Sequence[Suggestion]:
    """Return the places of an offer that get hints: the likely ones and, if they are few, the possible ones."""
    likely = [each for each in offer.suggestions if each.confidence >= LIKELY]
    return offer.suggestions if len(offer.suggestions) - len(likely) <= _MAX_POSSIBLE else likely


def next_place(
    offer: Offer,
    suggestion: Suggestion,
    data: bytes,
    positions: Positions,
    severity: types.DiagnosticSeverity,
    version: int | None,
) -> types.Diagnostic:
    """Return the diagnostic of a place where the edit just made belongs, too."""
    where = offer.shown[0]
    times = f" and {len(offer.shown) - 1} more" if len(offer.shown) > 1 else ""
    message = (
        f"{change_of(suggestion)}, as in {where.path}:{where.line}{times} "
        f"({suggestion.confidence:.0%}; {suggestion.why})"
    )
    fix = fix_of(offer.id, suggestion, data, positions, version) | {"key": place_key(suggestion)}
    return _diagnostic(suggestion, data, positions, severity, NEXT_PLACE, message, fix)


def due_pattern(
    due: DuePlace, data: bytes, positions: Positions, severity: types.DiagnosticSeverity, version: int | None
) -> types.Diagnostic:
    """Return the diagnostic of a place where a learned pattern is due."""
    each = due.suggestion
    title = f"{due.pattern.title}: " if due.pattern.title else ""
    message = f"{title}{change_of(each)} ({each.confidence:.0%}; {each.why})"
    fix = fix_of(due.pattern.id, each, data, positions, version)
    return _diagnostic(each, data, positions, severity, due.pattern.name, message, fix)


def fix_of(rule: str, suggestion: Suggestion, data: bytes, positions: Positions, version: int | None) -> dict[str, Any]:
    """Return a fix as it travels with a diagnostic to the client and back."""
    edit = FileText(data).edit(suggestion.start, suggestion.end, suggestion.after)
    small = shrink(data, edit) or edit
    shift = len(data) - len(positions.data)
    span = positions.range(small.start - shift, small.end - shift)
    return {
        "rule": rule,
        "line": suggestion.line,
        "version": version,
        "confidence": suggestion.confidence,
        "edit": {"range": _plain(span), "newText": small.text.decode("utf-8", "surrogatepass")},
    }


def change_of(suggestion: Suggestion) -> str:
    """Return what a suggestion changes, in one line."""
    before, after = (" ".join(text.split()) or "(nothing)" for text in (suggestion.before, suggestion.after))
    return f"{_short(before)} → {_short(after)}"


def _diagnostic(
    suggestion: Suggestion,
    data: bytes,
    positions: Positions,
    severity: types.DiagnosticSeverity,
    code: str,
    message: str,
    fix: dict[str, Any],
) -> types.Diagnostic:
    shift = len(data) - len(positions.data)
    span = positions.range(suggestion.start - shift, suggestion.end - shift)
    return types.Diagnostic(span, message, severity=severity, code=code, source=SOURCE, data=fix)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _plain(span: types.Range) -> dict[str, Any]:
    start, end = ({"line": each.line, "character": each.character} for each in (span.start, span.end))
    return {"start": start, "end": end}
