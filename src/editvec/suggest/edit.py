"""Edit one snippet by example, or by an edit vector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.suggest.few_shot import Demonstrations, FewShotEditor, SnippetCandidate
from editvec.syntax.parse import likely_language
from editvec.syntax.snippet import DEFAULT_LANGUAGE, snippet_edit

if TYPE_CHECKING:
    from editvec.neural.model import EditModel

Example = Edit | tuple[str, str]
"""An edit, or its two versions as texts."""


def edit(
    before: str | Edit,
    like: Example | Sequence[Example] = (),
    *,
    model: EditModel | str | Path | None = None,
    vector: NDArray[np.float32] | None = None,
    language: str | None = None,
    k: int = 5,
    anyway: bool = False,
) -> list[SnippetCandidate]:
    """Edit a snippet, or the `before` of an edit, as examples show or as an edit vector says.

    Return at most `k` candidates, the best first. A candidate's score is the logarithm of its probability of being
    right. The list is empty if the model cannot do to `before` what the examples did. With `anyway`, candidates that
    add or remove other tokens than the examples did are kept, too.

    `model` is a loaded model, the folder of one, or None for the packaged one. `language` is by default the first one
    in which the snippets parse.

    Raises:
        UserError: Neither or both of `like` and `vector` are given, or the model cannot read a snippet.

    Examples:
        >>> import editvec
        >>> editvec.edit("total = total + 1;", like=("x = x + 1;", "x++;"))[0].text
        'total++;'
        >>> editvec.edit("total = total + 2;", like=("x = x + 1;", "x++;"))
        []
    """
    from editvec.neural.model import EditModel, load

    examples = _examples(like)
    if (vector is None) == (not examples):
        raise UserError("give either examples of the edit or an edit vector, and not both.")
    editor = FewShotEditor(model if isinstance(model, EditModel) else load(model))
    if isinstance(before, Edit):
        target = before
    else:
        target = snippet_edit(before, "", language or language_of_snippets(before, examples))
    if vector is not None:
        return editor.suggest([target], [Demonstrations(np.asarray(vector, np.float32)[None])], k=k)[0]
    edits = [each if isinstance(each, Edit) else snippet_edit(each[0], each[1], target.language) for each in examples]
    allowed = None if anyway else [frozenset(map(editor.changed_tokens, edits))]
    return editor.suggest([target], [editor.show(edits)], k=k, allowed_changes=allowed)[0]


def _examples(like: Example | Sequence[Example]) -> list[Example]:
    if isinstance(like, Edit):
        return [like]
    if len(like) == 2 and isinstance(like[0], str) and isinstance(like[1], str):
        return [(like[0], like[1])]
    return [each for each in like if not isinstance(each, str)]


def language_of_snippets(before: str, examples: Sequence[Example]) -> str:
    """Return the first language in which a snippet and its examples parse, or the default language."""
    texts = [before, *(text for each in examples if not isinstance(each, Edit) for text in each)]
    return likely_language(texts) or DEFAULT_LANGUAGE
