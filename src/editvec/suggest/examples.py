"""Turn examples that a person gave into rules, and into finders that use the neural editor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.rules.induction import make_rules, why_not
from editvec.rules.rule import Rule, runnable
from editvec.rules.sites import edit_example
from editvec.suggest.editor import finder_like
from editvec.suggest.few_shot import FewShotEditor
from editvec.suggest.match import Finder
from editvec.syntax.snippet import snippet_edit

if TYPE_CHECKING:
    from editvec.neural.model import EditModel


def rules_like(like: Sequence[tuple[str, str]], languages: Sequence[str], *, needed: bool = True) -> list[Rule]:
    """Return the verified rules that the examples give in each of the languages.

    Raises:
        UserError: No language is given, or there is no rule although `needed` is true.
    """
    if not languages:
        raise UserError("the language of the example is unknown. Give it, for example with --language csharp.")
    reason = ""
    found: list[Rule] = []
    for language in languages:
        edits = _edits(like, language)
        found += (runnable(each.rule) for each in make_rules(edits))
        if not found and not reason:
            examples = [example for edit in edits if (example := edit_example(edit)) is not None]
            reason = why_not(examples) if len(examples) == len(edits) else f"it does not parse as {language}"
    if not found and needed:
        raise UserError(f"no rule can be made from the example: {reason}. Give another example.")
    return found


def finders_like(
    like: Sequence[tuple[str, str]],
    languages: Sequence[str],
    model: EditModel | str | Path | None = None,
    sure: float = 0.8,
) -> dict[str, Finder]:
    """Return the neural editor as a finder for each of the languages in which the examples parse.

    Raises:
        UserError: The examples parse in none of the languages.
    """
    from editvec.neural.model import EditModel, load

    examples = {language: _edits(like, language) for language in languages}
    parsed = {language: edits for language, edits in examples.items() if all(map(edit_example, edits))}
    if not parsed:
        raise UserError("the examples do not parse in the language of the files. Give their language with --language.")
    editor = FewShotEditor(model if isinstance(model, EditModel) else load(model))
    return {language: finder_like(editor, edits, sure) for language, edits in parsed.items()}


def _edits(like: Sequence[tuple[str, str]], language: str) -> list[Edit]:
    return [snippet_edit(before, after, language, f"example{at or ''}") for at, (before, after) in enumerate(like)]
