"""What an index says about itself: `index.json`, read with suspicion and replaced at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from editvec.core.errors import BadInputError, UserError
from editvec.core.files import write_atomically

VERSION = 2
MANIFEST, EDITS, CELLS = "index.json", "edits.sqlite", "ivf.faiss"
VECTORS, UNITS, FORMS = "vectors.npy", "units.npy", "forms.npy"
VECTORISER = "vectoriser"


class NoIndexError(UserError):
    """There is no index, or not a finished one."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `index.json` says."""

    version: int
    vectoriser: str
    digest: str
    dim: int
    count: int = 0
    celled: int = 0
    """How many rows are in the cells; the others are searched one by one."""
    complete: bool = False

    def save(self, folder: Path) -> None:
        """From now on, this is what counts."""
        write_atomically(folder / MANIFEST, orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2))


def read_manifest(folder: Path) -> Manifest:
    if not folder.is_dir():
        raise NoIndexError(f"{folder} is not a folder. Give the folder of an index; editvec encode makes one.")
    path = folder / MANIFEST
    if not path.is_file():
        raise NoIndexError(f"{folder} holds no index. Make one with editvec encode.")
    try:
        found = orjson.loads(path.read_bytes())
        if found["version"] != VERSION:
            raise BadInputError(path, None, f"version {found['version']}, this editvec reads {VERSION}. Encode again.")
        manifest = Manifest(**found)
        _check(manifest)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise BadInputError(path, None, f"not an index ({error}). Encode the edits again.") from None
    return manifest


def _check(manifest: Manifest) -> None:
    numbers = (manifest.dim, manifest.count, manifest.celled)
    if not all(isinstance(number, int) and 0 <= number < 2**40 for number in numbers) or not manifest.dim:
        raise ValueError("a number that makes no sense")
    if not isinstance(manifest.vectoriser, str) or not isinstance(manifest.digest, str):
        raise ValueError("the vectoriser is no text")
