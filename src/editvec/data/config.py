"""Show the settings that apply to a folder, where each comes from, and which files they leave."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from editvec.core.errors import UserError
from editvec.data.project import Project, ProjectSettings, project_of, settings_schema
from editvec.syntax import languages
from editvec.vcs.git import open_repository
from editvec.vcs.worktree import worktree_files

What = Literal["show", "schema"]
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """A setting with its value, and the file that it comes from."""

    key: str
    value: Any
    origin: str
    """The file, or "default"."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"value": self.value, "origin": self.origin}


@dataclass(frozen=True, slots=True)
class ConfigInfo:
    """The settings of a project."""

    project: Project
    settings: tuple[ShownSetting, ...]
    files: tuple[str, ...] | None = None
    """The files that are searched, relative to the top of the work tree; None if nobody asked."""
    schema: dict[str, Any] | None = None
    """The JSON Schema of the settings, if it was asked for."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values: the schema, if it was asked for, or the settings."""
        if self.schema is not None:
            return self.schema
        path = None if self.project.path is None else str(self.project.path)
        shown: dict[str, Any] = {"path": path, "settings": {each.key: each.as_json() for each in self.settings}}
        return shown if self.files is None else {**shown, "files": list(self.files)}


def config(
    what: What = "show",
    *,
    repo: str | Path = ".",
    config: Path | None = None,
    isolated: bool = False,
    show_files: bool = False,
) -> ConfigInfo:
    """Return the settings that apply to a folder, each with the file that it comes from.

    With `show_files`, the files that `find` and `finish` may search are listed, too. With `what` "schema", the JSON
    Schema of the settings is returned.

    Raises:
        UserError: The settings are invalid.

    Examples:
        >>> import editvec
        >>> {each.key: each.value for each in editvec.config(isolated=True).settings}["severity"]
        'hint'
    """
    if what not in ("show", "schema"):
        raise UserError(f"there is no {what!r} of the settings. Give show or schema.")
    if what == "schema":
        return ConfigInfo(Project(), (), schema=settings_schema())
    project = project_of(repo, config, isolated)
    files = None
    if show_files:
        names = project.settings.languages or list(languages.known())
        found = worktree_files(open_repository(repo), set(names), covers=project.covers)
        files = tuple(file.path for file in found)
    return ConfigInfo(project, tuple(_shown(project)), files)


def _shown(project: Project) -> list[ShownSetting]:
    values = msgspec.to_builtins(project.settings)
    path = "" if project.path is None else str(project.path)
    return [
        ShownSetting(each.encode_name, values[each.encode_name], path if each.encode_name in project.given else DEFAULT)
        for each in msgspec.structs.fields(ProjectSettings)
    ]
