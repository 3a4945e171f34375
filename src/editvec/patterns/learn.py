"""Learn the recurring edits of a repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from editvec.core.about import __version__
from editvec.data.progress import Stages, silent
from editvec.data.project import project_of
from editvec.mining.batch import MiningTask
from editvec.mining.options import locate, pick_languages, pick_paths
from editvec.mining.recipes import get_recipe
from editvec.mining.run import MiningRequest
from editvec.patterns import folder as folders
from editvec.patterns.document import LearnedFrom
from editvec.patterns.pipeline import TOP, Learned, LearnRequest, learn_patterns
from editvec.patterns.verify import judge_patterns, remember, verdicts
from editvec.vcs.git import Repository, top_of

if TYPE_CHECKING:
    from editvec.neural.model import EditModel

NO_MODEL = "none"
Report = Callable[[Learned, Mapping[str, Any]], str]
"""A function that renders the result of learning and the facts about the run as an HTML page."""


def learn(
    repo: str | Path = ".",
    out: Path | None = None,
    *,
    language: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
    range: str | None = None,
    author: Sequence[str] = (),
    paths: Sequence[str] = (),
    prose: bool = False,
    model: EditModel | str | Path | None = None,
    min_edits: int = 3,
    min_commits: int = 2,
    min_confidence: float | None = None,
    top: int = TOP,
    workers: int = 0,
    config: Path | None = None,
    isolated: bool = False,
    verify: str | None = None,
    report: Report | None = None,
    progress: Stages = silent,
) -> Learned:
    """Learn the recurring edits of a repository as rules, and find the places where they still apply.

    The patterns, their rules, their edits and a report (if `report` renders one) are written to `out`, by default
    `.editvec` at the top of the work tree. The settings, those of `config` or of the nearest file (see `project_of`),
    say which files, languages and commits are read where the arguments do not; with `isolated`, there are none. `model`
    is a loaded model, its folder, "none", or None for the packaged model. With `verify`, a command (empty: that of the
    settings) judges the places in a scratch copy of the work tree, and those that it refuses are left out. After an
    interruption, the same call continues where it stopped. A later call mines only new commits.

    `since`, `until`, `range` and `author` (parts of names) choose the edits to learn from; `paths` these edits and the
    files in which places are searched. `top` limits the habits and the migrations that are kept.

    Raises:
        GitError: The repository cannot be read.
        UserError: An option is invalid, or `out` holds files that `learn` did not write.

    Examples:
        >>> import editvec
        >>> for pattern in editvec.learn(".", model="none").patterns[:1]:
        ...     print(pattern.before, "->", pattern.after, len(pattern.suggestions))
        new ArgumentNullException("$X") -> new ArgumentNullException(nameof($X)) 5
    """
    recipe = get_recipe("prose" if prose else "default")
    repository, project = locate(str(repo)), project_of(repo, config, isolated)
    verify = project.verify_command(verify)
    folder = out or folders.default_folder(repository)
    folders.check(folder)
    languages = pick_languages(language or project.languages(prose=recipe.prose), recipe)
    task = MiningTask(repository, recipe, languages, pick_paths(paths))
    mining = MiningRequest(task, tuple((range or "").split()), since or project.settings.since, until, workers)
    judged = verdicts(folder)
    request = LearnRequest(mining, min_edits, min_commits, min_confidence, top, tuple(author), judged, project=project)
    work_tree = top_of(repository) if verify is not None else Path()
    learned = learn_patterns(request, _model(model), progress)
    if verify is not None:
        learned.patterns, learned.verification = judge_patterns(work_tree, learned.patterns, verify, progress)
    return _saved(folder, learned, request, report)


def _saved(folder: Path, learned: Learned, request: LearnRequest, report: Report | None) -> Learned:
    """Write what was learned to a folder, and return it."""
    learned.folder = folder
    mining, repository = request.mining, request.mining.task.repository
    limits = mining.since or "", mining.until or "", " ".join(mining.revisions)
    chosen = LearnedFrom(*limits, list(request.authors), list(mining.task.paths))
    about = about_of(repository, learned) | {"learned_from": chosen}
    page = report(learned, about) if report is not None else ""
    folders.save(folder, learned.patterns, learned.edits, about, page)
    remember(folder, learned.patterns)
    return learned


def about_of(repository: Repository, learned: Learned) -> dict[str, Any]:
    """Return the facts about a run of learning, as they are written to `patterns.json`."""
    return {
        "version": __version__,
        "repository": repository.name,
        "head": repository.attempt("rev-parse", "HEAD").stdout.decode().strip(),
        "commits": learned.report.commits,
        "hunks": learned.report.hunks,
        "edits": len(learned.edits),
        "seconds": {stage: round(seconds, 2) for stage, seconds in learned.seconds.items()},
    }


def _model(model: EditModel | str | Path | None) -> EditModel | None:
    from editvec.neural.model import EditModel, load

    if isinstance(model, EditModel):
        return model
    return None if model is not None and str(model) == NO_MODEL else load(model)
