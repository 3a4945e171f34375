"""The commands of the server, for an editor's palette and for the actions that an editor cannot apply by itself.

A command that changes files says in its answer what it did, and shows it.
"""

from __future__ import annotations

import asyncio
import json
import platform
import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from lsprotocol import types

from editvec.core.about import __version__
from editvec.core.errors import UserError
from editvec.rewrite.undo import undo
from editvec.suggest.complete import LIKELY, without_overlaps
from editvec.ui.lsp import names
from editvec.ui.lsp.actions import OfferChoice, choose, lines_of
from editvec.ui.lsp.answers import WAIT
from editvec.ui.lsp.edits import PlannedEdits, places, workspace_edit, write_files
from editvec.ui.lsp.offers import Offer
from editvec.ui.lsp.roots import WorkspaceRoot
from editvec.ui.lsp.serving import EditvecServer

_LABEL = "editvec: make the same change"
_NOTHING = "editvec: no other place looks like the edits that you made."


async def run_command(ls: EditvecServer, name: str, arguments: Sequence[Any]) -> Any:
    """Carry out a command; its argument, which may be missing, is an object.

    Raises:
        UserError: The command cannot be carried out, with what to do instead.
    """
    request = dict(arguments[0]) if arguments and isinstance(arguments[0], dict) else {}
    return await _COMMANDS[name](ls, request)


def _root(ls: EditvecServer, request: dict[str, Any]) -> WorkspaceRoot:
    """Return the root of the document that a request names, or the only one."""
    document = ls.document(str(request.get("uri")))
    if document is not None:
        return document[0]
    if len(ls.roots) == 1:
        return ls.roots[0]
    raise UserError("open a file of a git work tree first.")


def _say(ls: EditvecServer, message: str, *, wrong: bool = False) -> dict[str, Any]:
    ls.show(message, types.MessageType.Warning if wrong else types.MessageType.Info)
    return {"message": message}


async def _apply(ls: EditvecServer, request: dict[str, Any]) -> dict[str, Any]:
    """Make the changes of an offer."""
    root = _root(ls, request)
    await root.fresh(WAIT)
    offer = next((each for each in root.offers if each.id == request.get("offer")), None)
    choice = None if offer is None else choose(root, offer, ls.client)
    if choice is None:
        return _say(ls, "editvec: the files have changed since; there is nothing left to do.")
    return await _carry_out(ls, root, choice)


async def _carry_out(ls: EditvecServer, root: WorkspaceRoot, choice: OfferChoice) -> dict[str, Any]:
    """Write the places of a choice: through the client and, if they are too many, to the disk."""
    source = root.text_source()
    planned = await asyncio.to_thread(source.plan, choice.suggestions, choice.offer.texts)
    total, said = planned.num_places, ""
    if choice.is_written:
        written = total
        planned = await asyncio.to_thread(write_files, planned, root.top)
        written -= planned.num_places
        said = f" {places(written)} written to the disk; `editvec undo` takes them back."
        root.tree.forget()
    result = await _send(ls, planned)
    root.search_soon(root.settings.idle_seconds)
    for problem in planned.problems:
        ls.tell(f"editvec: {problem}")
    if not result.applied:
        return _say(ls, f"editvec: not applied: {result.failure_reason or 'the editor refused'}.{said}", wrong=True)
    if said or planned.problems:
        skipped = f" {len(planned.problems)} files were left alone; see the log." if planned.problems else ""
        return _say(ls, f"editvec:{said}{skipped}")
    return {"places": total}


async def _send(ls: EditvecServer, planned: PlannedEdits) -> types.ApplyWorkspaceEditResult:
    if not planned.files:
        return types.ApplyWorkspaceEditResult(applied=True)
    if not ls.client.applies_edits:
        return types.ApplyWorkspaceEditResult(applied=False, failure_reason="this editor takes no edits from servers")
    edit = workspace_edit(planned, ls.client, ls.encoding)
    metadata = types.WorkspaceEditMetadata(is_refactoring=True) if ls.client.has_metadata else None
    params = types.ApplyWorkspaceEditParams(edit, label=_LABEL, metadata=metadata)
    return await ls.workspace_apply_edit_async(params)


async def _refuse(ls: EditvecServer, request: dict[str, Any]) -> None:
    """Remember that an edit does not belong to a line of a document."""
    document = ls.document(str(request.get("uri")))
    if document is not None:
        root, path, buffer = document
        root.refuse(str(request.get("rule")), path, int(request.get("line", 0)), buffer.data)


async def _mute(ls: EditvecServer, request: dict[str, Any]) -> None:
    """Suggest an edit no more; of a learned pattern, for good."""
    _root(ls, request).mute(str(request.get("rule")))


async def _finish(ls: EditvecServer, request: dict[str, Any]) -> dict[str, Any]:
    """Make the same changes everywhere for all edits since HEAD."""
    root = _root(ls, request)
    offers = await root.find_everything()
    suggestions = without_overlaps(each for offer in offers for each in offer.suggestions)
    texts = {path: text for offer in offers for path, text in offer.texts.items()}
    every = Offer("", "", (), frozenset(), tuple(suggestions), texts)
    choice = choose(root, every, ls.client)
    if choice is None:
        return _say(ls, _NOTHING)
    return await _carry_out(ls, root, choice)


