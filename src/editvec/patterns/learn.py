"""Learn the recurring edits of a repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from editvec.core.about import __version__
from editvec.data.progress import Stages, silent
from editvec.mining.batch import MiningTask
from editvec.mining.options import locate, pick_languages, pick_paths
from editvec.mining.recipes import get_recipe
from editvec.mining.run import MiningRequest
from editvec.patterns import folder as folders
from editvec.patterns.pattern import MIN_CONFIDENCE
from editvec.patterns.pipeline import Learned, LearnRequest, learn_patterns
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
    paths: Sequence[str] = (),
    prose: bool = False,
    model: EditModel | str | Path | None = None,
    min_edits: int = 3,
    min_commits: int = 2,
    min_confidence: float = MIN_CONFIDENCE,
    workers: int = 0,
    verify: str | None = None,
    report: Report | None = None,
    progress: Stages = silent,
) -> Learned:
    """Learn the recurring edits of a repository as rules, and find the places where they still apply.

    The patterns, their rules, their edits and a report (if `report` renders one) are written to `out`, by default
    `.editvec` at the top of the work tree. `model` is a loaded model, its folder, "none", or None for the packaged
    model. With `verify`, a command judges the places in a scratch copy of the work tree, and those that it refuses are
    left out. After an interruption, the same call continues where it stopped. A later call mines only new commits.

    Raises:
        GitError: The repository cannot be read.
        UserError: An option is invalid, or `out` holds files that `learn` did not write.

    Examples:
        >>> import editvec
        >>> learned = editvec.learn(".", model="none")
        >>> for pattern in learned.patterns[:2]:
        ...     print(pattern.before, "->", pattern.after, len(pattern.suggestions))
        await store.$M($$$ARGS) -> await store.$M($$$ARGS).ConfigureAwait(false) 5
        new ArgumentNullException("$X") -> new ArgumentNullException(nameof($X)) 5
    """
    recipe = get_recipe("prose" if prose else "default")
    repository = locate(str(repo))
    folder = out or folders.default_folder(repository)
    folders.check(folder)
    task = MiningTask(repository, recipe, pick_languages(language, recipe), pick_paths(paths))
    revisions = tuple(range.split()) if range else ()
    request = LearnRequest(
        MiningRequest(task, revisions=revisions, since=since, until=until, workers=workers),
        min_edits=min_edits,
        min_commits=min_commits,
        min_confidence=min_confidence,
        judged=verdicts(folder),
    )
    top = None if verify is None else top_of(repository)
    learned = learn_patterns(request, _model(model), progress)
    learned.folder = folder
    if verify is not None and top is not None:
        learned.patterns, learned.verification = judge_patterns(top, learned.patterns, verify, progress)
    about = about_of(repository, learned)
    folders.save(folder, learned.patterns, learned.edits, about, report(learned, about) if report is not None else "")
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
