"""Resolution of mining options: the repository, the paths and the languages."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from hashlib import blake2b
from posixpath import normpath
from shutil import rmtree

from editvec.core.errors import UserError
from editvec.core.files import cache_home
from editvec.mining.recipes import Recipe
from editvec.syntax.languages import Markup, code_languages, get, prose_languages
from editvec.vcs import git


def locate(place: str) -> git.Repository:
    """Return the repository at a path, or a clone of the repository at an address.

    The clone is kept in the cache and updated on every call.

    Raises:
        GitError: There is no repository, or git cannot clone or update it.
    """
    if not git.is_address(place):
        return git.open_repository(place)
    folder = cache_home() / "clones" / blake2b(place.encode(), digest_size=12).hexdigest()
    if folder.exists():
        repository = git.open_repository(folder)
        git.update(repository, place)
        return repository
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_suffix(".partial")
    rmtree(partial, ignore_errors=True)
    git.clone(place, partial, show_progress=sys.stderr.isatty())
    partial.replace(folder)
    return git.open_repository(folder)


def pick_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths below which to mine, normalised as git writes them.

    Raises:
        UserError: A path is outside the repository.
    """
    plain = tuple(normpath(path.strip("/") or ".") for path in paths)
    for path, given in zip(plain, paths, strict=True):
        if path.split("/")[0] == "..":
            raise UserError(
                f"--paths {given} is outside the repository. Give a path relative to its top folder, such as src."
            )
    return plain


def pick_languages(names: Sequence[str], recipe: Recipe) -> tuple[str, ...]:
    """Return the languages to mine: the given ones or, by default, all that fit the recipe.

    Raises:
        UserError: A language is unknown or does not fit the recipe.
    """
    allowed = prose_languages() if recipe.prose else code_languages()
    if not names:
        return tuple(language.name for language in allowed)
    for name in names:
        language = get(name)
        if isinstance(language, Markup) != recipe.prose:
            wanted = "default" if recipe.prose else "prose"
            raise UserError(f"{name} does not fit the recipe {recipe.name}. Use --recipe {wanted}.")
    return tuple(dict.fromkeys(names))
