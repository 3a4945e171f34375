"""Turn examples that a person gave into rules, and into finders that use the neural editor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.rules.induction import make_rules, why_not
from editvec.rules.rule import Rule, runnable
from editvec.rules.sites import edit_example
from editvec.suggest.editor import finder_like
from editvec.suggest.few_shot import FewShotEditor
from editvec.suggest.imports import NO_IMPORTS, ImportChanges, ShownFile, import_changes, words_of
from editvec.suggest.match import Finder
from editvec.syntax.imports import ImportBlock
from editvec.syntax.languages import Language, get
from editvec.syntax.lexer import lex
from editvec.syntax.snippet import snippet_edit
from editvec.syntax.token import decode, encode

if TYPE_CHECKING:
    from editvec.neural.model import EditModel


def without_imports(
    like: Sequence[tuple[str, str]], languages: Sequence[str]
) -> tuple[list[tuple[str, str]], ImportChanges]:
    """Return the examples without the imports at the start of their texts, and what these imports say.

    An example that holds nothing but imports is left as it is.
    """
    bare: list[tuple[str, str]] = []
    changes = NO_IMPORTS
    for before, after in like:
        pair, found = (before, after), NO_IMPORTS
        for name in languages:
            language = get(name)
            if isinstance(language, Language) and not found:
                old, new = _behind_imports(language, before), _behind_imports(language, after)
                if old and new and (old, new) != (before, after):
                    words = [words_of(lex(encode(text)).texts) for text in (old, new)]
                    path = f"example{language.extensions[0]}"
                    sides = encode(f"{before}\n"), encode(f"{after}\n")
                    shown = ShownFile(path, sides[0], sides[1], words[1] - words[0], words[0] - words[1])
                    found = import_changes([shown])
                    pair = (old, new)
        bare.append(pair)
        changes |= found
    # A module that is named relative to a file is meant as it is written.
    gained, lost = (tuple(replace(each, path="") for each in side) for side in (changes.gained, changes.lost))
    return bare, ImportChanges(gained, lost)


def _behind_imports(language: Language, text: str) -> str:
    """Return the text behind the imports at its start."""
    data = encode(text)
    end = 0
    for low, high in ImportBlock(language, data).all:
        if not data[end:low].strip(b" \t\r\n;"):
            end = high
    return decode(data[end:].lstrip(b"; \t\r\n")) if end else text


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
