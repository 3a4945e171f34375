"""`editvec draw`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("file")
@click.argument("edit")
@click.option(
    "-o", "--out", default="edit.svg", show_default=True, type=click.Path(path_type=Path), help="The picture."
)
def draw(file: str, edit: str, out: Path) -> None:
    """Draw the trees of an edit, before and after, with the subtrees that were copied in colour.

    EDIT is an edit's id, the beginning of one, or its number in the file (#3).

    \b
    editvec draw edits.jsonl.gz '#3' -o edit.svg
    """
    from itertools import islice

    from editvec.core.errors import UserError
    from editvec.core.files import write_atomically
    from editvec.data import edit_files
    from editvec.data.sampling import select
    from editvec.neural.grammar import SourceTree, UnseenError, derive, edit_trees
    from editvec.ui.explain import grammar_of
    from editvec.ui.report.trees import draw_edit

    if out.suffix.lower() != ".svg":
        raise UserError(f"{out}: name it .svg.")
    ((number, found),) = select(edit_files.read(file), identity=edit)
    try:
        before, after = edit_trees(found)
    except UnseenError as error:
        raise UserError(f"edit {edit} cannot be drawn: {error}.") from None
    source = SourceTree.of(before)
    actions = derive(grammar_of([found, *islice(edit_files.read(file), 200)]), source, after)
    title = f"#{number} {found.id}"
    write_atomically(out, draw_edit(title, source, after, actions).encode("utf-8", "replace"))
    click.echo(f"{out}: {len(source.nodes)} nodes before, {after.size()} after, {len(actions)} actions")
