"""Relative names of modules: the same module, named from another file."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from itertools import takewhile

from editvec.syntax.imports import Import
from editvec.syntax.languages.base import ImportFacts

_NO_PACKAGES = frozenset({"src", "lib", "python", "packages"})
"""Names of folders that hold packages and are usually none themselves."""


def moved(facts: ImportFacts, imported: Import, source: str, target: str) -> Import | None:
    """Return what an import in the file `source` is in the file `target`; None if it cannot be named there.

    Only relative names change, and none if `source` is empty. Paths are relative to the top of the repository.
    """
    if not imported.module.startswith(".") or not facts.relative or not source:
        return imported
    here, there = (posixpath.dirname(path) for path in (source, target))
    if here == there:
        return imported
    if facts.relative == "path":
        path = posixpath.normpath(posixpath.join("/", here, imported.module))
        module = posixpath.relpath(path, posixpath.join("/", there))
        return replace(imported, module=module if module.startswith(".") else f"./{module}")
    return _moved_package(imported, here.split("/"), there.split("/"))


def _moved_package(imported: Import, here: list[str], there: list[str]) -> Import | None:
    """Return an import whose module is named with dots, as in Python."""
    rest = imported.module.lstrip(".")
    up = len(imported.module) - len(rest) - 1
    if up > len(here):
        return None
    base = here[: len(here) - up]
    whole = [*base, *filter(None, rest.split("."))]
    num_common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(whole, there, strict=False))))
    common = whole[:num_common]
    # Above the folder that the import starts from, nothing says that a folder is a package.
    if num_common < len(base) and all(name in _NO_PACKAGES for name in common):
        return None
    return replace(imported, module="." * (len(there) - num_common + 1) + ".".join(whole[num_common:]))
