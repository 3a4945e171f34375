"""Text → lossless tokens → trees; one small file of facts a language; canonical names and back.

Knows nothing of git, edits' files or models.
"""

from __future__ import annotations

from editvec.syntax.languages import Language, Markup, get, known, language_of
from editvec.syntax.token import Token

__all__ = ["Language", "Markup", "Token", "get", "known", "language_of", "tokenize"]


def tokenize(language: Language | Markup, data: bytes) -> list[Token]:
    """The tokens of a file in any known language; with the gaps between them they are the file."""
    if isinstance(language, Markup):
        from editvec.syntax import prose

        return prose.tokenize(data)
    from editvec.syntax import treesitter

    return treesitter.tokenize(language, data)
