"""Reading and writing of edit files. The file name determines the format.

| name | format |
|---|---|
| `.jsonl.gz`, `.jsonl` | the native format: one edit per line, as `data/native.py` writes it |
| `.parquet` | the same content in columns (`data/parquet.py`); needs the extra `data` |
| `.tsv`, `.tsv.gz` | WikiAtomicEdits: sentence, phrase, edited sentence (further columns are kept) |

Lines of the published GitHubEdits format in a `.jsonl` file are recognised when they are read, and written on demand.
The conversion is lossless in both directions, including Roslyn trees.

All files are streamed, so a file may be larger than memory. Files are written atomically: a file appears under its
name only when it is complete. A damaged line raises an error with file, line and reason, or is skipped and counted; it
is never ignored silently.
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
"""The formats in which a `.jsonl` file can be written."""
_LINES = ("jsonl", "tsv")
_ENDINGS = ".jsonl.gz, .jsonl, .parquet, .tsv.gz or .tsv"
_GZIP_LEVEL = 6
_PUBLISHED = "PrevCodeChunk"
"""A field that is in every line of GitHubEdits and in no native line."""
_WITHOUT_BAD_LINES = "To keep the valid lines, use `editvec convert --skip-bad`."
_MAKE_AGAIN = "Create it again with `editvec mine` or `editvec convert`."


@dataclass(slots=True)
class Damage:
    """The edits that were skipped in a file: their number, and the first five errors."""

    count: int = 0
    first: list[BadInputError] = field(default_factory=list)

    def note(self, error: BadInputError) -> None:
        """Count a skipped edit, and keep its error if it is one of the first five."""
        self.count += 1
        if len(self.first) < 5:
            self.first.append(error)


def read(path: str | Path, *, damage: Damage | None = None, trees: bool = True) -> Iterator[Edit]:
    """Yield the edits of a file.

    With `damage`, damaged lines are skipped and recorded there instead of raising an error. With `trees=False`, the
    tree columns of a Parquet file, which are large, are not read.

    Raises:
        UserError: The file does not exist, or its format does not follow from its name.
        BadInputError: The file is damaged.

    Examples:
        >>> import editvec
        >>> edits = list(editvec.read("edits.jsonl.gz"))
        >>> edits[0].language
        'csharp'
    """
    path = Path(path)
    kind = _kind(path)
    if not path.exists():
        raise UserError(f"{path} does not exist. Create an edit file with `editvec mine` or `editvec convert`.")
    if kind == "parquet":
        yield from parquet.read_parquet(path, trees=trees)
    else:
        yield from _read_lines(path, _edit_of if kind == "jsonl" else formats.edit_from_tsv, damage)


def write(path: str | Path, edits: Iterable[Edit], *, refused: Damage | None = None, form: str = "native") -> int:
    """Write edits to a file atomically; return the number of edits written.

    An edit that the format cannot represent raises an error or, with `refused`, is skipped and recorded there. `form`
    is one of `FORMS` and applies to `.jsonl` files.

    Raises:
        UserError: The format does not follow from the file name, or `form` does not apply to it.
        BadInputError: The format cannot represent an edit.

    Examples:
        >>> import editvec
        >>> editvec.write("copy.jsonl.gz", editvec.read("edits.jsonl.gz"))
        54
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
    """Return the number of edits in a file, or None if that requires reading it."""
    path = Path(path)
    return parquet.count_rows(path) if _kind(path) == "parquet" and path.is_file() else None


def is_native(path: Path) -> bool:
    """Return whether the name of a file is that of a `.jsonl` file, packed or not."""
    return _kind(path) == "jsonl"


def check_target(path: Path, form: str = "native") -> None:
    """Check that an edit file can be written at a path, before the work that produces the edits begins.

    Raises:
        UserError: The file cannot be written there.
    """
    if _dumper(path, form) is None:
        parquet.schema()
    check_place(path)


@contextmanager
def lines_to(path: Path) -> Iterator[IO[bytes]]:
    """Open a stream to write the lines of a file atomically; it is gzipped if the name ends with `.gz`."""
    with atomic(path) as stream:
        if not _is_packed(path):
            yield stream
            return
        # The header holds no time and no name, so the same edits give the same bytes.
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
    raise UserError(f"{path}: the file name does not end with a known suffix. Use {_ENDINGS}.")


def _dumper(path: Path, form: str) -> Callable[[Edit], bytes] | None:
    """Return the function that serialises an edit as a line; None for Parquet."""
    kind = _kind(path)
    if form not in FORMS or (form != "native" and kind != "jsonl"):
        raise UserError(f"{path}: the format {form} requires a file name that ends with .jsonl or .jsonl.gz.")
    if kind == "parquet":
        return None
    if kind == "tsv":
        return formats.edit_to_tsv
    return _native_line if form == "native" else formats.edit_to_githubedits


def _native_line(edit: Edit) -> bytes:
    return native.dump(edit) + b"\n"


def _edit_of(line: bytes) -> Edit:
    """Return the edit of a native line or of a GitHubEdits line."""
    record = native.record_of(line)
    if _PUBLISHED in record:
        return formats.edit_from_githubedits(record)
    if "schema" not in record:
        raise ValueError(f"the line has neither the field schema (editvec) nor the field {_PUBLISHED} (GitHubEdits)")
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
        reason = "the file is truncated" if isinstance(error, EOFError) else f"not a valid gzip file ({error})"
        note(BadInputError(path, number + 1, reason, f"Create or download it again. {_WITHOUT_BAD_LINES}"))
    if first_bad is not None and not any_good:
        # A file without a single valid line is a file of another kind, not an edit file with damaged lines.
        raise BadInputError(path, first_bad.line, f"{first_bad.reason}; the file has no valid edit", _MAKE_AGAIN)
