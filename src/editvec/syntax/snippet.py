"""Pieces of code or prose that somebody typed → edits as models read them, and the answers back into text.

A snippet has no file around it that would say what is declared. So a name counts as a variable where one can stand,
when it is written like one (a small letter or an underscore first) and is not called. What is in `after` alone stays as
it is: to make the edit elsewhere, it has to be written again. Not so a word in a literal of `before` (`"x"` becomes
`nameof(x)`).
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
"""Of a snippet that parses in no language, or in several."""


def snippet_edit(before: str, after: str, language: str, identity: str = "") -> Edit:
    """The edit from one snippet to another, with canonical names where the language is a programming language."""
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
    """The leaves of a snippet in the first wrapping that makes it whole, or, if none does, in the first."""
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
    """The tokens of a version; only what was `said` before gets a name, where something was."""
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
    """An answer in the snippet's own words."""

    tokens: Tokens
    text: str


def restore_answer(edit: Edit, answer: Tokens, pairs: Sequence[tuple[int, int]], habits: Habits) -> Written | None:
    """What an answer in canonical tokens says in the words of the edit's `before`; None where it names something that
    `before` does not have. `pairs` are the places (in before, in answer) of tokens that stayed; where `before` does not
    say how something is spaced, `habits` do."""
    kept = {there: here for here, there in pairs}
    tokens = _restore(edit, answer, kept)
    return None if tokens is None else Written(tokens, spaced(edit.before, tokens, kept, habits, edit.language))


def _restore(edit: Edit, answer: Tokens, kept: dict[int, int]) -> Tokens | None:
    own = edit.before.tokens
    if edit.canonical is None:
        return tuple(own[kept[at]] if at in kept else token for at, token in enumerate(answer))
    form = edit.canonical
    texts = {text for text, token in zip(own, form.before, strict=True) if token == LITERAL}
    # Which of several literals is meant, a canonical answer does not say, unless it keeps them all.
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
