"""The requests and notifications that the server answers, but for documents.

What needs the engine is imported when it is first asked for, so that the first answer comes quickly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types

from editvec.ui.lsp.names import COMMANDS, KINDS
from editvec.ui.lsp.serving import EditvecServer
from editvec.ui.lsp.worker import warm_up


def register(server: EditvecServer) -> None:
    """Make a server answer everything that it can."""
    for name in COMMANDS:
        server.command(name)(_command(name))
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


def _command(name: str) -> Callable[..., Awaitable[Any]]:
    async def run(ls: EditvecServer, *arguments: Any) -> Any:
        from editvec.ui.lsp.commands import run_command

        return await run_command(ls, name, arguments)

    return run


def _initialize(ls: EditvecServer, params: types.InitializeParams) -> None:
    ls.start(params)


async def _initialized(ls: EditvecServer, params: types.InitializedParams) -> None:
    ls.worker.submit(warm_up)
    ls.open_folders()
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
    from editvec.ui.lsp.answers import code_actions

    return await code_actions(ls, params)


async def _resolve(ls: EditvecServer, action: types.CodeAction) -> types.CodeAction:
    from editvec.ui.lsp.answers import resolved

    return await resolved(ls, action)
