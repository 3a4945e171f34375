"""Edit files. `read` and `write` go by the file's name:

| name | format |
|---|---|
| `.parquet` | the native one: one row an edit, zstd, the schema's version in the metadata |
| `.jsonl`, `.jsonl.gz` | GitHubEdits as published, Roslyn trees included, back and forth without loss |
| `.tsv`, `.tsv.gz` | WikiAtomicEdits: sentence, phrase, edited sentence (further columns are kept) |

Everything streams, so a file may be larger than memory. A file appears under its name only when it is whole. Damage
is refused with file, line and reason, or skipped and counted, never read over in silence.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from editvec.core.edit import Canonical, Edit, Source, Version
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import atomic, check_place
from editvec.data import formats

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1
BATCH = 1024
_GROUP_ROWS, _GROUP_BYTES = 8 * BATCH, 8_000_000
"""A row group ends when it has as many of either. A reader holds what a file says of its groups in memory: 30 bytes an
edit if each batch were one, too many for ten million."""
_GROUPS_AT_ONCE = 8
_VERSION_KEY = b"editvec.schema"
_TREES = ("before_tree", "after_tree")


@dataclass(slots=True)
class Damage:
    """What was skipped in a file: how many edits, and where the first ones were."""

    count: int = 0
    first: list[BadInputError] = field(default_factory=list)

    def note(self, error: BadInputError) -> None:
        """Counts one more."""
        self.count += 1
        if len(self.first) < 5:
            self.first.append(error)


class _Lines(NamedTuple):
    """A format with an edit a line."""

    parse: Callable[[bytes], Edit]
    dump: Callable[[Edit], bytes]


_LINES = {
    "jsonl": _Lines(formats.edit_from_jsonl, formats.edit_to_jsonl),
    "tsv": _Lines(formats.edit_from_tsv, formats.edit_to_tsv),
}
"""By the ending of their files' names."""
_WITHOUT_BAD_LINES = "`editvec convert --skip-bad` keeps what is sound."
_MAKE_AGAIN = "Make it again: `editvec mine` or `editvec convert`."


def read(path: str | Path, *, damage: Damage | None = None, trees: bool = True) -> Iterator[Edit]:
    """The edits of a file, one by one. With `damage`, bad lines are skipped and noted there instead of raised.
    Without `trees` the large columns of a Parquet file that hold them are not read."""
    path = Path(path)
    kind = _kind(path)
    if not path.exists():
        raise UserError(f"{path} does not exist. `editvec mine` and `editvec convert` make edit files.")
    if kind == "parquet":
        yield from _read_parquet(path, trees)
    else:
        yield from _read_lines(path, _LINES[kind].parse, damage)


def write(
    path: str | Path, edits: Iterable[Edit], *, refused: Damage | None = None, group_rows: int = _GROUP_ROWS
) -> int:
    """Writes edits to a file that appears only when it is whole; how many. What a format cannot hold is an error, or,
    with `refused`, left out and noted there. Single edits are read faster where a row group has few (`group_rows`)."""
    path = Path(path)
    kind = _kind(path)
    if kind == "parquet":
        with ParquetWriter(path, group_rows=group_rows) as writer:
            while batch := list(islice(edits := iter(edits), BATCH)):
                writer.add(batch)
            return writer.count
    dump = _LINES[kind].dump
    count = 0
    with atomic(path) as stream, _compressed(stream, path) as out:
        for edit in edits:
            try:
                line = dump(edit)
            except ValueError as error:
                failure = BadInputError(path, None, f"edit {edit.id}: {error}")
                if refused is None:
                    raise failure from None
                refused.note(failure)
                continue
            out.write(line)
            count += 1
    return count


def count(path: str | Path) -> int | None:
    """How many edits a file holds, where that can be told without reading it."""
    path = Path(path)
    if _kind(path) != "parquet" or not path.is_file():
        return None
    with _open_parquet(path) as file:
        return int(file.metadata.num_rows)


def take(path: Path, rows: Sequence[int]) -> pa.Table:
    """Some rows of a Parquet file, in rising order; only the row groups that hold them are read."""
    import pyarrow as pa

    with _open_parquet(path) as file:
        found, start = [], 0
        for group in range(file.num_row_groups):
            end = start + file.metadata.row_group(group).num_rows
            here = [row - start for row in rows if start <= row < end]
            if here:
                found.append(file.read_row_group(group).take(here))
            start = end
        return pa.concat_tables(found) if found else schema().empty_table()


