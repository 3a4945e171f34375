"""The answers to requests for code actions."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from editvec.core.splice import TextEdit
from editvec.syntax.languages import language_of
from editvec.ui.lsp.actions import DocumentActions, choose, fits
from editvec.ui.lsp.due import all_fixed
from editvec.ui.lsp.edits import EditedFile, PlannedEdits, workspace_edit
from editvec.ui.lsp.names import FIX_ALL
from editvec.ui.lsp.serving import EditvecServer
from editvec.vcs.worktree import File

WAIT = 1.5
"""Seconds that an action asked for by the user waits for the search."""


async def code_actions(
    ls: EditvecServer, params: types.CodeActionParams
) -> list[types.CodeAction | types.Command] | None:
    """Return the actions at a place of a document; None if the document is not in the workspace."""
    document = ls.document(params.text_document.uri)
    if document is None:
        return None
    root, path, buffer = document
    if params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic:
        await root.fresh(WAIT)
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


async def resolved(ls: EditvecServer, action: types.CodeAction) -> types.CodeAction:
    """Return an action with its edit.

    Raises:
        JsonRpcContentModified: The texts have changed, and the action has become meaningless.
    """
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
    await root.fresh(WAIT)
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
