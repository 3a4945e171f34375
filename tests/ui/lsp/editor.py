"""An editor as far as a language server can tell: recorded capabilities, documents, and edits that it applies."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Union

import pytest_lsp
from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pytest_lsp.client import client_capabilities, make_test_lsp_client

SECONDS = 60.0


class Editor:
    """A client with one server. Positions are computed here once more, from the protocol's definition."""

    def __init__(self, client: pytest_lsp.LanguageClient) -> None:
        self.client = client
        self.encoding = "utf-16"
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.applied: list[types.ApplyWorkspaceEditParams] = []
        self.registered: list[types.Registration] = []

    async def start(self, name: str, folders: Sequence[Path], env: dict[str, str], options: Any = None) -> None:
        """Start the server as a recorded editor does."""
        self._answer()
        await self.client.start_io(sys.executable, "-m", "editvec", "lsp", "--stdio", env=env)
        result = await self.client.initialize_session(
            types.InitializeParams(
                capabilities=client_capabilities(name),
                workspace_folders=[self._folder(each) for each in folders],
                initialization_options=options,
            )
        )
        encoding = result.capabilities.position_encoding
        self.encoding = str(getattr(encoding, "value", encoding) or "utf-16")

    def _answer(self) -> None:
        @self.client.feature(types.WORKSPACE_APPLY_EDIT)  # type: ignore[untyped-decorator]
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            self.applied.append(params)
            self.apply(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
        def register(params: types.RegistrationParams) -> None:
            self.registered += params.registrations

    async def stop(self) -> None:
        """End the server as the protocol says."""
        await self.client.shutdown_session()
        await self.client.stop()  # type: ignore[no-untyped-call]

    def add(self, folder: Path) -> None:
        """Add a folder to the workspace."""
        event = types.WorkspaceFoldersChangeEvent(added=[self._folder(folder)], removed=[])
        self.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    def remove(self, folder: Path) -> None:
        """Close the documents of a folder, and remove it from the workspace."""
        for uri in [uri for uri in self.texts if self._path(uri).is_relative_to(folder)]:
            self.close(self._path(uri))
        event = types.WorkspaceFoldersChangeEvent(added=[], removed=[self._folder(folder)])
        self.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    def open(self, path: Path) -> str:
        """Open a file."""
        uri = self.uri(path)
        self.texts[uri], self.versions[uri] = path.read_bytes().decode("utf-8-sig"), 1
        item = types.TextDocumentItem(uri, "text", 1, self.texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def close(self, path: Path) -> None:
        """Close a document."""
        uri = self.uri(path)
        self.texts.pop(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def replace(self, path: Path, old: str, new: str, count: int = 1) -> None:
        """Replace the first occurrences of a text, each as an incremental change."""
        uri, at = self.uri(path), 0
        for _ in range(count):
            at = self.texts[uri].index(old, at)
            span = types.Range(self.position(uri, at), self.position(uri, at + len(old)))
            self.texts[uri] = self.texts[uri][:at] + new + self.texts[uri][at + len(old) :]
            self.change(uri, [types.TextDocumentContentChangePartial(range=span, text=new)])
            at += len(new)

    def change(self, uri: str, changes: list[Any]) -> None:
        """Tell of changes."""
        self.versions[uri] += 1
        identity = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identity, changes))

    def save(self, path: Path) -> None:
        """Write a document to the disk."""
        uri = self.uri(path)
        path.write_bytes(self.texts[uri].encode())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def actions(
        self, path: Path, text: str, *, only: list[str] | None = None, automatic: bool = False
    ) -> dict[str, types.CodeAction]:
        """Return the actions at the first occurrence of a text, by title."""
        uri = self.uri(path)
        at = self.position(uri, self.texts[uri].index(text))
        kind = types.CodeActionTriggerKind.Automatic if automatic else types.CodeActionTriggerKind.Invoked
        here = [each for each in self.client.diagnostics.get(uri, ()) if each.range.start.line == at.line]
        context = types.CodeActionContext(here, only=only, trigger_kind=kind)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(at, at), context)
        found = await asyncio.wait_for(self.client.text_document_code_action_async(params), SECONDS)
        return {each.title: each for each in found or () if isinstance(each, types.CodeAction)}

    async def offered(self, path: Path, text: str) -> dict[str, types.CodeAction]:
        """Return the actions at a text, as soon as there are any: on a busy machine, the first search takes long."""
        for _ in range(10):
            found = await self.actions(path, text)
            if found:
                return found
        raise AssertionError("nothing was offered")

    async def choose(self, action: types.CodeAction) -> types.WorkspaceEdit:
        """Do what an action says, and return its edit."""
        if action.edit is None and action.command is None:
            action = await asyncio.wait_for(self.client.code_action_resolve_async(action), SECONDS)
        if action.edit is not None:
            self.apply(action.edit)
            return action.edit
        assert action.command is not None
        await self.run(action.command.command, *(action.command.arguments or ()))
        return self.applied[-1].edit if self.applied else types.WorkspaceEdit()

    async def run(self, command: str, *arguments: Any) -> Any:
        """Run a command of the server."""
        params = types.ExecuteCommandParams(command, list(arguments))
        return await asyncio.wait_for(self.client.workspace_execute_command_async(params), SECONDS)

    def configure(self, settings: Any) -> None:
        """Change the settings, and tell the server."""
        self.client.set_configuration({"editvec": settings})
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"editvec": settings}))

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Make the edits: in open documents as one change, in other files on the disk. Versions must be right."""
        changes: dict[str, list[Any]] = {uri: list(edits) for uri, edits in (edit.changes or {}).items()}
        for each in edit.document_changes or ():
            assert isinstance(each, types.TextDocumentEdit)
            identity = each.text_document
            assert identity.version == self.versions.get(identity.uri), "an edit of another version"
            changes[identity.uri] = list(each.edits)
        for uri, edits in changes.items():
            is_open = uri in self.texts
            if not is_open:
                self.texts[uri] = self._path(uri).read_bytes().decode()
            ordered = sorted(edits, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True)
            for each in ordered:
                text = self.texts[uri]
                low, high = self.index(uri, each.range.start), self.index(uri, each.range.end)
                self.texts[uri] = text[:low] + each.new_text + text[high:]
            if is_open:
                whole = types.TextDocumentContentChangeWholeDocument(text=self.texts[uri])
                self.change(uri, [whole])
            else:
                self._path(uri).write_bytes(self.texts.pop(uri).encode())

    async def until(self, holds: Callable[[], bool], what: Callable[[], object] = lambda: "") -> None:
        """Wait until something holds."""
        for _ in range(int(SECONDS * 50)):
            if holds():
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"it did not come true {what()}")

    def hints(self, path: Path) -> list[int]:
        """Return the lines, counted from 1, of the diagnostics of a document."""
        return [each.range.start.line + 1 for each in self.client.diagnostics.get(self.uri(path), ())]

    async def wait_for_hints(self, path: Path, lines: Sequence[int]) -> None:
        """Wait until a document has diagnostics on these lines, and on no others."""
        await self.until(lambda: self.hints(path) == list(lines), lambda: self.hints(path))

    async def settle(self) -> None:
        """Wait until a search that may be under way has ended: the server answers commands in order."""
        await asyncio.sleep(0.4)

    def position(self, uri: str, at: int) -> types.Position:
        """Return the position of a character."""
        before = self.texts[uri][:at].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return types.Position(len(before) - 1, self._units(before[-1]))

    def index(self, uri: str, position: types.Position) -> int:
        """Return the character at a position."""
        text = self.texts[uri]
        return next(at for at in range(len(text) + 1) if self.position(uri, at) == position)

    def _units(self, text: str) -> int:
        if self.encoding == "utf-32":
            return len(text)
        return len(text.encode()) if self.encoding == "utf-8" else len(text.encode("utf-16-le")) // 2

    def text(self, path: Path) -> str:
        """Return the text of a document as the editor has it, or of a file on the disk."""
        return self.texts.get(self.uri(path)) or path.read_text(encoding="utf-8")

    def uri(self, path: Path) -> str:
        """Return the address of a file."""
        return str(from_fs_path(str(path)))

    def _path(self, uri: str) -> Path:
        return Path(str(to_fs_path(uri)))

    def _folder(self, path: Path) -> types.WorkspaceFolder:
        return types.WorkspaceFolder(self.uri(path), path.name)


def make_editor() -> Editor:
    """Return an editor whose server has not been started."""
    client = make_test_lsp_client()
    converter = client.protocol._converter

    def action_or_command(value: Any, _: type) -> types.CodeAction | types.Command:
        # lsprotocol takes an action that has a command for a command.
        if isinstance(value.get("command"), str):
            return converter.structure(value, types.Command)
        return converter.structure(value, types.CodeAction)

    converter.register_structure_hook(Union[types.Command, types.CodeAction], action_or_command)  # noqa: UP007
    return Editor(client)
