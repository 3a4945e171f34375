"""`editvec neighbours`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", metavar="INDEX", type=click.Path(path_type=Path))
@click.option("--id", "identity", help="An edit of the index: its id, the beginning of one, or its number (#3).")
@click.option("--before", help="An edit of your own: before …")
@click.option("--after", help="… and after.")
@click.option("--language", help="Of --before and --after; by default the first in which they parse.")
@click.option("-k", "number", default=10, show_default=True, type=click.IntRange(1), help="How many neighbours.")
@click.option("--metric", default="cosine", show_default=True, type=click.Choice(["cosine", "l2"]))
@click.option("--copies", is_flag=True, help="Show verbatim copies of the edit too.")
@click.option("--exact", is_flag=True, help="Look at every edit, however large the index is.")
@click.option("--model", help="Where the index's model is now, if it has moved.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def neighbours(
    folder: Path,
    identity: str | None,
    before: str | None,
    after: str | None,
    language: str | None,
    number: int,
    metric: str,
    copies: bool,
    exact: bool,
    model: str | None,
    as_json: bool,
) -> None:
    """Show the edits that are nearest to one: to an edit of the index, or to one of your own.

    \b
    editvec neighbours edits.index --id '#17'
    editvec neighbours edits.index --before 'x = x + 1;' --after 'x++;' -k 5
    """
    from editvec.cli.options import spoken
    from editvec.cli.terminal import console, print_edit, print_json
    from editvec.core.errors import UserError
    from editvec.data.sampling import as_json as edit_as_json
    from editvec.data.splits import token_hash
    from editvec.syntax.snippet import snippet_edit
    from editvec.vectors.index import METRICS, open_index

    index = open_index(folder)
    if identity is not None and before is None and after is None:
        row: int | None = index.row_of(identity)
        query, vector = index.edits([row or 0])[0], index.vectors[row or 0]
    elif identity is None and before is not None and after is not None:
        if before.split() == after.split():
            raise UserError("--before and --after say the same: that is no edit.")
        row, query = None, snippet_edit(before, after, spoken(language, [before, after]))
        vector = index.vectoriser(model).encode([query])[0]
    else:
        raise UserError("give either --id, or --before and --after.")
    found = index.neighbours(
        vector,
        number,
        metric=next(known for known in METRICS if known == metric),
        without_row=row,
        without_form=None if copies else token_hash(query),
        exact=exact,
    )
    if as_json:
        rows = [{"number": each.row + 1, "score": each.score, **edit_as_json(each.edit)} for each in found]
        print_json({"query": edit_as_json(query), "metric": metric, "neighbours": rows})
        return
    out = console()
    out.print("query", style="bold")
    print_edit(out, query)
    for each in found:
        out.print(f"{metric} {each.score:.3f}", style="bold")
        print_edit(out, each.edit, each.row + 1)
