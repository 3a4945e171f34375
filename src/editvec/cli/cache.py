"""`editvec cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.data.cache import CacheInfo


@click.command()
@click.option("--clear", is_flag=True, help="Remove everything from the cache.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def cache(clear: bool, as_json: bool) -> None:
    r"""Show the size of the cache, or clear it.

    The cache contains the mined edits of each repository, so that a later run mines only new commits, and clones of the
    addresses that were mined. Everything in it can be computed again. When the repositories need more space than the
    limit, the least recently used are removed. $XDG_CACHE_HOME
    sets the folder of the cache.

    \b
    editvec cache
    editvec cache --clear
    """
    from editvec.cli.terminal import print_json, printable
    from editvec.data.cache import cache as run

    found = run(clear=clear)
    if as_json:
        print_json(found.as_json())
        return
    if clear:
        click.echo(f"{_megabytes(found.freed)} removed from {printable(str(found.folder))}")
        if found.in_use:
            count = len(found.in_use)
            click.echo(
                f"editvec: {count} of the repositories were not removed: another process is using them.", err=True
            )
        return
    _print(found)


def _print(found: CacheInfo) -> None:
    from editvec.cli.terminal import console, describe, printable
    from editvec.data.cache import LIMIT

    out = console()
    out.print(f"{printable(str(found.folder))}: {_megabytes(found.bytes)}")
    for store in found.stores:
        what = f"{describe(store.commits)} commits, {describe(store.vectors)} vectors, used {store.used:%Y-%m-%d}"
        out.print(f"{_megabytes(store.bytes):>12}  {printable(store.repository)}: {what}")
    for name, size in found.others.items():
        out.print(f"{_megabytes(size):>12}  {printable(name)}")
    if found.stores:
        out.print(f"The limit for all repositories is {_megabytes(LIMIT)}. To clear the cache: editvec cache --clear")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
