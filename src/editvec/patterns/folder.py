"""What `editvec learn` leaves behind, and what other verbs read of it: `patterns.json`, `rules/*.yml`, `edits.jsonl.gz`,
`report.html`. The folder tells git to leave it alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from editvec.core.errors import BadInputError, UserError
from editvec.core.files import make_folder, write_atomically
from editvec.data import edit_files
from editvec.patterns.learn import Learned
from editvec.patterns.pattern import SCHEMA, Pattern, from_json

NAME = ".editvec"
PATTERNS, RULES, EDITS, REPORT = "patterns.json", "rules", "edits.jsonl.gz", "report.html"
_SAFE = re.compile(r"[a-z0-9][a-z0-9-]{0,80}\.yml\Z")


def save(folder: Path, learned: Learned, about: Mapping[str, Any], page: str) -> None:
    """Writes what was learned; rules of an earlier time that are no more are removed."""
    rules = folder / RULES
    make_folder(rules)
    if folder.name == NAME:
        write_atomically(folder / ".gitignore", b"*\n")
    written = set()
    for pattern in learned.patterns:
        if pattern.rule:
            write_atomically(rules / f"{pattern.name}.yml", pattern.rule.encode())
            written.add(f"{pattern.name}.yml")
    edit_files.write(folder / EDITS, learned.edits)
    entries = [
        pattern.as_json(number, f"{RULES}/{pattern.name}.yml" if pattern.rule else None)
        for number, pattern in enumerate(learned.patterns, 1)
    ]
    document = {"schema": SCHEMA, **about, "patterns": entries}
    write_atomically(folder / PATTERNS, orjson.dumps(document, option=orjson.OPT_INDENT_2))
    write_atomically(folder / REPORT, page.encode("utf-8", "replace"))
    for file in rules.iterdir():
        if _SAFE.match(file.name) and file.name not in written:
            file.unlink()


def load(folder: Path) -> list[Pattern]:
    """The patterns in a folder, in their order, with their rules."""
    document = about(folder)
    try:
        return [from_json(entry, _rule(folder, entry)) for entry in document["patterns"]]
    except (KeyError, TypeError, ValueError) as error:
        raise _foreign(folder, error) from None


def about(folder: Path) -> dict[str, Any]:
    """What was learned from where: all of `patterns.json`."""
    path = folder / PATTERNS
    if not path.is_file():
        raise UserError(f"{folder} holds no patterns. Learn some first: editvec learn.")
    try:
        document: dict[str, Any] = orjson.loads(path.read_bytes())
        schema = document["schema"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise _foreign(folder, error) from None
    if schema != SCHEMA:
        raise BadInputError(path, None, f"schema {schema}, this version reads {SCHEMA}. Learn again.")
    return document


def _foreign(folder: Path, error: Exception) -> BadInputError:
    return BadInputError(folder / PATTERNS, None, f"not what editvec learn writes ({error}). Learn again.")


def _rule(folder: Path, entry: Mapping[str, Any]) -> str | None:
    if not entry["rule"]:
        return None
    name = Path(entry["rule"]["file"]).name
    if not _SAFE.match(name):
        raise BadInputError(folder / PATTERNS, None, f"{name!r} is no name of a rule. Learn again.")
    path = folder / RULES / name
    if not path.is_file():
        raise BadInputError(path, None, "the rule is missing. Learn again.")
    return path.read_text(encoding="utf-8")


def pick(patterns: Sequence[Pattern], which: Sequence[str]) -> list[Pattern]:
    """The patterns that a user names by number or name; all where nothing is named."""
    if not which:
        return list(patterns)
    by_name = {pattern.name: pattern for pattern in patterns}
    by_name |= {str(number): pattern for number, pattern in enumerate(patterns, 1)}
    for each in which:
        if each not in by_name:
            there = (
                f"There are 1 to {len(patterns)}; see the report of editvec learn."
                if patterns
                else "None was learned here."
            )
            raise UserError(f"no pattern {each!r}. {there}")
    return [by_name[each] for each in which]
