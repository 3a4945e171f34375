"""The manifest of an index, `index.json`: checked when it is read, replaced atomically when it is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from editvec.core.errors import BadInputError, UserError
from editvec.core.files import write_atomically

VERSION = 3
MANIFEST, EDITS, CELLS = "index.json", "edits.sqlite", "ivf.faiss"
VECTORS, UNITS, TOKEN_HASHES = "vectors.npy", "units.npy", "token_hashes.npy"
VECTORISER = "vectoriser"


class NoIndexError(UserError):
    """The folder has no index, or an unfinished one."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of `index.json`."""

    version: int
    vectoriser: str
    digest: str
    dim: int
    count: int = 0
    celled: int = 0
    """Number of rows in the cells; the other rows are searched exactly."""
    complete: bool = False

    def save(self, folder: Path) -> None:
        """Replace the manifest in a folder."""
        write_atomically(folder / MANIFEST, orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2))


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest in a folder.

    Raises:
        NoIndexError: There is no index in the folder.
        BadInputError: The manifest is damaged or has another version.
    """
    if not folder.is_dir():
        raise NoIndexError(f"{folder} is not a folder. Give the folder of an index, which editvec encode writes.")
    path = folder / MANIFEST
    if not path.is_file():
        raise NoIndexError(f"{folder} contains no index. Make one with editvec encode.")
    try:
        found = orjson.loads(path.read_bytes())
        if found["version"] != VERSION:
            raise BadInputError(
                path, None, f"version {found['version']}, but this editvec reads {VERSION}. Encode again."
            )
        manifest = Manifest(**found)
        _check(manifest)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise BadInputError(path, None, f"not an index ({error}). Encode the edits again.") from None
    return manifest


def _check(manifest: Manifest) -> None:
    numbers = (manifest.dim, manifest.count, manifest.celled)
    if not all(isinstance(number, int) and 0 <= number < 2**40 for number in numbers) or not manifest.dim:
        raise ValueError("a number is out of range")
    if not isinstance(manifest.vectoriser, str) or not isinstance(manifest.digest, str):
        raise ValueError("the vectoriser or its digest is not a string")
