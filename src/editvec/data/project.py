"""The settings of a project: `.editvec.toml`, `editvec.toml` or `[tool.editvec]` in `pyproject.toml`.

The nearest file wins, and files are not merged. All paths in it are relative to its folder. This module does not know
what a pattern is: it is asked by the names and ids of one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from editvec.core.errors import UserError
from editvec.data.settings import check_keys, read_toml
from editvec.syntax import languages
from editvec.vcs.filters import ignore_spec
from editvec.vcs.git import Repository, is_address

FILES = (".editvec.toml", "editvec.toml", "pyproject.toml")
"""The names of the files, in the order in which they are looked for in a folder."""
_PYPROJECT = "pyproject.toml"
Level = Literal["hint", "info", "warning", "error"]
Share = Annotated[float, Meta(ge=0, le=1)]


class PatternSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The settings of one pattern."""

    severity: Annotated[Level | None, Meta(description="Severity of the pattern's places in reports.")] = None
    min_confidence: Annotated[
        Share | None, Meta(description="Minimum confidence of a place; less certain places are left out.")
    ] = None
    report_only: Annotated[bool, Meta(description="Report the places of the pattern, but never write them.")] = False


class MutedPattern(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A pattern, or an edit that `finish` found, of which no places are suggested."""

    pattern: Annotated[str, Meta(description="Id or name of a pattern, or id of an edit of `editvec finish`.")]
    path: Annotated[str | None, Meta(description="Files in which it is muted, as in .gitignore; null: all.")] = None
    reason: Annotated[str, Meta(description="The reason, for readers.")] = ""


class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The settings of a project."""

    include: Annotated[list[str], Meta(description="Files to read, as in .gitignore; empty: all.")] = []
    exclude: Annotated[list[str], Meta(description="Files to leave out, as in .gitignore.")] = []
    languages: Annotated[list[str], Meta(description="Languages to learn from and to search; empty: all.")] = []
    since: Annotated[str | None, Meta(description="Learn only from commits after this date.")] = None
    patterns: Annotated[str | None, Meta(description="Folder of the learned patterns that are used.")] = None
    verify: Annotated[str | None, Meta(description="Command that checks the project after edits, for --verify.")] = None
    severity: Annotated[Level, Meta(description="Severity of places in reports.")] = "hint"
    min_confidence: Annotated[
        Share | None, Meta(description="Minimum confidence of a place; less certain places are left out.")
    ] = None
    pattern: Annotated[dict[str, PatternSettings], Meta(description="Settings of a pattern by its id or name.")] = {}
    mute: Annotated[list[MutedPattern], Meta(description="Patterns of which no places are suggested.")] = []


@dataclass(frozen=True)
class Project:
    """The settings that apply to a work tree, and the file that they come from."""

    settings: ProjectSettings = field(default_factory=ProjectSettings)
    path: Path | None = None
    """The file; None if all settings are the defaults."""
    folder: Path | None = None
    """The folder to which the paths in the settings are relative."""
    top: Path | None = None
    """The top folder of the work tree."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """The content of the file, or of its section, as it was read."""

    def covers(self, path: str | Path) -> bool:
        """Return whether a file is to be read, by `include` and `exclude`.

        `path` is absolute or relative to the top of the work tree.
        """
        settings = self.settings
        if not settings.include and not settings.exclude:
            return True
        relative = self._relative(path)
        if relative is None:
            return not settings.include
        if settings.include and not ignore_spec(tuple(settings.include)).match_file(relative):
            return False
        return not ignore_spec(tuple(settings.exclude)).match_file(relative)

    def chosen(self, paths: Iterable[str], *, force_exclude: bool = False) -> Callable[[str], bool]:
        """Return a function that says whether a file is to be read when `paths` are asked for.

        Files that are named themselves are read whatever `include` and `exclude` say, unless `force_exclude`. All paths
        are relative to the top of the work tree.
        """
        named = frozenset() if force_exclude else frozenset(paths)
        return lambda path: path in named or self.covers(path)

    def min_confidence(self, names: Collection[str], given: float | None, default: float) -> float:
        """Return the minimum confidence of a pattern's places; what the caller has `given` comes first."""
        if given is not None:
            return given
        own = self.pattern(names).min_confidence
        return default if own is None else own

    def muted(self, names: Collection[str], path: str | Path) -> MutedPattern | None:
        """Return the entry that mutes a pattern in a file, given the pattern's names and ids; None if none does."""
        for each in self.settings.mute:
            if each.pattern in names:
                relative = None if each.path is None else self._relative(path)
                if each.path is None or (relative is not None and ignore_spec((each.path,)).match_file(relative)):
                    return each
        return None

    def pattern(self, names: Collection[str]) -> PatternSettings:
        """Return the settings of a pattern, given its names and ids; what is not set has the project's value."""
        found = next((each for name, each in self.settings.pattern.items() if name in names), PatternSettings())
        if found.severity is None:
            found = msgspec.structs.replace(found, severity=self.settings.severity)
        if found.min_confidence is None:
            found = msgspec.structs.replace(found, min_confidence=self.settings.min_confidence)
        return found

    def languages(self, *, prose: bool) -> list[str]:
        """Return the languages that the settings name: the prose formats or the programming languages among them."""
        names = self.settings.languages
        return [name for name in names if isinstance(languages.get(name), languages.Markup) == prose]

    def limited(self, names: set[str]) -> set[str]:
        """Return those of the languages that the settings do not leave out."""
        return names.intersection(self.settings.languages or names)

    def verify_command(self, given: str | None) -> str | None:
        """Return the command that judges places: the `given` one or, if that is empty, the one in the settings.

        None means that no command judges. A command of the settings is run only if somebody asks for it.

        Raises:
            UserError: There is no command in the settings.
        """
        if given is None or given.strip():
            return given
        if not (self.settings.verify or "").strip():
            raise UserError(
                "there is no command to verify with. Give it (--verify 'COMMAND'), or verify in the settings."
            )
        return self.settings.verify

    @property
    def patterns_folder(self) -> Path | None:
        """Return the folder of the patterns, if the settings name one."""
        if self.settings.patterns is None or self.folder is None:
            return None
        return self.folder / self.settings.patterns

    def _relative(self, path: str | Path) -> str | None:
        """Return a path relative to the folder of the settings; None for a file outside."""
        if self.folder is None:
            return Path(path).as_posix()
        file = Path(path) if Path(path).is_absolute() or self.top is None else self.top / path
        return file.relative_to(self.folder).as_posix() if file.is_relative_to(self.folder) else None


def project_of(repo: str | Path = ".", config: Path | None = None, isolated: bool = False) -> Project:
    """Return the settings for a folder: those of `config` or, by default, of the nearest file.

    The file is looked for in the folder and its parents up to the top of the work tree; outside a work tree, only in
    the folder itself. With `isolated`, no file is read. The paths in `config` are relative to the top of the work tree.

    Raises:
        UserError: The file cannot be read, or a key or value in it is invalid.
        BadInputError: The file is not TOML.
    """
    if config is not None and isolated:
        raise UserError("--config and --isolated exclude each other. Give one of them.")
    local = not is_address(str(repo))
    start = Path(repo).expanduser().resolve() if local else Path.cwd()
    top = Repository(start, start.name).top() if local else None
    if config is not None:
        return _read(config, top or Path.cwd(), top)
    if isolated or not local:
        return Project(top=top)
    bare = top is None and (start / "HEAD").is_file()
    folders = () if bare else (start,) if top is None else (start, *start.parents)
    for folder in folders:
        for name in FILES:
            if (folder / name).is_file() and (name != _PYPROJECT or _has_section(folder / name)):
                return _read(folder / name, folder, top)
        if folder == top:
            break
    return Project(top=top)


def _has_section(path: Path) -> bool:
    return b"editvec" in path.read_bytes() and "editvec" in read_toml(path).get("tool", {})


def _read(path: Path, folder: Path, top: Path | None) -> Project:
    content = read_toml(path)
    if path.name == _PYPROJECT:
        content = content.get("tool", {}).get("editvec", {})
    check_keys(ProjectSettings, content, str(path))
    try:
        settings = msgspec.convert(content, ProjectSettings)
    except msgspec.ValidationError as error:
        raise UserError(f"{path}: {error}. Correct the value, or try --isolated.") from None
    for name in settings.languages:
        try:
            languages.get(name)
        except UserError as error:
            raise UserError(f"{path}: languages: {error}") from None
    return Project(settings, path, folder, top, content)


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of the settings."""
    (root,), components = msgspec.json.schema_components([ProjectSettings], ref_template="#/definitions/{name}")
    own = components.pop(ProjectSettings.__name__)
    assert root["$ref"].endswith(ProjectSettings.__name__)
    return {"$schema": "http://json-schema.org/draft-07/schema#", **own, "definitions": components}
