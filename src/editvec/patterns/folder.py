"""The folder that `editvec learn` writes and other verbs read.

It holds `patterns.json`, `rules/*.yml`, `edits.jsonl.gz` and `report.html`. A `.gitignore` inside makes git ignore the
folder. `manifest.json` lists the files that `learn` wrote. Only listed files are replaced or removed, so files that
people added are kept. A non-empty folder without a manifest is refused, unless an earlier version of `learn` wrote it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import orjson

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import from_json as json_of
from editvec.core.files import make_folder, to_json, write_atomically
from editvec.data import edit_files
from editvec.data.project import Project
from editvec.patterns.document import SCHEMA, PatternEntry, PatternsDocument
from editvec.patterns.pattern import Pattern
from editvec.rewrite.journal import IGNORE, IGNORE_ALL, NAME, UNDO
from editvec.rules.rule import Rule, load_rules
from editvec.vcs.git import Repository, work_tree

PATTERNS, RULES, EDITS, REPORT = "patterns.json", "rules", "edits.jsonl.gz", "report.html"
MANIFEST = "manifest.json"
_TOOL, _MANIFEST_SCHEMA = "editvec", 1
_ALWAYS = frozenset({PATTERNS, EDITS, REPORT})
_SAFE = re.compile(r"[a-z0-9][a-z0-9-]{0,80}\.yml\Z")
_BEGUN = re.compile(rf"\.{re.escape(MANIFEST)}\..*\.partial\Z")
"""The name of a partial manifest, which is all that a run leaves if it is killed at the very start."""


def save(folder: Path, patterns: Sequence[Pattern], edits: Iterable[Edit], about: Mapping[str, Any], page: str) -> None:
    """Write what was learned to a folder, and remove rules of an earlier run that no longer exist.

    `page` is the report as HTML. The process may be killed at any moment: the next run still recognises the folder.

    Raises:
        UserError: The folder holds files that `learn` did not write.
        BadInputError: The manifest of the folder is damaged.
    """
    folder = folder.resolve()
    rules = {_file_of(each): each.rule.yaml for pattern in patterns for each in pattern.rules if each.rule is not None}
    names = {*_always(folder), *rules}
    owned = check(folder, names)
    make_folder(folder)
    _claim(folder, owned | names)
    make_folder(folder / RULES)
    if folder.name == NAME:
        write_atomically(folder / IGNORE, IGNORE_ALL)
    for name, rule in rules.items():
        write_atomically(folder / name, rule.encode())
    edit_files.write(folder / EDITS, edits)
    entries = [
        PatternEntry.of(pattern, number, {each.name: _file_of(each) for each in pattern.rules})
        for number, pattern in enumerate(patterns, 1)
    ]
    document = msgspec.to_builtins(PatternsDocument(schema=SCHEMA, patterns=entries, **about))
    write_atomically(folder / PATTERNS, to_json(document, indent=True))
    write_atomically(folder / REPORT, page.encode("utf-8", "replace"))
    for name in owned - names:
        (folder / name).unlink(missing_ok=True)
    _claim(folder, names)


def _file_of(pattern: Pattern) -> str:
    """Return the name of the file of a pattern's rule, relative to the folder."""
    return f"{RULES}/{pattern.name}.yml"


