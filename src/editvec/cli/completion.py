"""`editvec completion`."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    r"""Print a shell script that completes the verbs and options of editvec.

    \b
    editvec completion bash >> ~/.bashrc
    editvec completion zsh >> ~/.zshrc
    editvec completion fish > ~/.config/fish/completions/editvec.fish
    """
    from click.shell_completion import get_completion_class

    from editvec.cli import app

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(app, {}, "editvec", "_EDITVEC_COMPLETE").source())
