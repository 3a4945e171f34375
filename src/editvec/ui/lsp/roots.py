"""A folder of the editor's workspace: its open documents, what is offered for them, and the searches.

All of it lives on the event loop. A search gets texts that do not change and runs in the worker thread; its result is
taken only if no document has changed since.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from time import perf_counter

from editvec.core.errors import UserError
from editvec.suggest.complete import LIKELY, POSSIBLE
from editvec.suggest.searched import SearchedFile
from editvec.ui.lsp.buffers import OpenBuffer
from editvec.ui.lsp.due import DueFile, DuePlace, LearnedPatterns, due_places
from editvec.ui.lsp.edits import TextSource
from editvec.ui.lsp.offers import BufferSnapshot, Offer, SearchLimits, find_offers, is_excluded, line_change
from editvec.ui.lsp.refusals import RefusedPlaces, SuggestionPace
from editvec.ui.lsp.settings import EditorSettings
from editvec.ui.lsp.tree import TreeFiles
from editvec.ui.lsp.worker import SearchCancelledError, SearchTicket
from editvec.vcs.worktree import File


class WorkspaceRoot:
    """A folder of the workspace that is in a git work tree."""

    def __init__(
        self,
        folder: Path,
        top: Path,
        encoding: str,
        worker: Executor,
        changed: Callable[[WorkspaceRoot], None],
    ) -> None:
        """Take a folder and the top of its work tree; `changed` is called when there is something new to show."""
        self.folder, self.top, self.encoding = folder, top, encoding
        self.tree = TreeFiles(top, folder)
        self.settings = EditorSettings()
        self.learned = LearnedPatterns(top)
        self.buffers: dict[str, OpenBuffer] = {}
        """The open documents by path relative to `top`."""
        self.refused = RefusedPlaces()
        self.pace = SuggestionPace()
        self.offers: list[Offer] = []
        self.due: dict[str, DueFile] = {}
        """What was last searched for due places, by path."""
        self.is_undone = False
        """Whether the last change of a document was an undo or a redo, after which nothing is offered."""
        self.problem = ""
        self.seconds: list[float] = []
        """The seconds that the last searches took."""
        self._versions: dict[str, int] = {}
        self._num_reads = 0
        self._worker, self._changed = worker, changed
        self._timer: asyncio.TimerHandle | None = None
        self._ticket = SearchTicket()
        self._running: asyncio.Task[None] | None = None

    def set_settings(self, settings: EditorSettings) -> None:
        """Take over new settings."""
        self.settings = settings
        self.learned = LearnedPatterns(self.top, settings.patterns_folder)
        self.due.clear()

    def open(self, path: str, buffer: OpenBuffer) -> None:
        """Take note that a document was opened."""
        self.buffers[path] = buffer
        self.search_soon(0.0)

    def close(self, path: str) -> None:
        """Take note that a document was closed."""
        buffer = self.buffers.pop(path, None)
        if buffer is not None:
            self.refused.move(path, buffer.rested, buffer.data)
        self.due.pop(path, None)
        self._ticket.cancel()
        self.search_soon(self.settings.idle_seconds)

    def edited(self, buffer: OpenBuffer) -> None:
        """Take note that a document was changed by the user or, as far as anybody can tell, by the editor."""
        self._ticket.cancel()
        self.is_undone = buffer.is_undone
        if self.is_undone and self.offers:
            self.offers = []
            self._changed(self)
        if self.settings.trigger == "onIdle":
            self.search_soon(self.pace.delay(self.settings.idle_seconds))

    def saved(self) -> None:
        """Take note that a document was saved."""
        self.tree.forget()
        if self.settings.trigger != "manual":
            self.search_soon(min(self.pace.delay(0.0), self.settings.idle_seconds))

    def search_soon(self, seconds: float) -> None:
        """Search after a pause, unless something changes until then."""
        self.stop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.search_now)

    def stop_timer(self) -> None:
        """Do not search by itself."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def stop(self) -> None:
        """Give up everything that is under way."""
        self._ticket.cancel()
        self.stop_timer()

    def search_now(self) -> asyncio.Task[None]:
        """Start a search, in place of one that is under way, and return it."""
        self.stop_timer()
        self._ticket.cancel()
        self._ticket = SearchTicket()
        self._running = asyncio.get_running_loop().create_task(self._search(self._ticket))
        return self._running

    async def fresh(self, seconds: float) -> None:
        """Wait until what is offered belongs to the texts as they are, but not longer than some seconds."""
        if self.is_fresh:
            return
        running = self._running
        if running is None or running.done() or self._ticket.is_cancelled:
            running = self.search_now()
        await asyncio.wait([running], timeout=seconds)

    @property
    def is_fresh(self) -> bool:
        """Return whether what is offered belongs to the texts as they are."""
        return self._versions == {path: buffer.version for path, buffer in self.buffers.items()}

    async def _search(self, ticket: SearchTicket) -> None:
        snapshots = self._snapshots()
        versions = {each.path: each.version for each in snapshots}
        is_undone = self.is_undone
        started = perf_counter()
        try:
            loop = asyncio.get_running_loop()
            offers = [] if is_undone else await loop.run_in_executor(self._worker, self._find(snapshots, ticket))
            due = await loop.run_in_executor(self._worker, self._find_due(snapshots, ticket))
        except SearchCancelledError:
            return
        except UserError as error:
            self.problem = str(error)
            offers, due = [], self.due
        else:
            self.problem = ""
        if ticket.is_cancelled:
            return
        self.seconds = [*self.seconds[-99:], perf_counter() - started]
        self._note_accepted(snapshots)
        self.offers, self._versions = offers, versions
        self.due, self._num_reads = due, self.learned.num_reads
        self._changed(self)

    def _snapshots(self) -> list[BufferSnapshot]:
        found = []
        for path, buffer in self.buffers.items():
            self.refused.move(path, buffer.rest(), buffer.data)
            own = frozenset(buffer.own_changes)
            facts = (buffer.version, buffer.data, buffer.opened, buffer.paused)
            found.append(BufferSnapshot(path, *facts, own))
        return found

    def _find(
        self, snapshots: list[BufferSnapshot], ticket: SearchTicket, *, everything: bool = False
    ) -> Callable[[], list[Offer]]:
        settings = self.settings
        minimum = POSSIBLE if settings.min_confidence is None else settings.min_confidence
        limits = SearchLimits(minimum, settings.max_places, settings.exclude)
        # The worker must not see a refusal appear in the middle of a search.
        refused = copy.deepcopy(self.refused)
        return partial(find_offers, self.tree, snapshots, refused, limits, ticket, everything=everything)

    async def find_everything(self) -> list[Offer]:
        """Return the offers for all edits since HEAD; a change of a document gives up neither."""
        find = self._find(self._snapshots(), SearchTicket(), everything=True)
        return await asyncio.get_running_loop().run_in_executor(self._worker, find)

    def _find_due(self, snapshots: list[BufferSnapshot], ticket: SearchTicket) -> Callable[[], dict[str, DueFile]]:
        """Return a function that finds the due places of all files in the scope; files as before are not searched."""
        known, learned, num_reads = self.due, self.learned, self._num_reads
        texts = {each.path: each.data for each in snapshots}
        tree, settings = self.tree, self.settings

        def find() -> dict[str, DueFile]:
            patterns = learned.patterns() if settings.patterns else []
            spoken, only_open = {each.language for each in patterns}, settings.scope == "openFiles"
            files = tree.files(spoken, (), texts, ticket, only_open=only_open) if patterns else []
            before = known if learned.num_reads == num_reads else {}
            same = {each.path: before[each.path] for each in files if _is_same(before.get(each.path), each)}
            new = [File(each.path, each.language, each.data) for each in files if each.path not in same]
            ticket.check()
            found = due_places(patterns, new)
            return same | {file.path: DueFile(file.data, found.get(file.path, ())) for file in new}

        return find

    def forget_due(self) -> None:
        """Look for due places again, because the patterns or the files have changed."""
        self.tree.forget()
        self.due.clear()
        self.search_soon(self.settings.idle_seconds)

    def due_in(self, path: str, data: bytes) -> list[DuePlace]:
        """Return the due places of a file, if `data` is the text in which they were found."""
        known = self.due.get(path)
        if known is None or known.data != data or is_excluded(path, self.settings.exclude):
            return []
        wanted = self.wants(path)
        return [each for each in known.places if wanted(each, data)]

    def wants(self, path: str) -> Callable[[DuePlace, bytes], bool]:
        """Return a function that says whether a due place of a file, given its text, was not refused."""
        # The function may run in the worker thread, which must not see a refusal appear.
        refused = copy.deepcopy(self.refused)

        def is_wanted(due: DuePlace, data: bytes) -> bool:
            rule = due.pattern.id
            return not refused.is_muted(rule) and due.suggestion.line not in refused.lines(rule, path, data)

        return is_wanted

    def paths_with_places(self) -> set[str]:
        """Return the paths of the files that have places with hints."""
        hinted = {each.path for offer in self.offers if self.hinted(offer) for each in offer.suggestions}
        return hinted | {path for path, known in self.due.items() if known.places}

    def refuse(self, rule: str, path: str, line: int, data: bytes) -> None:
        """Remember that an edit does not belong to a line, whichever rule suggests it there, and look again."""
        rules = {rule} | {each.pattern.id for each in self.due_in(path, data) if each.suggestion.line == line}
        rules |= {offer.id for offer in self.offers if offer.without(path, line) != offer}
        for each in rules:
            self.refused.add(each, path, line, data)
        self.pace.refused()
        self.offers = [each.without(path, line) if each.id in rules else each for each in self.offers]
        self._changed(self)
        self.search_soon(self.settings.idle_seconds)

    def mute(self, rule: str) -> None:
        """Make no more suggestions of an edit."""
        self.refused.mute(rule)
        self.pace.refused()
        self.offers = [each for each in self.offers if each.id != rule]
        self._changed(self)
        self.search_soon(self.settings.idle_seconds)

    def _note_accepted(self, snapshots: list[BufferSnapshot]) -> None:
        """Take note of the places that were offered last and now are as they were offered."""
        own = {each.path: each.own_changes for each in snapshots}
        for offer in self.offers:
            for each in offer.suggestions:
                if each.path in own and line_change(offer.texts[each.path], each) in own[each.path]:
                    self.pace.accepted()

    def text_source(self) -> TextSource:
        """Return where the texts of the files are at this moment."""
        opened: Mapping[str, tuple[str, int, bytes]] = {
            path: (buffer.uri, buffer.version, buffer.data) for path, buffer in self.buffers.items()
        }
        return TextSource(self.top, opened)

    def hinted(self, offer: Offer) -> bool:
        """Return whether the places of an offer get hints: the edit was made often enough, and some are likely."""
        often = len(offer.shown) >= self.settings.hints_after
        return often and any(each.confidence >= LIKELY for each in offer.suggestions)


def _is_same(known: DueFile | None, file: SearchedFile) -> bool:
    return known is not None and known.data == file.data
