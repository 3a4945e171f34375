"""Artifacts that come with the package: where they are, and whether they are whole.

An artifact is a folder of data below `artifacts/` with a card (README.md) and a manifest that lists its files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from editvec.core.errors import BadInputError, UserError
from editvec.core.files import write_atomically

ARTIFACTS = Path(__file__).parent.parent / "artifacts"
MANIFEST, CARD = "manifest.json", "README.md"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ArtifactManifest:
    """What an artifact is, and the digests of its files."""

    format: str
    made: str
    """The command that makes it again."""
    files: Mapping[str, str]
    """File, relative to the folder, to its SHA-256."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"schema": SCHEMA, "format": self.format, "made": self.made, "files": dict(sorted(self.files.items()))}


@cache
def artifact(name: str) -> Path:
    """Return the folder of a packaged artifact, after comparing its files with the digests in its manifest.

    Raises:
        UserError: This copy of the package lacks the artifact.
        BadInputError: A file is missing or was changed.
    """
    folder = ARTIFACTS / name
    if not (folder / MANIFEST).is_file():
        raise UserError(f"this copy of editvec has no {name} in it. Install it again, or give a folder of your own.")
    check_files(folder)
    return folder


def check_files(folder: Path) -> None:
    """Check that the files of an artifact are those of its manifest.

    Raises:
        BadInputError: A file is missing or was changed.
    """
    there = digests_of(folder)
    for name, digest in sorted(read_manifest(folder).files.items()):
        if there.get(name) != digest:
            reason = "the file differs from the manifest of the package"
            raise BadInputError(folder / name, None, reason, "Install editvec again.")


def read_manifest(folder: Path) -> ArtifactManifest:
    """Return the manifest of an artifact; BadInputError when it is damaged or of another version."""
    path = folder / MANIFEST
    try:
        document = orjson.loads(path.read_bytes())
        if document["schema"] != SCHEMA:
            raise ValueError(f"schema {document['schema']}, this version reads {SCHEMA}")
        return ArtifactManifest(document["format"], document["made"], dict(document["files"]))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise BadInputError(path, None, f"not the manifest of an artifact ({error}). Install editvec again.") from None


def write_manifest(folder: Path, format: str, made: str) -> None:
    """Write the manifest of all files in an artifact's folder."""
    manifest = ArtifactManifest(format, made, digests_of(folder))
    write_atomically(folder / MANIFEST, orjson.dumps(manifest.as_json(), option=orjson.OPT_INDENT_2) + b"\n")


def digests_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder, without the manifest and the card."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name not in (MANIFEST, CARD))
    return {file.relative_to(folder).as_posix(): sha256(file.read_bytes()).hexdigest() for file in files}
