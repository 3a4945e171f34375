"""The code actions of a document: finish the edit just made, fix one place, fix all, or refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

from editvec.core.match import Suggestion
from editvec.suggest.complete import LIKELY
from editvec.ui.lsp.buffers import OpenBuffer
from editvec.ui.lsp.clients import ClientFacts
from editvec.ui.lsp.edits import places
from editvec.ui.lsp.hints import change_of, due_pattern, fix_of, next_place
from editvec.ui.lsp.names import APPLY, FIX_ALL, MUTE, QUICK_FIX, REFUSE, REWRITE
from editvec.ui.lsp.offers import Offer, place_key
from editvec.ui.lsp.positions import Positions
from editvec.ui.lsp.roots import WorkspaceRoot

_TITLE = "editvec: "
_HINT = types.DiagnosticSeverity.Hint


@dataclass(frozen=True, slots=True)
class OfferChoice:
    """The places of an offer that an action edits."""

    offer: Offer
    suggestions: tuple[Suggestion, ...]
    num_unopened: int
    """Number of files among them that are not open."""
    is_written: bool = False
    """Whether these files are written to the disk, because they are too many to be opened by the editor."""

    @property
    def title(self) -> str:
        """Return what the action says it does."""
        likely = sum(each.confidence >= LIKELY for each in self.suggestions)
        rest = len(self.suggestions) - likely
        files = len({each.path for each in self.suggestions})
        span = f"({files:,} file{'' if files == 1 else 's'}{', written to the disk' if self.is_written else ''})"
        if not likely:
            return f"{_TITLE}Review {places(rest)} for the same change {span}"
        review = f", review {rest:,}" if rest else ""
        return f"{_TITLE}Make the same change in {likely:,} more place{'' if likely == 1 else 's'}{review} {span}"


def choose(root: WorkspaceRoot, offer: Offer, client: ClientFacts) -> OfferChoice | None:
    """Return the places of an offer that one action can edit in a client; None if there are none.

    Only a client that asks about single edits gets uncertain ones, and only as many files as it can open. If the
    likely places alone are in too many files, these files are written to the disk.
    """
    likely = [each for each in offer.suggestions if each.confidence >= LIKELY]
    limit = root.settings.max_unopened
    unopened = {each.path for each in likely} - root.buffers.keys()
    if len(unopened) > limit:
        return OfferChoice(offer, tuple(likely), len(unopened), is_written=True)
    chosen = list(likely)
    for each in offer.suggestions if client.has_annotations else ():
        if each.confidence < LIKELY and len(unopened | ({each.path} - root.buffers.keys())) <= limit:
            unopened |= {each.path} - root.buffers.keys()
            chosen.append(each)
    return OfferChoice(offer, tuple(chosen), len(unopened)) if chosen else None


@dataclass(slots=True)
class DocumentActions:
    """The actions for a part of a document."""

    root: WorkspaceRoot
    path: str
    buffer: OpenBuffer
    client: ClientFacts
    only: Sequence[str] | None
    found: list[types.CodeAction] = field(default_factory=list)

    def collect(self, span: types.Range, diagnostics: Sequence[types.Diagnostic]) -> list[types.CodeAction]:
        """Return the actions that can be offered without any work; edits of offers are added by `resolve`."""
        positions = self.buffer.positions
        data = self.buffer.data
        first, last = (data.count(b"\n", 0, positions.offset(each)) + 1 for each in (span.start, span.end))
        lines = range(first, last + 1)
        for offer in self.root.offers:
            if self._wants(REWRITE) and any((self.path, line) in offer.lines for line in lines):
                self._add_offer(offer)
            if self._wants(QUICK_FIX) and offer.texts.get(self.path) == data:
                for each in offer.suggestions:
                    if each.path == self.path and lines_of(each) & set(lines):
                        self._add_place(offer, each, positions, diagnostics)
        if self._wants(QUICK_FIX):
            self._add_due(set(lines), positions, diagnostics)
        return self.found

    def _wants(self, kind: str) -> bool:
        return self.only is None or any(not each or kind == each or kind.startswith(f"{each}.") for each in self.only)

    @property
    def wants_fix_all(self) -> bool:
        """Return whether the client asked for an action that fixes all; such actions are never offered unasked."""
        return self.only is not None and any(each.startswith("source") for each in self.only) and self._wants(FIX_ALL)

    def _add_offer(self, offer: Offer) -> None:
        choice = choose(self.root, offer, self.client)
        if choice is None:
            return
        request = {"uri": self.buffer.uri, "offer": offer.id}
        action = types.CodeAction(choice.title, kind=REWRITE, data=request)
        if choice.is_written or (self.client.has_annotations and not self.client.honors_annotations):
            action = types.CodeAction(choice.title, kind=REWRITE, command=_command(APPLY, choice.title, request))
        self.found.append(action)

    def _add_place(
        self, offer: Offer, suggestion: Suggestion, positions: Positions, given: Sequence[types.Diagnostic]
    ) -> None:
        data, version = self.buffer.data, self.buffer.version
        own = next_place(offer, suggestion, data, positions, _HINT, version)
        fix = own.data if isinstance(own.data, dict) else {}
        title = f"{_TITLE}Make the same change here: {change_of(suggestion)} ({suggestion.confidence:.0%})"
        self._add_fix(title, fix, suggestion.confidence, _same(own, given))
        self._add_refusals(offer.id, suggestion, "this change")

    def _add_due(self, lines: set[int], positions: Positions, given: Sequence[types.Diagnostic]) -> None:
        shown = {place_key(each) for offer in self.root.offers for each in offer.suggestions}
        for due in self.root.due_in(self.path, self.buffer.data):
            if lines_of(due.suggestion) & lines and place_key(due.suggestion) not in shown:
                own = due_pattern(due, self.buffer.data, positions, _HINT, self.buffer.version)
                same = _same(own, given)
                fix = fix_of(due.pattern.id, due.suggestion, self.buffer.data, positions, self.buffer.version)
                title = f"{_TITLE}{change_of(due.suggestion)} ({due.pattern.name})"
                self._add_fix(title, fix, due.suggestion.confidence, same)
                self._add_refusals(due.pattern.id, due.suggestion, due.pattern.name)

    def _add_fix(self, title: str, fix: dict[str, Any], confidence: float, same: list[types.Diagnostic]) -> None:
        preferred = confidence >= LIKELY if self.client.has_preferred else None
        edit = self._edit_of(fix)
        self.found.append(
            types.CodeAction(title, kind=QUICK_FIX, diagnostics=same or None, is_preferred=preferred, edit=edit)
        )

    def _edit_of(self, fix: dict[str, Any]) -> types.WorkspaceEdit:
        span, text = fix["edit"]["range"], fix["edit"]["newText"]
        start, end = (types.Position(**span[side]) for side in ("start", "end"))
        edit = types.TextEdit(types.Range(start, end), text)
        if not self.client.has_versions:
            return types.WorkspaceEdit(changes={self.buffer.uri: [edit]})
        identity = types.OptionalVersionedTextDocumentIdentifier(self.buffer.uri, self.buffer.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identity, [edit])])

    def _add_refusals(self, rule: str, suggestion: Suggestion, what: str) -> None:
        request = {"uri": self.buffer.uri, "rule": rule, "line": suggestion.line}
        for title, command in (
            (f"{_TITLE}Do not suggest {what} here", REFUSE),
            (f"{_TITLE}Mute {what}", MUTE),
        ):
            self.found.append(types.CodeAction(title, kind=QUICK_FIX, command=_command(command, title, request)))


def lines_of(suggestion: Suggestion) -> set[int]:
    """Return the lines of a suggestion, counted from 1."""
    return set(range(suggestion.line, suggestion.line + suggestion.before.rstrip("\n").count("\n") + 1))


def fits(action: types.CodeAction, client: ClientFacts) -> types.CodeAction | types.Command:
    """Return an action as a client can take it; one without its edit becomes a command for clients that need one."""
    if client.has_action_literals or action.command is None:
        return action
    return action.command


def _command(name: str, title: str, request: dict[str, Any]) -> types.Command:
    return types.Command(title, name, arguments=[request])


def _same(own: types.Diagnostic, given: Sequence[types.Diagnostic]) -> list[types.Diagnostic]:
    """Return the client's own copies of a diagnostic."""
    return [each for each in given if each.source == own.source and each.code == own.code and each.range == own.range]
