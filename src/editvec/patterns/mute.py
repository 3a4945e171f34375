"""Mute a pattern: an entry in the settings of the project, in place, with the comments that stand there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from editvec.core.errors import UserError
from editvec.core.files import write_atomically
from editvec.data.project import FILES, Project, project_of
from editvec.patterns.folder import PATTERNS, load, pick, used_folder
from editvec.vcs.git import open_repository, work_tree

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_EDIT_ID = re.compile(r"[0-9a-f]{8}\Z")
_TABLE = ("tool", "editvec")


@dataclass(frozen=True, slots=True)
class Muted:
    """The result of muting a pattern."""

    pattern: str
    """The id that stands in the settings."""
    path: Path
    """The file of the settings."""
    is_new: bool
    """Whether the file changed; False if the pattern was muted there before."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"pattern": self.pattern, "path": str(self.path), "is_new": self.is_new}


def mute(
    pattern: str,
    *,
    path: str | None = None,
    reason: str = "",
    repo: str | Path = ".",
    patterns: Path | None = None,
    config: Path | None = None,
) -> Muted:
    """Suggest no more places for a pattern: write an entry `mute` to the settings of the project.

    `pattern` is the number, name or id of a learned pattern, or the id of an edit of `finish`; its id is written. With
    `path`, a pattern as in .gitignore, relative to the folder of the settings, it is muted only in these files. The
    settings are those of `config` or of the nearest file; without one, `editvec.toml` is made at the top of the work
    tree. Comments in the file stay.

    Raises:
        UserError: There is no such pattern, or the settings cannot be read or written.

    Examples:
        >>> import editvec
        >>> editvec.mute("add-is", path="tests/", reason="the tests compare on purpose").path
        PosixPath('.../editvec.toml')
    """
    if config is not None and not config.exists():
        project = Project(path=config)
    else:
        project = project_of(repo, config)
    name, comment = _id_of(pattern, project, repo, patterns)
    file = project.path or _new_file(repo)
    entry = {"pattern": name, **({"path": path} if path else {}), **({"reason": reason} if reason else {})}
    if any(each.pattern == name and each.path in (None, path) for each in project.settings.mute):
        return Muted(name, file, False)
    write_atomically(file, _with_entry(file, entry, comment).encode())
    return Muted(name, file, True)


def _id_of(pattern: str, project: Project, repo: str | Path, patterns: Path | None) -> tuple[str, str]:
    """Return the id of a pattern or of an edit, and words that tell a reader what it is."""
    folder = used_folder(patterns, project, open_repository(repo))
    if _EDIT_ID.match(pattern) and not (folder / PATTERNS).is_file():
        return pattern, "an edit of editvec finish"
    learned = load(folder)
    if _EDIT_ID.match(pattern) and pattern not in {name for each in learned for name in each.names}:
        return pattern, "an edit of editvec finish"
    (found,) = pick(learned, [pattern])
    return found.id, f"{found.name}: {found.before} → {found.after}"


def _new_file(repo: str | Path) -> Path:
    top = work_tree(open_repository(repo))
    if top is None:
        raise UserError(f"{repo} has no work tree for a file of settings. Give a file with --config.")
    return top / FILES[1]


def _with_entry(file: Path, entry: dict[str, str], comment: str) -> str:
    """Return the content of a file of settings with an entry added to `mute`."""
    import tomlkit
    from tomlkit.items import AoT

    document = tomlkit.parse(file.read_text(encoding="utf-8")) if file.exists() else tomlkit.document()
    table: Any = _section(document) if file.name == FILES[2] else document
    row = tomlkit.table()
    for key, value in entry.items():
        row.add(key, tomlkit.string(value))
    row["pattern"].comment(" ".join(comment.split())[:100])
    listed = table.get("mute")
    if listed is None:
        listed = tomlkit.aot()
        table.append("mute", listed)
    if isinstance(listed, AoT):
        listed.append(row)
    else:
        inline = tomlkit.inline_table()
        inline.update(entry)
        listed.append(inline)
    return tomlkit.dumps(document)


def _section(document: TOMLDocument) -> Any:
    """Return the table `tool.editvec` of a document, which must exist."""
    table: Any = document
    for name in _TABLE:
        table = table[name]
    return table
