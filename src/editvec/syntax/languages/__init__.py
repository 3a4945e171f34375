"""The languages that editvec reads.

To add a language, add a module of facts to this package and its name to `_MODULES`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import PurePosixPath

from editvec.core.errors import UserError
from editvec.syntax.languages.base import Language, Markup

__all__ = ["Language", "Markup", "code_languages", "get", "known", "language_of", "prose_languages"]

_MODULES = ("csharp", "python", "java", "javascript", "typescript", "go", "rust", "cpp", "prose")


@cache
def known() -> dict[str, Language | Markup]:
    """Return every language by its name."""
    found: dict[str, Language | Markup] = {}
    for module in _MODULES:
        for language in import_module(f"{__name__}.{module}").LANGUAGES:
            found[language.name] = language
    return found


def code_languages() -> list[Language]:
    """Return the programming languages, in the order of their modules."""
    return [language for language in known().values() if isinstance(language, Language)]


def prose_languages() -> list[Markup]:
    """Return the prose formats."""
    return [language for language in known().values() if isinstance(language, Markup)]


def get(name: str) -> Language | Markup:
    """Return the language with the given name.

    Raises:
        UserError: The name is unknown; the message names the most similar language and all the known ones.
    """
    languages = known()
    if name not in languages:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), languages, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UserError(f"unknown language {name!r}.{hint} Known languages: {', '.join(languages)}.")
    return languages[name]


@cache
def _by_extension() -> dict[str, Language | Markup]:
    return {ext: language for language in known().values() for ext in language.extensions}


def language_of(path: str) -> Language | Markup | None:
    """Return the language of a file by its extension, or None if editvec does not read it."""
    return _by_extension().get(PurePosixPath(path).suffix.lower())
