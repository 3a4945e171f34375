"""What the edits just made in the editor suggest elsewhere.

This runs in the worker thread, on texts that do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from hashlib import blake2b

from editvec.core.edit import Demonstration
from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, splice
from editvec.rewrite.plan import breaks
from editvec.suggest.complete import languages_like
from editvec.suggest.intents import Intent, intents_of, shown_edits
from editvec.suggest.session import FinishSession, ShownLine, edit_id
from editvec.syntax.languages import Language, language_of
from editvec.syntax.lexer import LexedText
from editvec.ui.lsp.buffers import new_lines, normalised
from editvec.ui.lsp.refusals import RefusedPlaces
from editvec.ui.lsp.tree import TreeFiles
from editvec.ui.lsp.worker import SearchTicket, give_memory_back
from editvec.vcs.filters import is_vendored

_MAX_LIVE = 3
"""Maximum number of different edits that are finished at the same time; the last ones made come first."""
_MAX_EVERYTHING = 12
"""The same if all edits since HEAD are finished."""


@dataclass(frozen=True, slots=True)
class BufferSnapshot:
    """An open document at the time of a search; its path is relative to the top of the work tree."""

    path: str
    version: int
    data: bytes
    opened: bytes
    paused: bytes
    """The text before the last change between two pauses."""
    own_changes: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Offer:
    """An edit that the user has just made, and where else it belongs."""

    id: str
    summary: str
    shown: tuple[ShownLine, ...]
    lines: frozenset[tuple[str, int]]
    """All lines, counted from 1, that the edits made."""
    suggestions: tuple[Suggestion, ...]
    texts: Mapping[str, bytes]
    """The texts, by path, to which the offsets of the suggestions refer."""

    def without(self, path: str, line: int) -> Offer:
        """Return the offer without its places on a line."""
        kept = tuple(each for each in self.suggestions if (each.path, each.line) != (path, line))
        return replace(self, suggestions=kept)


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What a search leaves out."""

    min_confidence: float
    max_places: int
    exclude: tuple[str, ...] = ()
    """Patterns of paths, as in shells, without suggestions."""


def find_offers(
    tree: TreeFiles,
    buffers: Sequence[BufferSnapshot],
    refused: RefusedPlaces,
    limits: SearchLimits,
    ticket: SearchTicket,
    *,
    everything: bool = False,
) -> list[Offer]:
    """Return the offers for the edits made since the documents were opened, the last edits first.

    With `everything`, all edits since HEAD count. An edit that leaves its file with more syntax errors is not complete
    and does not count.

    Raises:
        SearchCancelledError: The ticket was cancelled.
        GitError: git cannot read the repository.
    """
    overlay = {each.path: each.data for each in buffers}
    opened = [demo for each in buffers if (demo := _demonstration(tree, each, ticket)) is not None]
    if not opened and not everything:
        return []
    shown = opened + tree.changes(overlay.keys())
    edits = [edit for each in shown for edit in shown_edits(each)]
    ticket.check()
    touched = {(each.path, line) for each in buffers for line in new_lines(each.opened, each.data)}
    last = {(each.path, line) for each in buffers for line in new_lines(each.paused, each.data)}
    live = [each for each in intents_of(edits) if everything or _lines_of(each) & touched]
    live.sort(key=lambda intent: (not _lines_of(intent) & last, -len(intent.edits)))
    offers = []
    for intent in live[: _MAX_EVERYTHING if everything else _MAX_LIVE]:
        ticket.check()
        if refused.is_muted(edit_id(intent)):
            continue
        offer = _offer(tree, intent, shown, overlay, refused, limits, ticket)
        if offer is not None:
            offers.append(_without_reverts(offer, buffers))
        # The tokens of a search of a large tree take more memory than its texts, and little time to make again.
        tree.release()
        give_memory_back()
    return [each for each in offers if each.suggestions]


def _demonstration(tree: TreeFiles, buffer: BufferSnapshot, ticket: SearchTicket) -> Demonstration | None:
    """Return what an open document shows: the text since HEAD or, in a new file, since it was opened."""
    ticket.check()
    if is_vendored(buffer.path) or buffer.path not in {path for path, _ in tree.paths(*languages_like([buffer.path]))}:
        return None
    before = tree.head(buffer.path)
    before = buffer.opened if before is None else before
    language = language_of(buffer.path)
    if before == buffer.data or (isinstance(language, Language) and breaks(language, before, buffer.data)):
        return None
    return Demonstration(buffer.path, before, buffer.data)


def _offer(
    tree: TreeFiles,
    intent: Intent,
    shown: Sequence[Demonstration],
    overlay: Mapping[str, bytes],
    refused: RefusedPlaces,
    limits: SearchLimits,
    ticket: SearchTicket,
) -> Offer | None:
    name = edit_id(intent)
    files = tree.files(*languages_like(edit.path for edit in intent.edits), overlay, ticket)
    by_path = {file.path: file.data for file in files}
    refusals = [
        (path, line)
        for path in {each.path for each in refused.of(name)} & by_path.keys()
        for line in refused.lines(name, path, by_path[path])
    ]
    # Deleted lines cannot be named by their lines now; then all edits are looked at.
    is_deletion = any(edit.last_line_now == edit.first_line_now for edit in intent.edits)
    session = FinishSession(shown, files, refused=refusals, only=() if is_deletion else _lines_of(intent))
    edits = session.edits()
    suggestions = [
        each
        for each in session.suggestions(limits.min_confidence)
        if each.edit == name and not is_excluded(each.path, limits.exclude)
    ][: limits.max_places]
    summary = next((each for each in edits if each.id == name), None)
    if summary is None:
        return None
    texts = {each.path: by_path[each.path] for each in suggestions}
    return Offer(name, summary.summary, summary.demonstrations, _lines_of(intent), tuple(suggestions), texts)


def _without_reverts(offer: Offer, buffers: Iterable[BufferSnapshot]) -> Offer:
    """Return an offer without the places where it would take back what the user changed."""
    own = {each.path: each.own_changes for each in buffers}
    kept = tuple(
        each
        for each in offer.suggestions
        if each.path not in own or line_change(offer.texts[each.path], each)[::-1] not in own[each.path]
    )
    return replace(offer, suggestions=kept)


def line_change(data: bytes, suggestion: Suggestion) -> tuple[str, str]:
    """Return the lines of a suggestion as they are and as they would be, normalised."""
    text = LexedText(data)
    low = text.line_starts[text.line_of(suggestion.start)]
    high = text.line_starts[text.line_of(max(suggestion.start, suggestion.end - 1)) + 1]
    written = suggestion.after.encode("utf-8", "surrogateescape")
    new = splice(data[low:high], [TextEdit(suggestion.start - low, suggestion.end - low, written)])
    return normalised(data[low:high].decode("utf-8", "replace")), normalised(new.decode("utf-8", "replace"))


def is_excluded(path: str, exclude: Iterable[str]) -> bool:
    """Return whether a path matches one of the patterns of the settings."""
    return any(fnmatch(path, pattern) for pattern in exclude)


def place_key(suggestion: Suggestion) -> str:
    """Return a short name of a place that differs between the places of an offer."""
    facts = (suggestion.path, suggestion.start, suggestion.before, suggestion.after)
    return blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _lines_of(intent: Intent) -> frozenset[tuple[str, int]]:
    """Return the lines, counted from 1, that edits made; for a deletion, the line where it was."""
    return frozenset(
        (edit.path, line + 1)
        for edit in intent.edits
        for line in range(edit.first_line_now, max(edit.last_line_now, edit.first_line_now + 1))
    )
