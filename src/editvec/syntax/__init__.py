"""Conversion of text to lossless tokens and trees; facts about each language; canonical names and their reversal.

This package does not know git, files of edits or models.
"""

from __future__ import annotations

from editvec.syntax.languages import Language, Markup, get, known, language_of
from editvec.syntax.token import Token

__all__ = ["Language", "Markup", "Token", "get", "known", "language_of", "tokenize"]


def tokenize(language: Language | Markup, data: bytes) -> list[Token]:
    """Return the tokens of a file in any known language.

    The tokens and the gaps between them together are the file.
    """
    if isinstance(language, Markup):
        from editvec.syntax import prose

        return prose.tokenize(data)
    from editvec.syntax import treesitter

    return treesitter.tokenize(language, data)
