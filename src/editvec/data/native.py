"""The native form of an edit: one JSON object a line, with everything that an `Edit` holds and the schema's version.

The keys are the columns of the Parquet form (`data/parquet.py`). A key that has nothing to say is left out: `null`,
and an empty text or list. `canonical_before` and `repository` are present exactly when the edit has a canonical form
and a source. Every line says its version, so files can be joined, cut and filtered line by line.

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
"""Counted up when a line or a row of today cannot be read as one of then. Of both native forms, JSON and Parquet."""
_CANONICAL = tuple(f"canonical_{name}" for name in Canonical.__slots__)
_TELLING = frozenset({"id", "language", "before_tree", "after_tree", "canonical_before", "repository"}) | {
    f"{side}_{end}_line" for side in ("before", "after") for end in ("first", "last")
}
"""Keys whose empty text or list, or 0, differs from nothing at all."""
_LEVEL = 6


def dump(edit: Edit) -> bytes:
    """Return an edit as a line, without the line feed; ValueError for text that is not Unicode."""
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
    """Return the edit of a record that was a line; ValueError says what is wrong with it."""
    if record.get("schema") != SCHEMA_VERSION:
        raise ValueError(f"schema version {record.get('schema')}, this editvec reads {SCHEMA_VERSION}")
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
    """Return the JSON object of a line; ValueError where there is none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    return record


def load(line: bytes) -> Edit:
    """Return the edit of a line; ValueError says what is wrong with it."""
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
    # One pass in C: join refuses what is no string.
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
    """Return lines as a compressed block."""
    return zlib.compress(b"\n".join(lines), _LEVEL)


def unpack(block: bytes) -> list[bytes]:
    """Return the lines of a block; zlib.error where it is damaged."""
    whole = zlib.decompress(block)
    return whole.split(b"\n") if whole else []
