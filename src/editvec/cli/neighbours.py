"""`editvec neighbours`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from editvec.cli.options import tell_language


@click.command()
@click.argument("index", type=click.Path(path_type=Path))
@click.option("--id", help="Edit of the index: its id, the beginning of one, or its number (#3).")
@click.option("--before", help="Edit of your own: the text before.")
@click.option("--after", help="Edit of your own: the text after.")
@click.option("--language", help="Language of --before and --after.  [default: the first language in which they parse]")
@click.option("-k", default=10, show_default=True, type=click.IntRange(1), help="Number of neighbours.")
@click.option(
    "--metric", default="cosine", show_default=True, type=click.Choice(["cosine", "l2"]), help="Similarity measure."
)
@click.option("--copies", is_flag=True, help="Also show verbatim copies of the edit.")
@click.option("--exact", is_flag=True, help="Compare with every edit, even in a large index.")
@click.option("--model", help="Folder of the index's model, if it has moved.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def neighbours(index: Path, metric: str, as_json: bool, **options: Any) -> None:
    r"""Show the edits of an index that are nearest to one of them, or to an edit of your own.

    \b
    editvec neighbours edits.index --id '#17'
    editvec neighbours edits.index --before 'x = x + 1;' --after 'x++;' -k 5
    """
    from editvec.cli.terminal import console, print_edit, print_json
    from editvec.vectors.neighbours import neighbours as run

    near = run(index, metric=metric, **options)
    if options["before"] is not None and options["language"] is None:
        tell_language(near.query.language)
    if as_json:
        print_json(near.as_json())
        return
    out = console()
    out.print("query", style="bold")
    print_edit(out, near.query)
    for each in near.found:
        out.print(f"{metric} {each.score:.3f}", style="bold")
        print_edit(out, each.edit, each.row + 1)
