"""What comes with the package is whole, and says how it was made."""

from __future__ import annotations

from pathlib import Path

import pytest

from editvec.core.errors import BadInputError, UserError
from editvec.data.artifacts import ARTIFACTS, MANIFEST, artifact, check_files, digests_of, read_manifest, write_manifest


@pytest.mark.parametrize("name", sorted(path.name for path in ARTIFACTS.iterdir() if path.is_dir()))
def test_every_artifact_is_what_its_manifest_says(name: str) -> None:
    manifest = read_manifest(artifact(name))
    assert manifest.files == digests_of(ARTIFACTS / name)
    assert manifest.made and (ARTIFACTS / name / "README.md").is_file()


def test_a_manifest_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("x")
    write_manifest(tmp_path, "text", "by hand")
    manifest = read_manifest(tmp_path)
    assert (manifest.format, manifest.made, list(manifest.files)) == ("text", "by hand", ["a/b.txt"])
    (tmp_path / "a" / "b.txt").write_text("y")
    assert digests_of(tmp_path) != manifest.files


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": 99}', '{"schema": 1, "format": "x"}'])
def test_a_damaged_manifest_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(BadInputError, match="not the manifest of an artifact"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("damage", [b"x", b""])
def test_a_file_that_was_changed_is_one_line(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "a.bin").write_bytes(b"whole")
    write_manifest(tmp_path, "text", "by hand")
    check_files(tmp_path)
    (tmp_path / "a.bin").write_bytes(damage)
    with pytest.raises(BadInputError, match=r"a\.bin: the file differs from the manifest"):
        check_files(tmp_path)
    (tmp_path / "a.bin").unlink()
    with pytest.raises(BadInputError, match=r"a\.bin"):
        check_files(tmp_path)


def test_an_artifact_that_is_missing_is_one_line() -> None:
    with pytest.raises(UserError, match="has no nothing in it"):
        artifact("nothing")
