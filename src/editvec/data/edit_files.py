"""Edit files. `read` and `write` go by the file's name:

| name | format |
|---|---|
| `.jsonl.gz`, `.jsonl` | the native one: an edit a line, as `data/native.py` writes it |
| `.parquet` | the same in columns (`data/parquet.py`), with the extra `data` |
| `.tsv`, `.tsv.gz` | WikiAtomicEdits: sentence, phrase, edited sentence (further columns are kept) |

A line of the published GitHubEdits format in a `.jsonl` file is recognised when it is read, and written on demand,
Roslyn trees included, back and forth without loss.

Everything streams, so a file may be larger than memory. A file appears under its name only when it is whole. Damage
is refused with file, line and reason, or skipped and counted, never read over in silence.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import atomic, check_place
from editvec.data import formats, native, parquet

FORMS = ("native", "githubedits")
"""The formats that a `.jsonl` file can be written in."""
_LINES = ("jsonl", "tsv")
_ENDINGS = ".jsonl.gz, .jsonl, .parquet, .tsv.gz or .tsv"
_GZIP_LEVEL = 6
_PUBLISHED = "PrevCodeChunk"
"""A field that every line of GitHubEdits has and no native one."""
_WITHOUT_BAD_LINES = "`editvec convert --skip-bad` keeps what is sound."
_MAKE_AGAIN = "Make it again: `editvec mine` or `editvec convert`."


@dataclass(slots=True)
class Damage:
    """What was skipped in a file: how many edits, and where the first ones were."""

    count: int = 0
    first: list[BadInputError] = field(default_factory=list)

    def note(self, error: BadInputError) -> None:
        """Count one more."""
        self.count += 1
        if len(self.first) < 5:
            self.first.append(error)


def read(path: str | Path, *, damage: Damage | None = None, trees: bool = True) -> Iterator[Edit]:
    """Yield the edits of a file, one by one.

    With `damage`, bad lines are skipped and noted there instead of raised. Without `trees`, the large columns of a
    Parquet file that hold them are not read.
    """
    path = Path(path)
    kind = _kind(path)
    if not path.exists():
        raise UserError(f"{path} does not exist. `editvec mine` and `editvec convert` make edit files.")
    if kind == "parquet":
        yield from parquet.read_parquet(path, trees=trees)
    else:
        yield from _read_lines(path, _edit_of if kind == "jsonl" else formats.edit_from_tsv, damage)


def write(path: str | Path, edits: Iterable[Edit], *, refused: Damage | None = None, form: str = "native") -> int:
    """Write edits to a file that appears only when it is whole; return how many.

    What a format cannot hold is an error, or, with `refused`, left out and noted there. `form` is one of `FORMS`, for
    `.jsonl` files.
    """
    path = Path(path)
    dump = _dumper(path, form)
    if dump is None:
        return parquet.write_parquet(path, edits)
    count = 0
    with lines_to(path) as out:
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
    """Return how many edits a file holds, where that can be told without reading it."""
    path = Path(path)
    return parquet.count_rows(path) if _kind(path) == "parquet" and path.is_file() else None


def is_native(path: Path) -> bool:
    """Return whether a file's name is that of native lines."""
    return _kind(path) == "jsonl"


def check_target(path: Path, form: str = "native") -> None:
    """UserError when an edit file cannot be written there: better before the work than after."""
    if _dumper(path, form) is None:
        parquet.schema()
    check_place(path)


@contextmanager
def lines_to(path: Path) -> Iterator[IO[bytes]]:
    """A stream for the lines of a file that appears when it is whole; packed where its name ends with `.gz`."""
    with atomic(path) as stream:
        if not _is_packed(path):
            yield stream
            return
        # No time and no name in the header: the same edits give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=_GZIP_LEVEL) as out:
            yield out  # type: ignore[misc]


def _kind(path: Path) -> str:
    if path.is_dir():
        raise UserError(f"{path} is a folder. Give an edit file: {_ENDINGS}.")
    name = path.name.lower()
    if name.endswith(".parquet"):
        return "parquet"
    for kind in _LINES:
        if name.removesuffix(".gz").endswith(f".{kind}"):
            return kind
    raise UserError(f"{path}: unknown kind of edit file. Name it {_ENDINGS}.")


def _dumper(path: Path, form: str) -> Callable[[Edit], bytes] | None:
    """Return what makes a line of an edit; None for Parquet."""
    kind = _kind(path)
    if form not in FORMS or (form != "native" and kind != "jsonl"):
        raise UserError(f"{path}: the format {form} is for .jsonl and .jsonl.gz files.")
    if kind == "parquet":
        return None
    if kind == "tsv":
        return formats.edit_to_tsv
    return _native_line if form == "native" else formats.edit_to_githubedits


def _native_line(edit: Edit) -> bytes:
    return native.dump(edit) + b"\n"


def _edit_of(line: bytes) -> Edit:
    """Return the edit of a native line, or of one of GitHubEdits."""
    record = native.record_of(line)
    if _PUBLISHED in record:
        return formats.edit_from_githubedits(record)
    if "schema" not in record:
        raise ValueError(f"neither the field schema (editvec) nor the field {_PUBLISHED} (GitHubEdits)")
    return native.parse(record)


def _is_packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _read_lines(path: Path, parse: Callable[[bytes], Edit], damage: Damage | None) -> Iterator[Edit]:
    number = 0
    opener = gzip.open if _is_packed(path) else open
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
