"""`editvec serve`."""

from __future__ import annotations

from pathlib import Path

import click

from editvec.cli.options import min_confidence_option


@click.command()
@click.option("-C", "--repo", default=".", show_default=True, help="The repository to look in.")
@click.option(
    "--patterns", "folder", type=click.Path(path_type=Path), help="Where they are.  [default: .editvec in REPO]"
)
@min_confidence_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes any that is free.  [default: 0]")
def serve(repo: str, folder: Path | None, min_confidence: float, port: int) -> None:
    """Look at what was learned in a browser, and accept or reject places one by one.

    The page is served on this machine alone, at an address with a token that only you see. What you accept is written
    to .editvec/accepted.patch at once; no file of yours is touched until you apply it. Ctrl-C ends it.

    \b
    editvec serve
    git apply .editvec/accepted.patch
    """
    from collections import Counter

    from editvec.cli.learn import default_folder
    from editvec.cli.terminal import printable, progress, tell_filtered
    from editvec.core.errors import UserError
    from editvec.mining.options import locate
    from editvec.patterns import folder as folders
    from editvec.patterns.find import find_places
    from editvec.rewrite.review import Decisions
    from editvec.ui.report.patterns import render
    from editvec.ui.server import LocalServer
    from editvec.vcs.git import work_tree
    from editvec.vcs.worktree import present_files

    repository = locate(repo)
    top = work_tree(repository)
    if top is None:
        raise UserError(f"{repo} has no work tree. Give a clone with files in it.")
    target = folder or default_folder(repository)
    known = folders.load(target)
    ruled = [pattern for pattern in known if pattern.rule and pattern.evidence]
    tally: Counter[str] = Counter()
    files = present_files(repository, {pattern.language for pattern in ruled}, tally=tally)
    with progress("Finding", "files") as advance:
        found = find_places(ruled, files, min_confidence, advance)
    tell_filtered(tally["filtered"])
    patterns = [found.get(pattern.name, pattern) for pattern in known]
    decisions = Decisions(patterns, top, target / "accepted.patch")
    if decisions.num_lost:
        click.echo(f"{decisions.num_lost} places that were accepted before have changed since: look again.", err=True)
    page = render(patterns, folders.about(target), live=True)
    server = LocalServer(page, decisions.state, decisions.decide, port=port)
    click.echo(f"Open {server.address}\nCtrl-C ends it.", err=True)
    try:
        server.run()
    except KeyboardInterrupt:
        count = decisions.state()["accepted"]
        click.echo(f"\n{count} accepted: {printable(str(target))}/accepted.patch    Next  git apply", err=True)
