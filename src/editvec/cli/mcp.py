"""`editvec mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command()
@click.option("-C", "--repo", default=".", show_default=True, help="Work tree that the tools read.")
@click.option("--patterns", type=click.Path(path_type=Path), help="Folder of patterns.  [default: .editvec in REPO]")
@click.option("--config", type=click.Path(path_type=Path), help="File of settings.  [default: the nearest]")
@click.option("--allow-write", is_flag=True, help="Let the agent write places that it has found.")
def mcp(**options: Any) -> None:
    r"""Serve agents over stdin and stdout, with the Model Context Protocol.

    The tools: the other places of the edits in the work tree, the places of learned patterns, the patterns, and the
    explanation of one. With --allow-write, there is a tool that writes places by their ids, all of them or none, after
    a dry run; editvec undo takes them back. No command is ever run. Needs the extra editvec[mcp].

    \b
    editvec mcp -C ~/src/gin
    editvec mcp --allow-write
    """
    from editvec.ui.mcp import mcp as run

    run(**options)
