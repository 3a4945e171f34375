"""`editvec lsp`."""

from __future__ import annotations

import click


@click.command()
@click.option("--stdio", is_flag=True, help="Use the standard streams, as is always done; some editors pass this.")
def lsp(stdio: bool) -> None:
    r"""Run the language server, which an editor starts.

    After an edit, the server looks for the other places where the same edit belongs, and offers to make it there. It
    also shows where patterns that `editvec learn` found are due. It speaks the language server protocol over the
    standard streams; the documentation has the set-up of Neovim, VS Code, Helix, Emacs and JetBrains.

    \b
    editvec lsp
    """
    from editvec.ui.lsp.serving import lsp as run

    run()
