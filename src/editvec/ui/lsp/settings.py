"""The settings of the language server, and where they come from.

An editor's setting comes before the project's file, and that before the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec

from editvec.core.errors import UserError
from editvec.data.settings import changed

SECTION = "editvec"
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


class EditorSettings(msgspec.Struct, frozen=True):
    """The settings. Editors write them in camel case, such as `minConfidence`."""

    scope: Literal["openFiles", "workspace"] = "openFiles"
    """Files with hints and due patterns: those that are open, or all."""
    trigger: Literal["onIdle", "onSave", "manual"] = "onIdle"
    """When places are looked for after an edit; with `manual`, only when actions or commands ask for them."""
    idle_seconds: Annotated[float, msgspec.Meta(ge=0.1, le=10)] = 0.8
    """Pause after an edit before places are looked for."""
    hints: Literal["hint", "information", "off"] = "hint"
    """Severity of the diagnostics on due places; with `off`, there are only actions."""
    hints_after: Annotated[int, msgspec.Meta(ge=1, le=10)] = 2
    """Number of times that an edit must have been made before its other places get hints."""
    min_confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    """Minimum confidence of a place; the default is that of `editvec finish`."""
    max_places: Annotated[int, msgspec.Meta(ge=1, le=2000)] = 500
    """Maximum number of places of an edit."""
    max_unopened: Annotated[int, msgspec.Meta(ge=0, le=500)] = 20
    """Maximum number of files that are not open and are changed through the editor; more are written to the disk."""
    patterns: bool = True
    """Whether places where learned patterns are due are shown."""
    patterns_folder: str = ""
    """Folder of the learned patterns; the default is `.editvec` at the top of the work tree."""
    exclude: tuple[str, ...] = ()
    """Patterns of paths, such as `vendor/*`, without suggestions."""


def read_settings(*sources: Any) -> tuple[EditorSettings, list[str]]:
    """Return the settings of several sources, and a line for each value that is wrong; the last source wins.

    A source is what a client sends: the settings themselves, or an object with them as `settings` or `editvec`.
    """
    settings, problems = EditorSettings(), []
    for source in sources:
        for key, value in _values(source):
            try:
                settings = changed(settings, {_snake(key): _plain(value)})
            except UserError as error:
                problems.append(f"editvec: wrong setting: {_camel(str(error))}")
    return settings, problems


def _values(source: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(source, Mapping):
        return ()
    for key in ("settings", SECTION):
        if isinstance(source.get(key), Mapping):
            return _values(source[key])
    # Where the program is, and how much of the protocol is logged, is for the client.
    return [
        (key, value) for key, value in source.items() if key not in ("path", "trace", "enable") and value is not None
    ]


def _plain(value: Any) -> Any:
    # msgspec would take text for numbers, as a command line has them.
    return tuple(value) if isinstance(value, list) else value


def _snake(key: str) -> str:
    return _CAPITAL.sub(r"_\1", key).lower()


def _camel(text: str) -> str:
    return re.sub(r"(?<=[a-z])_([a-z])", lambda found: found[1].upper(), text)
