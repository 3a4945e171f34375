"""Convert an edit file to another format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.data.progress import Stages, counted, silent


@dataclass(frozen=True, slots=True)
class Converted:
    """The result of a conversion: the number of edits written, and what was left out."""

    written: int
    damaged: edit_files.Damage | None
    """Damaged lines of the source that were skipped; None if such a line is an error."""
    refused: edit_files.Damage | None
    """Edits that the format of the target cannot represent; None if such an edit is an error."""


def convert(
    source: str | Path,
    target: str | Path,
    *,
    format: str = "native",
    skip_bad: bool = False,
    progress: Stages = silent,
) -> Converted:
    """Convert an edit file to another format, which follows from the file names.

    `format` selects what is written to a .jsonl file: "native" lines or the published "githubedits" format. With
    `skip_bad`, damaged lines and edits that the target's format cannot represent are skipped and counted. The target
    is written atomically: it appears only when it is complete.

    Raises:
        UserError: Both files are the same, or the format of a file does not follow from its name.
        BadInputError: The source is damaged, or an edit cannot be represented in the target's format.

    Examples:
        >>> import editvec
        >>> editvec.convert("sentences.tsv", "sentences.jsonl.gz").written
        1
    """
    if Path(source).exists() and Path(target).exists() and Path(source).samefile(target):
        raise UserError("IN and OUT are the same file. Choose another name for OUT.")
    edit_files.check_target(Path(target), format)
    damage, refused = (edit_files.Damage(), edit_files.Damage()) if skip_bad else (None, None)
    edits = counted(edit_files.read(source, damage=damage), progress, "Converting", total=edit_files.count(source))
    return Converted(edit_files.write(target, edits, refused=refused, form=format), damage, refused)
