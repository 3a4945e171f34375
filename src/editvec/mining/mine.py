"""Mine the edits of a git history into a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from editvec.data.progress import Stages, silent
from editvec.mining.batch import MiningTask
from editvec.mining.options import locate, pick_languages, pick_paths
from editvec.mining.recipes import get_recipe
from editvec.mining.run import MiningReport, MiningRequest, mine_to

EDITS = "edits.jsonl.gz"


def mine(
    repo: str | Path = ".",
    out: str | Path = EDITS,
    *,
    language: Sequence[str] = (),
    recipe: str = "default",
    since: str | None = None,
    until: str | None = None,
    range: str | None = None,
    paths: Sequence[str] = (),
    max_lines: int | None = None,
    max_tokens: int | None = None,
    max_per_commit: int | None = None,
    max_repeats: int | None = None,
    keep: Sequence[str] = (),
    workers: int = 0,
    resume: bool = True,
    progress: Stages = silent,
) -> MiningReport:
    """Mine the edits of a git history into a file.

    `repo` is a clone, a bare repository or an address that git can clone. The recipe determines what counts as an
    edit. Limits that are not given are those of the recipe, and `keep` turns filters off. Nothing is checked out, and
    no code of the repository is executed. After an interruption, the same call continues where it stopped. A later
    call mines only new commits, unless `resume` is False. `workers` is the number of processes; 0 means one per core.

    Raises:
        GitError: The repository cannot be read.
        UserError: An option is invalid.

    Examples:
        >>> import editvec
        >>> report = editvec.mine(".", "python.jsonl.gz", language=["python"])
        >>> report.edits
        16
    """
    found = get_recipe(
        recipe,
        keep=tuple(keep),
        max_lines=max_lines,
        max_tokens=max_tokens,
        max_per_commit=max_per_commit,
        max_repeats=max_repeats,
    )
    chosen = pick_languages(language, found)
    repository = locate(str(repo))
    request = MiningRequest(
        MiningTask(repository, found, chosen, pick_paths(paths)),
        revisions=tuple(range.split()) if range else (),
        since=since,
        until=until,
        workers=workers,
        resume=resume,
    )
    with progress("Mining", "commits") as advance:
        report = mine_to(request, Path(out), advance)
    report.repository, report.recipe, report.out = repository.name, found.name, str(out)
    return report
