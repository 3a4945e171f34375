"""The native format of an edit: one JSON object per line, with all fields of `Edit` and the schema version.

The keys are the columns of the Parquet format (`data/parquet.py`). Empty values are omitted: `null`, empty strings and
empty lists. `canonical_before` and `repository` are present exactly if the edit has a canonical form and a source.
Every line holds its schema version, so files can be joined, split and filtered line by line.

This module also packs lines into small compressed blocks, for the store and for the index.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson

from editvec.core.edit import Canonical, Edit, Source, Tokens, Version

SCHEMA_VERSION = 1
"""Version of both native formats, JSON and Parquet; incremented when the format changes incompatibly."""
_CANONICAL = tuple(f"canonical_{name}" for name in Canonical.__slots__)
_TELLING = frozenset({"id", "language", "before_tree", "after_tree", "canonical_before", "repository"}) | {
    f"{side}_{end}_line" for side in ("before", "after") for end in ("first", "last")
}
"""Keys that are written even if their value is empty or 0, because that differs from a missing value."""
_LEVEL = 6


def dump(edit: Edit) -> bytes:
    """Return an edit as a line, without the line feed.

    Raises:
        ValueError: The edit holds text that is not valid Unicode.
    """
    record: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "id": edit.id,
        "language": edit.language,
        "label": edit.label,
        "before": edit.before.text,
        "after": edit.after.text,
        "before_tokens": edit.before.tokens,
        "after_tokens": edit.after.tokens,
        "context_before": edit.context_before,
        "context_behind": edit.context_behind,
        "before_tree": edit.before.tree,
        "after_tree": edit.after.tree,
    }
    form, source = edit.canonical, edit.source
    if form is not None:
        record |= {key: getattr(form, name) for key, name in zip(_CANONICAL, Canonical.__slots__, strict=True)}
    if source is not None:
        record |= {
            "repository": source.repository,
            "commit": source.commit,
            "path": source.path,
            "author": source.author,
            "author_date": source.author_date,
            "message": source.message,
        }
        for side, lines in (("before", source.lines_before), ("after", source.lines_after)):
            if lines is not None:
                record[f"{side}_first_line"], record[f"{side}_last_line"] = lines
    record["extra"] = edit.extra
    try:
        line: bytes = orjson.dumps(
            {key: value for key, value in record.items() if value or (key in _TELLING and value is not None)}
        )
    except orjson.JSONEncodeError as error:
        raise ValueError(f"cannot be written as JSON ({error})") from None
    return line


def parse(record: Mapping[str, Any]) -> Edit:
    """Return the edit of a parsed line.

    Raises:
        ValueError: The schema version differs, or a field is missing or has an unexpected value.
    """
    if record.get("schema") != SCHEMA_VERSION:
        raise ValueError(f"schema version {record.get('schema')}, but this version of editvec reads {SCHEMA_VERSION}")
    for key in ("id", "language"):
        if key not in record:
            raise ValueError(f"the field {key} is missing")
    form = None
    if "canonical_before" in record:
        form = Canonical(*(_tokens(record, key) for key in _CANONICAL))
    return Edit(
        id=_text(record, "id"),
        language=_text(record, "language"),
        before=Version(_text(record, "before"), _tokens(record, "before_tokens"), _tree(record, "before_tree")),
        after=Version(_text(record, "after"), _tokens(record, "after_tokens"), _tree(record, "after_tree")),
        context_before=_tokens(record, "context_before"),
        context_behind=_tokens(record, "context_behind"),
        canonical=form,
        source=_source(record) if "repository" in record else None,
        label=_text(record, "label"),
        extra=_text(record, "extra"),
    )


def record_of(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line.

    Raises:
        ValueError: The line is not a JSON object.
    """
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    return record


def load(line: bytes) -> Edit:
    """Return the edit of a line.

    Raises:
        ValueError: The line is not a valid edit.
    """
    return parse(record_of(line))


def _source(record: Mapping[str, Any]) -> Source:
    date = record.get("author_date")
    if date is not None and not isinstance(date, str):
        raise ValueError("the field author_date is not a string")
    return Source(
        repository=_text(record, "repository"),
        commit=_text(record, "commit"),
        path=_text(record, "path"),
        author=_text(record, "author"),
        author_date=datetime.fromisoformat(date) if date else None,
        lines_before=_lines(record, "before"),
        lines_after=_lines(record, "after"),
        message=_text(record, "message"),
    )


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"the field {key} is not a string")
    return value


def _tree(record: Mapping[str, Any], key: str) -> str | None:
    return _text(record, key) if key in record else None


def _tokens(record: Mapping[str, Any], key: str) -> Tokens:
    values = record.get(key, ())
    # str.join checks all values in one pass in C: it raises TypeError for a value that is not a string.
    try:
        "".join(values)
    except TypeError:
        raise ValueError(f"the field {key} is not a list of strings") from None
    if isinstance(values, str):
        raise ValueError(f"the field {key} is not a list of strings")
    return tuple(values)


def _lines(record: Mapping[str, Any], side: str) -> tuple[int, int] | None:
    first, last = record.get(f"{side}_first_line"), record.get(f"{side}_last_line")
    if first is None and last is None:
        return None
    if not (isinstance(first, int) and isinstance(last, int)):
        raise ValueError(f"the field {side}_first_line or {side}_last_line is not a number")
    return first, last


def pack(lines: Iterable[bytes]) -> bytes:
    """Return lines as one compressed block."""
    return zlib.compress(b"\n".join(lines), _LEVEL)


def unpack(block: bytes) -> list[bytes]:
    """Return the lines of a compressed block.

    Raises:
        zlib.error: The block is damaged.
    """
    whole = zlib.decompress(block)
    return whole.split(b"\n") if whole else []