async def _learn(ls: EditvecServer, request: dict[str, Any]) -> dict[str, Any]:
    """Learn the patterns of the history again, in a process of its own, which the user can stop."""
    root = _root(ls, request)
    token = secrets.token_hex(8)
    if ls.client.has_progress:
        await ls.work_done_progress.create_async(token)
        begin = types.WorkDoneProgressBegin("editvec: learning from the history", cancellable=True)
        ls.work_done_progress.begin(token, begin)
    command = [sys.executable, "-m", "editvec", "learn", str(root.top)]
    none, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=none, stdout=none, stderr=pipe)
    if ls.client.has_progress:
        ls.work_done_progress.tokens[token].add_done_callback(lambda _: _stop(process))
    try:
        _, errors = await process.communicate()
    finally:
        _stop(process)
        if ls.client.has_progress:
            ls.work_done_progress.end(token, types.WorkDoneProgressEnd())
    if process.returncode:
        last = errors.decode(errors="replace").strip().splitlines()[-1:] or ["stopped"]
        return _say(ls, f"editvec: nothing learned: {last[0].removeprefix('editvec: ')}", wrong=True)
    root.forget_due()
    number = len(root.learned.patterns())
    return _say(ls, f"editvec: {number:,} pattern{'' if number == 1 else 's'} with a verified rule.")


def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()


async def _undo(ls: EditvecServer, request: dict[str, Any]) -> dict[str, Any]:
    """Take back what was last written to the disk, by the server or by the command line."""
    root = _root(ls, request)
    done = await asyncio.to_thread(undo, root.top)
    root.tree.forget()
    root.search_soon(root.settings.idle_seconds)
    for refusal in done.refused:
        ls.tell(f"editvec: {refusal.path}: {places(refusal.num_edits)} not taken back: {refusal.reason}")
    if not done.verb:
        return _say(ls, "editvec: nothing to undo on the disk.")
    refused = f"; {len(done.refused)} refused, see the log" if done.refused else ""
    return _say(ls, f"editvec: {places(done.num_edits)} of {done.verb} taken back{refused}.", wrong=bool(done.refused))


async def _explain(ls: EditvecServer, request: dict[str, Any]) -> dict[str, Any]:
    """Say why a place at a line is suggested; `line` is counted from 0, as the protocol does."""
    root = _root(ls, request)
    await root.fresh(WAIT)
    document = ls.document(str(request.get("uri")))
    path = document[1] if document is not None else ""
    line = request["line"] + 1 if isinstance(request.get("line"), int) else None
    lines = []
    for offer in root.offers:
        here = [each for each in offer.suggestions if line is None or (each.path == path and line in lines_of(each))]
        if here or (path, line) in offer.lines:
            where = ", ".join(f"{each.path}:{each.line}" for each in offer.shown[:5])
            likely = sum(each.confidence >= LIKELY for each in offer.suggestions)
            lines.append(f"{offer.summary}: made at {where}; {likely} likely of {places(len(offer.suggestions))}")
            lines += [f"  {each.path}:{each.line}: {each.confidence:.0%}, {each.why}" for each in here[:20]]
    for due in root.due_in(path, document[2].data) if document is not None else ():
        if line is None or line in lines_of(due.suggestion):
            pattern = due.pattern
            lines.append(f"{pattern.name}: {pattern.before} → {pattern.after}: {due.suggestion.why}")
    return _say(ls, "\n".join(lines) or "editvec: nothing is suggested here.")


async def _debug(ls: EditvecServer, request: dict[str, Any]) -> str:
    """Return what helps to find out why the server does what it does."""
    facts = {
        "version": __version__,
        "python": f"{platform.python_version()} at {sys.executable}",
        "position encoding": ls.encoding,
        "client": {name: getattr(ls.client, name) for name in type(ls.client).__slots__},
        "wrong settings": ls.problems,
        "roots": [_about(root) for root in ls.roots],
    }
    text = json.dumps(facts, indent=2, ensure_ascii=False, default=str)
    ls.tell(text)
    return text


def _about(root: WorkspaceRoot) -> dict[str, Any]:
    seconds = sorted(root.seconds)
    return {
        "folder": root.folder,
        "work tree": root.top,
        "patterns": root.learned.folder,
        "settings": {name: getattr(root.settings, name) for name in root.settings.__struct_fields__},
        "open documents": {path: buffer.version for path, buffer in root.buffers.items()},
        "offers": [f"{each.summary}: {places(len(each.suggestions))}" for each in root.offers],
        "problem": root.problem,
        "searches": len(seconds),
        "median seconds": round(seconds[len(seconds) // 2], 3) if seconds else None,
    }


_COMMANDS: dict[str, Callable[[EditvecServer, dict[str, Any]], Awaitable[Any]]] = {
    names.APPLY: _apply,
    names.REFUSE: _refuse,
    names.MUTE: _mute,
    names.FINISH: _finish,
    names.LEARN: _learn,
    names.UNDO: _undo,
    names.EXPLAIN: _explain,
    names.DEBUG: _debug,
}
