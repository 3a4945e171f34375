"""Serve the report on learned patterns, so that suggestions can be accepted or rejected one by one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from editvec.core.errors import UserError
from editvec.data.progress import Stages, silent
from editvec.data.project import project_of
from editvec.mining.options import locate
from editvec.patterns import folder as folders
from editvec.patterns.find import find
from editvec.rewrite.review import Decisions
from editvec.ui.report.patterns import render
from editvec.ui.server import LocalServer
from editvec.vcs.git import work_tree

PATCH = "accepted.patch"


@dataclass(frozen=True, slots=True)
class Served:
    """The state of a server, at its start and at its end."""

    address: str
    patch: Path
    num_accepted: int
    num_lost: int
    """Number of places that were accepted earlier and have changed since."""
    filtered: int
    """Number of files that were skipped because a git filter rewrites them."""


def serve(
    repo: str | Path = ".",
    *,
    patterns: Path | None = None,
    min_confidence: float | None = None,
    port: int = 0,
    ready: Callable[[Served], None] | None = None,
    progress: Stages = silent,
) -> Served:
    """Serve the report to this machine only, until Ctrl-C. Accepted suggestions are written to a patch at once.

    `ready` is called when the server has an address. The address contains a secret token. No file of the work tree is
    changed.

    Raises:
        UserError: The repository has no work tree, or it has no learned patterns.

    Examples:
        >>> import editvec
        >>> editvec.serve(ready=lambda served: print(served.address))
        http://127.0.0.1:.../?token=...
    """
    repository = locate(str(repo))
    top = work_tree(repository)
    if top is None:
        raise UserError(f"{repo} has no work tree. Give a clone that is not bare.")
    folder = folders.used_folder(patterns, project_of(repo), repository)
    learned = folders.load(folder)
    found = find(repo=repo, patterns=folder, min_confidence=min_confidence, progress=progress)
    current = {each.name: each for each in found.patterns}
    shown = [current.get(each.name, each) for each in learned]
    decisions = Decisions([(each.id, each.suggestions) for each in shown], top, folder / PATCH)
    server = LocalServer(
        render(shown, folders.read_document(folder).about(), live=True), decisions.state, decisions.decide, port=port
    )

    def served() -> Served:
        accepted: int = decisions.state()["accepted"]
        return Served(server.address, folder / PATCH, accepted, decisions.num_lost, found.filtered)

    if ready is not None:
        ready(served())
    with suppress(KeyboardInterrupt):
        server.run()
    return served()
