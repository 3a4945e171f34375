"""Draw the trees of an edit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from editvec.core.errors import UserError
from editvec.core.files import write_atomically
from editvec.data import edit_files
from editvec.data.sampling import select
from editvec.neural.grammar import SourceTree, UnseenError, derive, edit_trees
from editvec.ui.explain import grammar_of
from editvec.ui.report.trees import draw_edit

_GRAMMAR_EDITS = 200


@dataclass(frozen=True, slots=True)
class Drawn:
    """The numbers of nodes and actions that a drawing shows."""

    num_before: int
    num_after: int
    num_actions: int


def draw(file: str | Path, edit: str, out: Path = Path("edit.svg")) -> Drawn:
    """Draw the trees of an edit, before and after, as SVG. Copied subtrees have the same colour on both sides.

    `edit` is an id, the beginning of one, or a number in the file such as "#3".

    Raises:
        UserError: The edit does not exist or has no trees, or the name of `out` does not end in .svg.

    Examples:
        >>> import editvec
        >>> editvec.draw("edits.jsonl.gz", "#3", Path("edit.svg"))
        Drawn(num_before=..., num_after=..., num_actions=...)
    """
    if out.suffix.lower() != ".svg":
        raise UserError(f"{out}: the file name must end in .svg.")
    ((number, found),) = select(edit_files.read(file), identity=edit)
    try:
        before, after = edit_trees(found)
    except UnseenError as error:
        raise UserError(f"edit {edit} cannot be drawn: {error}.") from None
    source = SourceTree.of(before)
    grammar = grammar_of([found, *islice(edit_files.read(file), _GRAMMAR_EDITS)])
    actions = derive(grammar, source, after)
    write_atomically(out, draw_edit(f"#{number} {found.id}", source, after, actions).encode("utf-8", "replace"))
    return Drawn(len(source.nodes), after.size(), len(actions))