def columns_of(path: Path, names: Sequence[str]) -> pa.Table:
    """Some columns of a Parquet file."""
    with _open_parquet(path) as file:
        return file.read(columns=list(names))


def _kind(path: Path) -> str:
    endings = ", ".join(f".{kind}, .{kind}.gz" for kind in _LINES)
    if path.is_dir():
        raise UserError(f"{path} is a folder. Give an edit file: .parquet, {endings}.")
    name = path.name.lower().removesuffix(".gz")
    for kind in ("parquet", *_LINES):
        if name.endswith(f".{kind}") and not (kind == "parquet" and path.name.lower().endswith(".gz")):
            return kind
    raise UserError(f"{path}: unknown kind of edit file. Name it .parquet, {endings}.")


def check_target(path: Path) -> None:
    """UserError when an edit file cannot be written there: better before the work than after."""
    _kind(path)
    check_place(path)


@contextmanager
def _compressed(stream: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    if path.name.lower().endswith(".gz"):
        # No time and no name in the header: the same edits give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=6) as out:
            yield out  # type: ignore[misc]
    else:
        yield stream


def _read_lines(path: Path, parse: Callable[[bytes], Edit], damage: Damage | None) -> Iterator[Edit]:
    number = 0
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    any_good, first_bad = False, None

    def note(failure: BadInputError) -> None:
        nonlocal first_bad
        if damage is None:
            raise failure from None
        first_bad = first_bad or failure
        damage.note(failure)

    try:
        with opener(path, "rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                try:
                    edit = parse(line)
                except ValueError as error:
                    note(BadInputError(path, number, str(error), _WITHOUT_BAD_LINES))
                else:
                    any_good = True
                    yield edit
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        reason = "the file is cut short" if isinstance(error, EOFError) else f"not a sound gzip file ({error})"
        note(BadInputError(path, number + 1, reason, f"Get it again. {_WITHOUT_BAD_LINES}"))
    if first_bad is not None and not any_good:
        # To skip what is bad is not to take something else altogether for a file without edits.
        raise BadInputError(path, first_bad.line, f"{first_bad.reason}; nothing in the file is an edit", _MAKE_AGAIN)


# --- Parquet


def schema() -> pa.Schema:
    """The columns of the native format."""
    import pyarrow as pa

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
    """Writes edits in batches; the file appears when the writer is left without an error."""

    def __init__(self, path: Path, *, group_rows: int = _GROUP_ROWS) -> None:
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
        """Writes a batch."""
        self.add_rows(table_of(edits))

    def add_rows(self, rows: pa.Table) -> None:
        """Writes rows that are in our schema already."""
        self._waiting.append(rows)
        self.count += len(rows)
        waiting = self._waiting
        if sum(map(len, waiting)) >= self._group_rows or sum(each.nbytes for each in waiting) >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        """Writes what waits as one row group."""
        import pyarrow as pa

        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting = []


def table_of(edits: Sequence[Edit]) -> pa.Table:
    """Edits as a table in our schema."""
    import pyarrow as pa

    if not edits:
        return schema().empty_table()
    values = zip(*(_row(edit) for edit in edits), strict=True)
    columns = [pa.array(column, item.type) for column, item in zip(values, schema(), strict=True)]
    return pa.Table.from_arrays(columns, schema=schema())


def edits_of(rows: pa.Table | pa.RecordBatch) -> Iterator[Edit]:
    """The edits of a table in our schema; its trees may be left out."""
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
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadInputError(path, None, f"not a sound Parquet file ({_first_line(error)})", _MAKE_AGAIN) from None
    with file:
        found = (file.schema_arrow.metadata or {}).get(_VERSION_KEY)
        if found is None:
            raise BadInputError(path, None, "a Parquet file, but not one of editvec's", _MAKE_AGAIN)
        if found != str(SCHEMA_VERSION).encode():
            raise BadInputError(
                path,
                None,
                f"schema version {found.decode(errors='replace')}, this editvec reads {SCHEMA_VERSION}",
                _MAKE_AGAIN,
            )
        if not file.schema_arrow.equals(schema(), check_metadata=False):
            raise BadInputError(path, None, "its columns are not those of editvec's schema", _MAKE_AGAIN)
        yield file


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200].rstrip(".") if str(error) else type(error).__name__


def _read_parquet(path: Path, trees: bool) -> Iterator[Edit]:
    import pyarrow as pa

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


def _batches(file: Any, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """What a file holds, in batches. Some row groups at a time: a reader holds something of each that it is to read."""
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
