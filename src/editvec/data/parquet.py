"""Edits as Parquet, for large data sets: one row per edit, compressed with zstd.

The schema version is in the metadata of the file. pandas, DuckDB and Spark can read these files directly. This module
needs pyarrow (`pip install 'editvec[data]'`), which is imported only inside functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from editvec.core.edit import Canonical, Edit, Source, Version
from editvec.core.errors import BadInputError
from editvec.core.files import atomic
from editvec.data.extras import require
from editvec.data.native import SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1024
_GROUP_ROWS, _GROUP_BYTES = 8 * BATCH, 8_000_000
"""Limits of a row group; it is complete when it reaches either.

A reader keeps the metadata of all row groups in memory. With one group per batch this would take 30 bytes per edit,
which is too much for ten million edits.
"""
_GROUPS_AT_ONCE = 8
_VERSION_KEY = b"editvec.schema"
_TREES = ("before_tree", "after_tree")
_MAKE_AGAIN = "Create it again with `editvec mine` or `editvec convert`."


def _arrow() -> Any:
    return require("pyarrow", extra="data", what="Parquet files")


def read_parquet(path: Path, *, trees: bool = True) -> Iterator[Edit]:
    """Yield the edits of a Parquet file.

    With `trees=False`, the tree columns, which are large, are not read.

    Raises:
        BadInputError: The file is damaged or was not written by this version of editvec.
    """
    pa = _arrow()
    columns = None if trees else [name for name in schema().names if name not in _TREES]
    with _open_parquet(path) as file:
        seen = 0
        try:
            for batch in _batches(file, columns):
                edits = list(edits_of(batch))
                yield from edits
                seen += len(edits)
        except (pa.ArrowInvalid, OSError, UnicodeDecodeError, TypeError) as error:
            raise BadInputError(path, None, f"damaged after {seen} edits ({_first_line(error)})", _MAKE_AGAIN) from None


def write_parquet(path: Path, edits: Iterable[Edit], *, group_rows: int = _GROUP_ROWS) -> int:
    """Write edits to a Parquet file atomically; return the number of edits written."""
    with ParquetWriter(path, group_rows=group_rows) as writer:
        while batch := list(islice(edits := iter(edits), BATCH)):
            writer.add(batch)
        return writer.count


def count_rows(path: Path) -> int:
    """Return the number of edits in a Parquet file without reading them."""
    with _open_parquet(path) as file:
        return int(file.metadata.num_rows)


def schema() -> pa.Schema:
    """Return the Arrow schema of edits: the columns in their order."""
    pa = _arrow()
    text, tokens, small = pa.string(), pa.list_(pa.string()), pa.int32()
    columns: list[tuple[str, Any]] = [
        ("id", text),
        ("language", text),
        ("label", text),
        ("before", text),
        ("after", text),
        ("before_tokens", tokens),
        ("after_tokens", tokens),
        ("context_before", tokens),
        ("context_behind", tokens),
        ("canonical_before", tokens),
        ("canonical_after", tokens),
        ("canonical_context_before", tokens),
        ("canonical_context_behind", tokens),
        ("canonical_names", tokens),
        ("canonical_literals", tokens),
        ("before_tree", text),
        ("after_tree", text),
        ("repository", text),
        ("commit", text),
        ("path", text),
        ("author", text),
        ("author_date", pa.timestamp("ms", tz="UTC")),
        ("before_first_line", small),
        ("before_last_line", small),
        ("after_first_line", small),
        ("after_last_line", small),
        ("message", text),
        ("extra", text),
    ]
    return pa.schema([pa.field(name, kind) for name, kind in columns], {_VERSION_KEY: str(SCHEMA_VERSION).encode()})


class ParquetWriter:
    """A context manager that writes edits in batches; the file appears only if it exits without an error."""

    def __init__(self, path: Path, *, group_rows: int = _GROUP_ROWS) -> None:
        _arrow()
        import pyarrow.parquet as pq

        self.count = 0
        self._group_rows = group_rows
        self._guard = atomic(path)
        self._stream = self._guard.__enter__()
        self._writer = pq.ParquetWriter(self._stream, schema(), compression="zstd", compression_level=6)
        self._waiting: list[pa.Table] = []

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self._flush()
            self._writer.close()
        finally:
            self._guard.__exit__(kind, error, trace)

    def add(self, edits: list[Edit]) -> None:
        """Write a batch of edits."""
        self.add_rows(table_of(edits))

    def add_rows(self, rows: pa.Table) -> None:
        """Write rows that already have the schema of edits."""
        self._waiting.append(rows)
        self.count += len(rows)
        waiting = self._waiting
        if sum(map(len, waiting)) >= self._group_rows or sum(each.nbytes for each in waiting) >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        """Write the buffered rows as one row group."""
        pa = _arrow()
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting = []


def table_of(edits: Sequence[Edit]) -> pa.Table:
    """Return edits as an Arrow table with the schema of edits."""
    pa = _arrow()
    if not edits:
        return schema().empty_table()
    values = zip(*(_row(edit) for edit in edits), strict=True)
    columns = [pa.array(column, item.type) for column, item in zip(values, schema(), strict=True)]
    return pa.Table.from_arrays(columns, schema=schema())


def edits_of(rows: pa.Table | pa.RecordBatch) -> Iterator[Edit]:
    """Yield the edits of a table with the schema of edits; the tree columns may be missing."""
    nothing = [None] * len(rows)
    names = set(rows.schema.names)
    columns = (rows.column(name).to_pylist() if name in names else nothing for name in schema().names)
    for row in zip(*columns, strict=True):
        yield _edit(row)


def _row(edit: Edit) -> tuple[Any, ...]:
    source, canonical = edit.source or _NO_SOURCE, edit.canonical
    before, after = source.lines_before or (None, None), source.lines_after or (None, None)
    forms: tuple[Any, ...] = (None,) * 6
    if canonical is not None:
        forms = (
            canonical.before,
            canonical.after,
            canonical.context_before,
            canonical.context_behind,
            canonical.names,
            canonical.literals,
        )
    return (
        edit.id,
        edit.language,
        edit.label,
        edit.before.text,
        edit.after.text,
        edit.before.tokens,
        edit.after.tokens,
        edit.context_before,
        edit.context_behind,
        *forms,
        edit.before.tree,
        edit.after.tree,
        source.repository if edit.source else None,
        source.commit,
        source.path,
        source.author,
        source.author_date,
        *before,
        *after,
        source.message,
        edit.extra,
    )


_NO_SOURCE = Source("")


@contextmanager
def _open_parquet(path: Path) -> Iterator[Any]:
    pa = _arrow()
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInputError(path, None, f"not a valid Parquet file ({_first_line(error)})", _MAKE_AGAIN) from None
    with file:
        found = (file.schema_arrow.metadata or {}).get(_VERSION_KEY)
        if found is None:
            raise BadInputError(path, None, "a Parquet file that editvec did not write", _MAKE_AGAIN)
        if found != str(SCHEMA_VERSION).encode():
            raise BadInputError(
                path,
                None,
                f"schema version {found.decode(errors='replace')}, but this version of editvec reads {SCHEMA_VERSION}",
                _MAKE_AGAIN,
            )
        if not file.schema_arrow.equals(schema(), check_metadata=False):
            raise BadInputError(path, None, "its columns differ from the schema of edits", _MAKE_AGAIN)
        yield file


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200].rstrip(".") if str(error) else type(error).__name__


def _batches(file: Any, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in batches.

    Only a few row groups are requested at a time, because a reader keeps memory for each requested group.
    """
    for first in range(0, file.num_row_groups, _GROUPS_AT_ONCE):
        groups = range(first, min(first + _GROUPS_AT_ONCE, file.num_row_groups))
        yield from file.iter_batches(batch_size=BATCH, columns=columns, row_groups=list(groups))


def _edit(row: tuple[Any, ...]) -> Edit:
    (
        identity,
        language,
        label,
        before,
        after,
        before_tokens,
        after_tokens,
        context_before,
        context_behind,
    ) = row[:9]
    canonical = Canonical(*(tuple(tokens) for tokens in row[9:15])) if row[9] is not None else None
    before_tree, after_tree, repository, commit, path, author, date = row[15:22]
    first, last, new_first, new_last, message, extra = row[22:28]
    source = None
    if repository is not None:
        source = Source(
            repository=repository,
            commit=commit,
            path=path,
            author=author,
            author_date=date,
            lines_before=(first, last) if first is not None else None,
            lines_after=(new_first, new_last) if new_first is not None else None,
            message=message,
        )
    return Edit(
        id=identity,
        language=language,
        before=Version(before, tuple(before_tokens), before_tree),
        after=Version(after, tuple(after_tokens), after_tree),
        context_before=tuple(context_before),
        context_behind=tuple(context_behind),
        canonical=canonical,
        source=source,
        label=label,
        extra=extra,
    )
