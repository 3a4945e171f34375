"""`editvec serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import min_confidence_option

if TYPE_CHECKING:
    from editvec.ui.serve import Served


@click.command()
@click.option("-C", "--repo", default=".", show_default=True, help="Repository to search.")
@click.option("--patterns", type=click.Path(path_type=Path), help="Folder of patterns.  [default: .editvec in REPO]")
@min_confidence_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; 0 takes a free one.")
def serve(**options: Any) -> None:
    r"""Show the learned patterns in a browser, and accept or reject places one by one.

    The page is served to this machine only, at an address with a secret token. Accepted places are written to
    .editvec/accepted.patch at once; your files do not change until you apply the patch. Press Ctrl-C to stop.

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
        click.echo(
            f"{served.num_lost} places that were accepted earlier have changed since then. Review them again.", err=True
        )
    click.echo(f"Open {served.address}\nPress Ctrl-C to stop.", err=True)
