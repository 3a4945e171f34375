"""The languages that editvec reads. Adding one: a file of facts beside these, and its line in `_MODULES`."""

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
    """Every language by its name."""
    found: dict[str, Language | Markup] = {}
    for module in _MODULES:
        for language in import_module(f"{__name__}.{module}").LANGUAGES:
            found[language.name] = language
    return found


def code_languages() -> list[Language]:
    """The programming languages, in the order of their modules."""
    return [language for language in known().values() if isinstance(language, Language)]


def prose_languages() -> list[Markup]:
    """The prose formats."""
    return [language for language in known().values() if isinstance(language, Markup)]


def get(name: str) -> Language | Markup:
    """The language of that name; UserError with the nearest known one otherwise."""
    languages = known()
    if name not in languages:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), languages, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UserError(f"unknown language {name!r}.{hint} Known: {', '.join(languages)}.")
    return languages[name]


@cache
def _by_extension() -> dict[str, Language | Markup]:
    return {ext: language for language in known().values() for ext in language.extensions}


def language_of(path: str) -> Language | Markup | None:
    """The language of a file, by its name; None when it is not one of ours."""
    return _by_extension().get(PurePosixPath(path).suffix.lower())
