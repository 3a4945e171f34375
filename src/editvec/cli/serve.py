"""`editvec serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import min_confidence_option

if TYPE_CHECKING:
    from editvec.ui.serve import Served


@click.command()
@click.option("-C", "--repo", default=".", show_default=True, help="Repository to look in.")
@click.option("--patterns", type=click.Path(path_type=Path), help="Folder of patterns.  [default: .editvec in REPO]")
@min_confidence_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; 0 takes a free one.")
def serve(**options: Any) -> None:
    """Look at what was learned in a browser, and accept or reject places one by one.

    The page is served on this machine alone, at an address with a token that only you see. What you accept is written
    to .editvec/accepted.patch at once; your files stay as they are until you apply it. Ctrl-C ends it.

    \b
    editvec serve
    git apply .editvec/accepted.patch
    """
    from editvec.cli.terminal import printable, progress
    from editvec.ui.serve import serve as run

    done = run(ready=_tell, progress=progress, **options)
    click.echo(f"\n{done.num_accepted} accepted: {printable(str(done.patch))}    Next  git apply", err=True)


def _tell(served: Served) -> None:
    from editvec.cli.terminal import tell_filtered

    tell_filtered(served.filtered)
    if served.num_lost:
        click.echo(f"{served.num_lost} places that were accepted before have changed since: look again.", err=True)
    click.echo(f"Open {served.address}\nCtrl-C ends it.", err=True)
