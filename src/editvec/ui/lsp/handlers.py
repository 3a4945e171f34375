"""The requests and notifications that the server answers, without those of documents and without the commands."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from editvec.core.splice import TextEdit
from editvec.syntax.languages import language_of
from editvec.ui.lsp.actions import FIX_ALL, KINDS, DocumentActions, choose, fits
from editvec.ui.lsp.commands import register_commands
from editvec.ui.lsp.due import all_fixed
from editvec.ui.lsp.edits import EditedFile, PlannedEdits, workspace_edit
from editvec.ui.lsp.serving import EditvecServer
from editvec.ui.lsp.worker import warm_up
from editvec.vcs.worktree import File

_WAIT = 1.5
"""Seconds that an action asked for by the user waits for the search."""


def register(server: EditvecServer) -> None:
    """Make a server answer everything that it can."""
    register_commands(server)
    for name, handler in (
        (types.INITIALIZE, _initialize),
        (types.INITIALIZED, _initialized),
        (types.SHUTDOWN, _shutdown),
        (types.TEXT_DOCUMENT_DID_SAVE, _did_save),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, _configuration_changed),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _files_changed),
        (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, _folders_changed),
        (types.CODE_ACTION_RESOLVE, _resolve),
    ):
        server.feature(name)(handler)
    options = types.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_code_action)


def _initialize(ls: EditvecServer, params: types.InitializeParams) -> None:
    ls.start(params)


async def _initialized(ls: EditvecServer, params: types.InitializedParams) -> None:
    ls.worker.submit(warm_up)
    await asyncio.gather(ls.configure(), ls.watch())


def _shutdown(ls: EditvecServer, params: None) -> None:
    ls.stop()


def _did_save(ls: EditvecServer, params: types.DidSaveTextDocumentParams) -> None:
    document = ls.document(params.text_document.uri)
    if document is not None:
        document[0].saved()


async def _configuration_changed(ls: EditvecServer, params: types.DidChangeConfigurationParams) -> None:
    await ls.configure(params.settings)


def _files_changed(ls: EditvecServer, params: types.DidChangeWatchedFilesParams) -> None:
    for root in ls.roots:
        root.forget_due()


def _folders_changed(ls: EditvecServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    ls.change_folders([each.uri for each in params.event.added], [each.uri for each in params.event.removed])


async def _code_action(
    ls: EditvecServer, params: types.CodeActionParams
) -> list[types.CodeAction | types.Command] | None:
    document = ls.document(params.text_document.uri)
    if document is None:
        return None
    root, path, buffer = document
    if params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic:
        await root.fresh(_WAIT)
    actions = DocumentActions(root, path, buffer, ls.client, params.context.only)
    if actions.wants_fix_all:
        edits = await _fix_all(ls, params.text_document.uri)
        if edits is not None:
            title = "editvec: Fix all likely places in this file"
            return [types.CodeAction(title, kind=FIX_ALL, edit=workspace_edit(edits, ls.client, ls.encoding))]
    found = []
    for action in actions.collect(params.range, params.context.diagnostics):
        needs_edit = action.edit is None and action.command is None
        if needs_edit and not ls.client.resolves_edits:
            action.edit = await _edit_of(ls, action.data)
        found.append(fits(action, ls.client))
    return found


async def _resolve(ls: EditvecServer, action: types.CodeAction) -> types.CodeAction:
    if action.edit is None and isinstance(action.data, dict):
        action.edit = await _edit_of(ls, action.data)
    return action


async def _edit_of(ls: EditvecServer, request: Any) -> types.WorkspaceEdit:
    """Return the edit that an action stands for.

    Raises:
        JsonRpcContentModified: The texts have changed, and the action has become meaningless.
    """
    document = ls.document(str(request.get("uri")))
    if document is None:
        raise JsonRpcContentModified()
    root = document[0]
    await root.fresh(_WAIT)
    offer = next((each for each in root.offers if each.id == request.get("offer")), None)
    choice = None if offer is None else choose(root, offer, ls.client)
    if offer is None or choice is None:
        raise JsonRpcContentModified()
    plan = partial(root.text_source().plan, choice.suggestions, offer.texts)
    planned = await asyncio.to_thread(plan)
    for problem in planned.problems:
        ls.tell(f"editvec: {problem}")
    return workspace_edit(planned, ls.client, ls.encoding)


async def _fix_all(ls: EditvecServer, uri: str) -> PlannedEdits | None:
    """Return the edits that apply all likely patterns to a document; None if there is nothing to do."""
    document = ls.document(uri)
    if document is None:
        return None
    root, path, buffer = document
    data, language = buffer.data, language_of(path)
    if language is None or not root.settings.patterns:
        return None
    learned, file, wanted = root.learned, File(path, language.name, data), root.wants(path)

    def run() -> list[TextEdit]:
        return all_fixed(learned.patterns(), file, wanted)

    edits = await asyncio.get_running_loop().run_in_executor(ls.worker, run)
    if not edits or buffer.data != data:
        return None
    return PlannedEdits([EditedFile(buffer.path, uri, buffer.version, data, tuple((each, 1.0) for each in edits))])
