"""`editvec config`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from editvec.cli.options import config_options

if TYPE_CHECKING:
    from editvec.data.config import ConfigInfo


@click.command()
@click.argument("what", type=click.Choice(["show", "schema"]), default="show")
@click.option("-C", "--repo", default=".", show_default=True, help="Folder whose settings are shown.")
@config_options
@click.option("--show-files", is_flag=True, help="List the files that are searched.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def config(what: Any, as_json: bool, **options: Any) -> None:
    r"""Show the settings that apply here, and where each comes from.

    Settings are in .editvec.toml, in editvec.toml, or in the section tool.editvec of pyproject.toml. The nearest file
    up to the top of the work tree counts; files are not merged. Options of the command line come before settings.
    "schema" prints the JSON Schema of the settings.

    \b
    editvec config show
    editvec config show --show-files
    editvec config schema > editvec.schema.json
    """
    from editvec.cli.terminal import print_json
    from editvec.data.config import config as run

    shown = run(what, **options)
    if as_json or what == "schema":
        print_json(shown.as_json())
    else:
        _print(shown)


def _print(shown: ConfigInfo) -> None:
    from editvec.cli.terminal import in_one_line, printable
    from editvec.core.files import to_json

    if shown.files is not None:
        for path in shown.files:
            click.echo(in_one_line(path))
        return
    for each in shown.settings:
        click.echo(f"{each.key} = {printable(to_json(each.value).decode())}  # {printable(each.origin)}")
