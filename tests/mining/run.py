"""Mining in one line, in this process: what most tests of mining need."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from editvec.core.edit import Edit
from editvec.mining.batch import MiningTask
from editvec.mining.options import pick_languages
from editvec.mining.recipes import get_recipe
from editvec.mining.run import MiningReport, MiningRequest, edits
from editvec.vcs import git
from tests.conftest import Repo


@dataclass(frozen=True)
class Mined:
    """What mining gave."""

    edits: list[Edit]
    report: MiningReport

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Before and after of each edit."""
        return [(edit.before.text, edit.after.text) for edit in self.edits]

    @property
    def only(self) -> Edit:
        """The one edit that there is."""
        (edit,) = self.edits
        return edit


def mine(
    repo: Repo | Path,
    recipe: str = "default",
    *,
    languages: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    revisions: tuple[str, ...] = (),
    resume: bool = False,
    workers: int = 1,
    **limits: int,
) -> Mined:
    """The edits of a repository."""
    path = repo.path if isinstance(repo, Repo) else repo
    chosen = get_recipe(recipe, keep=keep, **limits)
    task = MiningTask(git.open_repository(path), chosen, pick_languages(languages, chosen), paths)
    report = MiningReport()
    request = MiningRequest(task, revisions=revisions, workers=workers, resume=resume)
    return Mined(list(edits(request, report)), report)
