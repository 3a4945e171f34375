"""Snippets of code or prose that a user typed, converted to edits as models read them, and answers back to text.

No file around a snippet tells what is declared. So a name counts as a variable if it stands where a variable can
stand, is written like one (its first character is a small letter or an underscore) and is not called. Names and
literals that occur only in `after` keep their text, because the edit has to write them again elsewhere. A word inside
a literal of `before` counts as occurring in `before` (`"x"` becomes `nameof(x)`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from editvec.core.edit import Canonical, Edit, Tokens, Version
from editvec.syntax import languages
from editvec.syntax.canonical import KEPT_LITERALS, LITERAL, canonical_number, is_reserved
from editvec.syntax.languages import Language
from editvec.syntax.leaves import Leaf, Role
from editvec.syntax.prose import words
from editvec.syntax.spacing import Habits, spaced
from editvec.syntax.token import encode
from editvec.syntax.treesitter import Parsed

_WORD = re.compile(r"\w+")

DEFAULT_LANGUAGE = "csharp"
"""The language of a snippet that parses in no language, or in several."""


def snippet_edit(before: str, after: str, language: str, identity: str = "") -> Edit:
    """Return the edit from one snippet to another, with canonical names if the language is a programming language."""
    known = languages.get(language)
    if not isinstance(known, Language):
        return Edit(identity, language, Version(before, words(before)), Version(after, words(after)))
    names: dict[str, str] = {}
    literals: list[str] = []
    plain: list[Version] = []
    canonical: list[Tokens] = []
    for text in (before, after):
        leaves = _leaves(known, text)
        plain.append(Version(text, tuple(leaf.text for leaf in leaves)))
        said = None if not canonical else frozenset(_WORD.findall(before))
        canonical.append(_canonical(leaves, names, literals, said))
    form = Canonical(canonical[0], canonical[1], (), (), tuple(names), tuple(literals))
    return Edit(identity, language, plain[0], plain[1], canonical=form)


def _leaves(language: Language, text: str) -> list[Leaf]:
    """Return the leaves of a snippet in the first wrapper that parses without errors, else in the first wrapper."""
    data = encode(text)
    tries = []
    for opening, closing in language.wrappers or (("", ""),):
        parsed = Parsed(language, opening.encode() + data + closing.encode())
        tries.append((parsed.tree.root_node.has_error, parsed, len(opening)))
        if not tries[-1][0]:
            break
    _, parsed, start = min(tries, key=lambda each: each[0])
    return parsed.leaves(start, start + len(data))


def _canonical(
    leaves: Sequence[Leaf], names: dict[str, str], literals: list[str], said: frozenset[str] | None
) -> Tokens:
    """Return the canonical tokens of a version, extending `names` and `literals`.

    `said` are the words of `before`: only these become canonical. It is None for `before` itself.
    """
    tokens = []
    known = frozenset(literals)
    anew = said is None
    for at, leaf in enumerate(leaves):
        called = leaves[at + 1].text == "(" if at + 1 < len(leaves) else False
        if leaf.role is Role.LITERAL and leaf.text not in KEPT_LITERALS and (anew or leaf.text in known):
            literals.append(leaf.text)
            tokens.append(LITERAL)
        elif is_reserved(leaf.text) or (
            leaf.role is Role.NAME and _is_variable(leaf.text) and not called and (said is None or leaf.text in said)
        ):
            tokens.append(names.setdefault(leaf.text, f"VAR{len(names)}"))
        else:
            tokens.append(leaf.text)
    return tuple(tokens)


def _is_variable(name: str) -> bool:
    return name[:1].islower() or name[:1] == "_"


class Written(NamedTuple):
    """An answer in the names and the layout of the snippet."""

    tokens: Tokens
    text: str


def restore_answer(edit: Edit, answer: Tokens, pairs: Sequence[tuple[int, int]], habits: Habits) -> Written | None:
    """Return an answer in canonical tokens with the names and the white space of the edit's `before`.

    The result is None if the answer refers to a name or a literal that `before` does not have. `pairs` are the
    positions (in before, in the answer) of the tokens that were kept. `habits` decide the white space that `before`
    does not determine.
    """
    kept = {there: here for here, there in pairs}
    tokens = _restore(edit, answer, kept)
    return None if tokens is None else Written(tokens, spaced(edit.before, tokens, kept, habits, edit.language))


def _restore(edit: Edit, answer: Tokens, kept: dict[int, int]) -> Tokens | None:
    """Return the answer's tokens in the names of `before`, or None if a name or literal cannot be restored."""
    own = edit.before.tokens
    if edit.canonical is None:
        return tuple(own[kept[at]] if at in kept else token for at, token in enumerate(answer))
    form = edit.canonical
    texts = {text for text, token in zip(own, form.before, strict=True) if token == LITERAL}
    # A canonical answer does not tell several literals apart, unless it keeps them all.
    if len(texts) > 1 and answer.count(LITERAL) not in (0, form.before.count(LITERAL)):
        return None
    tokens = []
    for at, token in enumerate(answer):
        number = canonical_number(token)
        if at in kept:
            tokens.append(own[kept[at]])
        elif token == LITERAL:
            if len(texts) != 1:
                return None
            tokens.append(next(iter(texts)))
        elif number is not None:
            if number >= len(form.names):
                return None
            tokens.append(form.names[number])
        else:
            tokens.append(token)
    return tuple(tokens)
