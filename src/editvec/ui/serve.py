"""Serve the report of what was learned, so that places can be accepted one by one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from editvec.core.errors import UserError
from editvec.data.progress import Stages, silent
from editvec.mining.options import locate
from editvec.patterns import folder as folders
from editvec.patterns.find import find
from editvec.patterns.pattern import MIN_CONFIDENCE
from editvec.rewrite.review import Decisions
from editvec.ui.report.patterns import render
from editvec.ui.server import LocalServer
from editvec.vcs.git import work_tree

PATCH = "accepted.patch"


@dataclass(frozen=True, slots=True)
class Served:
    """What a server knows: when it starts, and when it ends."""

    address: str
    patch: Path
    num_accepted: int
    num_lost: int
    """Places that were accepted before and have changed since."""
    filtered: int
    """Files that were not looked at, because a filter of git rewrites them."""


def serve(
    repo: str | Path = ".",
    *,
    patterns: Path | None = None,
    min_confidence: float = MIN_CONFIDENCE,
    port: int = 0,
    ready: Callable[[Served], None] | None = None,
    progress: Stages = silent,
) -> Served:
    """Serve the report on this machine alone until Ctrl-C; what is accepted goes into a patch at once.

    `ready` is told the address, which holds a token that only its reader knows. No file of the work tree is touched.

    Raises:
        UserError: The repository has no work tree, or nothing was learned there.
    """
    repository = locate(str(repo))
    top = work_tree(repository)
    if top is None:
        raise UserError(f"{repo} has no work tree. Give a clone with files in it.")
    folder = patterns or folders.default_folder(repository)
    learned = folders.load(folder)
    found = find(repo=repo, patterns=folder, min_confidence=min_confidence, progress=progress)
    places = {each.name: each for each in found.patterns}
    shown = [places.get(each.name, each) for each in learned]
    decisions = Decisions([(each.id, each.places) for each in shown], top, folder / PATCH)
    server = LocalServer(render(shown, folders.about(folder), live=True), decisions.state, decisions.decide, port=port)

    def served() -> Served:
        accepted: int = decisions.state()["accepted"]
        return Served(server.address, folder / PATCH, accepted, decisions.num_lost, found.filtered)

    if ready is not None:
        ready(served())
    with suppress(KeyboardInterrupt):
        server.run()
    return served()