def check(folder: Path, names: Collection[str] = _ALWAYS) -> set[str]:
    """Return the names of the files in a folder that an earlier `learn` wrote.

    `names` are the files to be written.

    Raises:
        UserError: The folder was not written by `learn`, or another file or folder is in the way of a file to write.
        BadInputError: The manifest of the folder is damaged.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Give a folder with -o.")
    owned = _owned(folder)
    for name in sorted({RULES, MANIFEST, *names, *owned}):
        path = folder / name
        if path.is_symlink():
            raise UserError(
                f"{path} is a symbolic link, and learn does not follow links. Remove it, or give another -o."
            )
        if path.is_dir() and name != RULES:
            raise UserError(f"{path} is a folder. Move it away, or give another folder with -o.")
        if path.exists() and name not in owned and name not in (RULES, MANIFEST):
            raise UserError(f"{path} was not written by learn. Move it away, or give another folder with -o.")
    return owned


def _owned(folder: Path) -> set[str]:
    """Return the names in the manifest of a folder.

    Without a manifest, the names are those in the `patterns.json` of an earlier version of editvec.
    """
    if os.path.lexists(folder / MANIFEST):
        return _listed(folder)
    if not folder.is_dir() or all(_is_no_obstacle(file) for file in folder.iterdir()):
        return set()
    if not (folder / PATTERNS).is_file() or (folder / PATTERNS).is_symlink() or (folder / RULES).is_symlink():
        raise UserError(f"{folder} holds files that learn did not write. Give a new or an empty folder with -o.")
    try:
        load(folder)
        rules = {each.file for entry in read_document(folder).patterns for each in entry.rules()}
        return {*_always(folder), *filter(_is_name, rules)}
    except BadInputError:
        raise UserError(
            f"this version of learn cannot replace {folder}: another version wrote it, or it is damaged. Remove it, or "
            "give an empty folder with -o."
        ) from None


def _is_no_obstacle(file: Path) -> bool:
    """Return whether a file may be in a folder that `learn` has not written yet."""
    return _BEGUN.match(file.name) is not None or (file.name == UNDO and file.parent.name == NAME)


def _listed(folder: Path) -> set[str]:
    """Return the names in a manifest, after checking that they are names that `learn` writes."""
    path = folder / MANIFEST
    advice = "Give another folder with -o, or delete this folder."
    if path.is_symlink() or not path.is_file():
        raise UserError(f"{path} is not a regular file. {advice}")
    try:
        document = orjson.loads(path.read_bytes())
        ours = document["tool"] == _TOOL and document["schema"] == _MANIFEST_SCHEMA
        names = document["files"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise BadInputError(path, None, f"not a manifest of editvec learn ({error})", advice) from None
    if not ours or not isinstance(names, list):
        raise BadInputError(path, None, "not a manifest of this version of editvec", advice)
    for name in names:
        if not isinstance(name, str) or not _is_name(name):
            raise BadInputError(
                path, None, f"the manifest lists {name!r}, which is not a name that learn writes", advice
            )
    return set(names)


def _always(folder: Path) -> frozenset[str]:
    """Return the names that `learn` writes in every run."""
    return _ALWAYS | {IGNORE} if folder.name == NAME else _ALWAYS


def _is_name(name: str) -> bool:
    """Return whether a name is one that `learn` writes."""
    return (
        name == IGNORE
        or name in _ALWAYS
        or (name.startswith(f"{RULES}/") and _SAFE.match(name[len(RULES) + 1 :]) is not None)
    )


def _claim(folder: Path, names: Collection[str]) -> None:
    document = {"schema": _MANIFEST_SCHEMA, "tool": _TOOL, "files": sorted(names)}
    write_atomically(folder / MANIFEST, orjson.dumps(document, option=orjson.OPT_INDENT_2))


def load(folder: Path) -> list[Pattern]:
    """Return the patterns in a folder, in their order, with their rules.

    Raises:
        UserError: The folder holds no patterns.
        BadInputError: `patterns.json` or a rule is damaged or missing.
    """
    return [entry.pattern(partial(_rule, folder)) for entry in read_document(folder).patterns]


def read_document(folder: Path) -> PatternsDocument:
    """Return the content of `patterns.json`: the patterns, and the facts about the run that learned them.

    Raises:
        UserError: The folder holds no patterns.
        BadInputError: The file is damaged or was written by another version.
    """
    path = folder / PATTERNS
    if not path.is_file():
        raise UserError(f"{folder} holds no patterns. Run editvec learn first.")
    try:
        content = json_of(path.read_bytes())
        schema = content["schema"]
        if schema == SCHEMA:
            return msgspec.convert(content, PatternsDocument)
    except (orjson.JSONDecodeError, msgspec.ValidationError, KeyError, TypeError) as error:
        message = f"not a file that editvec learn wrote ({error}). Run editvec learn again."
        raise BadInputError(path, None, message) from None
    raise BadInputError(
        path, None, f"schema version {schema}, but this version of editvec reads {SCHEMA}. Run editvec learn again."
    )


def _rule(folder: Path, file: str) -> Rule:
    name = Path(file).name
    if not _SAFE.match(name):
        raise BadInputError(
            folder / PATTERNS, None, f"{name!r} is not the name of a rule file. Run editvec learn again."
        )
    path = folder / RULES / name
    if not path.is_file():
        raise BadInputError(path, None, "the rule file is missing. Run editvec learn again.")
    try:
        rules = load_rules(path.read_text(encoding="utf-8"), path)
    except UnicodeDecodeError:
        raise BadInputError(path, None, "not UTF-8. Run editvec learn again.") from None
    if len(rules) != 1:
        raise BadInputError(path, None, "the file does not hold exactly one rule. Run editvec learn again.")
    return rules[0]


def default_folder(repository: Repository) -> Path:
    """Return the folder `.editvec` at the top of the work tree or, without a work tree, in the current folder.

    Raises:
        UserError: The folder is a symbolic link, which may have come with the repository.
    """
    folder = (work_tree(repository) or Path.cwd()) / NAME
    if folder.is_symlink():
        raise UserError(f"{folder} is a symbolic link. Remove it, or give a folder with --out or --patterns.")
    return folder


def used_folder(given: Path | None, project: Project, repository: Repository) -> Path:
    """Return the folder of the patterns to use: the given one, that of the settings, or the default one.

    Raises:
        UserError: The default folder is a symbolic link.
    """
    return given or project.patterns_folder or default_folder(repository)


def pick(patterns: Sequence[Pattern], which: Sequence[str]) -> list[Pattern]:
    """Return the patterns that the user gave by number, name or id; all if none is given.

    Raises:
        UserError: A pattern does not exist.
    """
    if not which:
        return list(patterns)
    known = [each for pattern in patterns for each in (*pattern.variants, pattern)]
    by_name = {each.id: each for each in known} | {each.name: each for each in known}
    by_name |= {str(number): pattern for number, pattern in enumerate(patterns, 1)}
    for each in which:
        if each not in by_name:
            there = (
                f"Give a number from 1 to {len(patterns)}, or a name from the report of editvec learn."
                if patterns
                else "editvec learn found no patterns here."
            )
            raise UserError(f"no pattern {each!r}. {there}")
    return [by_name[each] for each in which]
