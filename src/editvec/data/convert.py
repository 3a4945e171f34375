"""Convert an edit file to another format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.data.progress import Stages, counted, silent


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion wrote, and what it left out."""

    written: int
    damaged: edit_files.Damage | None
    """Lines of the source; None if the first would have stopped the conversion."""
    refused: edit_files.Damage | None
    """Edits that the target's format cannot hold."""


def convert(
    source: str | Path,
    target: str | Path,
    *,
    format: str = "native",
    skip_bad: bool = False,
    progress: Stages = silent,
) -> Converted:
    """Convert an edit file to another format, by the files' names.

    `format` says what a .jsonl file gets: "native" lines or the published "githubedits". With `skip_bad`, damaged
    lines, and edits that the target cannot hold, are left out and counted. The target appears only when it is whole.

    Raises:
        UserError: Both files are the same, or the target's name says no format.
        BadInputError: The source is damaged.

    Example:
        >>> import editvec
        >>> editvec.convert("sentences.tsv", "sentences.jsonl.gz").written
    """
    if Path(source).exists() and Path(target).exists() and Path(source).samefile(target):
        raise UserError("IN and OUT are the same file.")
    edit_files.check_target(Path(target), format)
    damage, refused = (edit_files.Damage(), edit_files.Damage()) if skip_bad else (None, None)
    edits = counted(edit_files.read(source, damage=damage), progress, "Converting", total=edit_files.count(source))
    return Converted(edit_files.write(target, edits, refused=refused, form=format), damage, refused)
