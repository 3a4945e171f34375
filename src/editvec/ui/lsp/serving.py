"""The server: documents in, searches on their way, answers and diagnostics out."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import from_fs_path, to_fs_path

from editvec.core.about import __version__
from editvec.rewrite.journal import top_of_files
from editvec.ui.lsp.clients import ClientFacts
from editvec.ui.lsp.settings import SECTION, read_settings
from editvec.ui.lsp.worker import make_worker

if TYPE_CHECKING:
    from editvec.ui.lsp.buffers import OpenBuffer
    from editvec.ui.lsp.roots import WorkspaceRoot

_log = logging.getLogger(__name__)
_SWITCH = 0.001
"""Seconds after which the search lets the event loop run, so that typing is never slowed."""
_WATCHED = ("**/.editvec/patterns.json", "**/editvec.toml", "**/.editvec.toml", "**/pyproject.toml", "**/.git/HEAD")


class _Protocol(LanguageServerProtocol):
    """Documents go to the server's own buffers, whose lines end as the protocol says."""

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take over an opened document."""
        _server(self).open_document(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take over a change."""
        _server(self).change_document(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        _server(self).close_document(params.text_document.uri)


def _server(protocol: LanguageServerProtocol) -> EditvecServer:
    server = protocol._server
    assert isinstance(server, EditvecServer)
    return server


class EditvecServer(LanguageServer):
    """The language server."""

    def __init__(self) -> None:
        super().__init__("editvec", __version__, protocol_cls=_Protocol, max_workers=2)
        self.roots: list[WorkspaceRoot] = []
        self.client = ClientFacts()
        self.encoding = "utf-16"
        self.problems: list[str] = []
        """What is wrong with the settings."""
        self._given: Any = None
        self._documents: dict[str, tuple[WorkspaceRoot, str]] = {}
        """The root and the path of open documents, by address."""
        self._has_folders = False
        self._waiting: list[str] = []
        """The folders that the client has named, until it is ready."""
        self._published: dict[str, list[types.Diagnostic]] = {}
        self.worker = make_worker()

    # What the client is, and its folders

    def start(self, params: types.InitializeParams) -> None:
        """Take over what the client says of itself, and its folders."""
        self.client = ClientFacts.of(params.capabilities)
        self.encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        self._given = params.initialization_options
        folders = [each.uri for each in params.workspace_folders or ()]
        if not folders and params.root_uri:
            folders = [params.root_uri]
        self._has_folders = bool(folders)
        self._waiting = folders

    def open_folders(self) -> None:
        """Serve the folders that the client named at the start."""
        waiting, self._waiting = self._waiting, []
        for uri in waiting:
            self.add_folder(uri)

    def change_folders(self, added: Iterable[str], removed: Iterable[str]) -> None:
        """Take over a change of the workspace."""
        self.open_folders()
        self._has_folders = True
        for uri in removed:
            self.remove_folder(uri)
        for uri in added:
            self.add_folder(uri)

    def add_folder(self, uri: str) -> None:
        """Serve a folder, if it is in a git work tree."""
        from editvec.ui.lsp.roots import WorkspaceRoot

        path = to_fs_path(uri)
        folder = Path(path).resolve() if path else None
        top = top_of_files(folder) if folder is not None and folder.is_dir() else None
        if folder is None or top is None:
            self.tell(f"editvec: {uri} is not in a git work tree, so nothing is suggested for its files.")
            return
        if all(root.folder != folder for root in self.roots):
            root = WorkspaceRoot(folder, top, self.encoding, self.worker, self.publish)
            self.set_settings(root)
            self.roots.append(root)
            self.roots.sort(key=lambda each: -len(each.folder.parts))

    def remove_folder(self, uri: str) -> None:
        """Serve a folder no longer."""
        path = to_fs_path(uri)
        for root in [each for each in self.roots if path and each.folder == Path(path).resolve()]:
            root.stop()
            self.roots.remove(root)
            for document in [uri for uri, (owner, _) in self._documents.items() if owner is root]:
                self.close_document(document)

    def set_settings(self, root: WorkspaceRoot, configured: Any = None) -> None:
        """Give a root its settings: what the client sent first, and what it has said since."""
        settings, self.problems = read_settings(self._given, configured)
        for each in self.problems:
            self.tell(each)
        if settings != root.settings:
            root.set_settings(settings)

    async def configure(self, changed: Any = None) -> None:
        """Ask for the settings of every root, or take those that came with a notification."""
        for root in self.roots:
            configured = changed
            if self.client.has_configuration:
                item = types.ConfigurationItem(scope_uri=from_fs_path(str(root.folder)), section=SECTION)
                answer = await self.workspace_configuration_async(types.ConfigurationParams([item]))
                configured = answer[0] if answer else None
            before = root.settings
            self.set_settings(root, configured)
            if root.settings != before or root.settings.scope == "workspace":
                root.search_soon(0.0)

    async def watch(self) -> None:
        """Ask to be told when patterns, settings or HEAD change; else their time stamps are looked at."""
        if self.client.watches_files:
            watchers = [types.FileSystemWatcher(glob) for glob in _WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("editvec-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await self.client_register_capability_async(types.RegistrationParams([registration]))

    # Documents

    def open_document(self, document: types.TextDocumentItem) -> None:
        """Take over an opened document, if it is in a folder of the workspace."""
        from editvec.ui.lsp.buffers import OpenBuffer

        self.open_folders()
        path = to_fs_path(document.uri)
        file = Path(path).resolve() if path else None
        if file is None:
            return
        if not self._has_folders:
            # An editor without a project: the document's own work tree counts.
            top = top_of_files(file.parent)
            if top is not None:
                self.add_folder(str(from_fs_path(str(top))))
        root = next((each for each in self.roots if file.is_relative_to(each.folder)), None)
        if root is not None:
            buffer = OpenBuffer(document.uri, file, document.text, document.version, self.encoding)
            name = file.relative_to(root.top).as_posix()
            self._documents[document.uri] = root, name
            root.open(name, buffer)

    def change_document(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take over a change of a document."""
        document = self.document(params.text_document.uri)
        if document is not None:
            root, _, buffer = document
            buffer.change(params.content_changes, params.text_document.version)
            root.edited(buffer)

    def close_document(self, uri: str) -> None:
        """Forget a document, and its diagnostics."""
        root, path = self._documents.pop(uri, (None, ""))
        if root is not None:
            root.close(path)
            self._publish(uri, [], None)

    def document(self, uri: str) -> tuple[WorkspaceRoot, str, OpenBuffer] | None:
        """Return an open document with its root and its path."""
        root, path = self._documents.get(uri, (None, ""))
        return None if root is None else (root, path, root.buffers[path])

    # Out

    def publish(self, root: WorkspaceRoot) -> None:
        """Send the diagnostics of a root's files, as far as they have changed."""
        from editvec.ui.lsp.hints import diagnostics

        opened = {path: (buffer.uri, buffer.data, buffer.version) for path, buffer in root.buffers.items()}
        texts: dict[str, tuple[str, bytes, int | None]] = dict(opened)
        if root.settings.scope == "workspace":
            for path in root.paths_with_places() - opened.keys():
                data = _text_of(root.top / path)
                if data is not None:
                    texts[path] = str(from_fs_path(str(root.top / path))), data, None
        for path, (uri, data, version) in texts.items():
            self._publish(uri, diagnostics(root, path, data, version), version)
        below = str(from_fs_path(str(root.folder)))
        shown = {uri for uri, _, _ in texts.values()}
        for uri in [each for each in self._published if each.startswith(below) and each not in shown]:
            self._publish(uri, [], None)

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        if found != self._published.get(uri, []):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version=version))
        if found:
            self._published[uri] = found
        else:
            self._published.pop(uri, None)

    def tell(self, message: str) -> None:
        """Write a line to the client's log."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    def show(self, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Show a message, in answer to a command only."""
        self.window_show_message(types.ShowMessageParams(kind, message))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Write an error to the log; the client's window stays quiet."""
        _log.error("%s", error)
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, f"editvec: {error}"))

    def stop(self) -> None:
        """Give up all that is under way."""
        for root in self.roots:
            root.stop()
        self.worker.shutdown(wait=False, cancel_futures=True)


def _text_of(file: Path) -> bytes | None:
    from editvec.core.text import FileText

    try:
        return FileText(file.read_bytes()).utf8
    except OSError:
        return None


def lsp() -> None:
    """Serve editors over the standard streams, by the language server protocol, until the editor ends it.

    Raises:
        OSError: The streams cannot be read.

    Examples:
        >>> import editvec
        >>> editvec.lsp()
    """
    from editvec.ui.lsp.handlers import register

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    sys.setswitchinterval(_SWITCH)
    server = EditvecServer()
    register(server)
    server.start_io()
    server.stop()
