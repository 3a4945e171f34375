"""What a write keeps of a file, and which files are refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from editvec.core.errors import UserError
from editvec.rewrite.writer import write_file
from tests.conftest import Repo


def test_a_file_that_changed_since_it_was_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"theirs")
    with pytest.raises(UserError, match="has changed since it was read"):
        write_file(file, b"one", b"two")
    assert file.read_bytes() == b"theirs"


def test_a_link_out_of_the_work_tree_is_refused(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_bytes(b"one")
    (repo.path / "l.py").symlink_to(outside)
    with pytest.raises(UserError, match="outside its work tree"):
        write_file(repo.path / "l.py", b"one", b"two")
    assert outside.read_bytes() == b"one"


def test_a_file_with_another_hard_link_is_refused(tmp_path: Path) -> None:
    file, other = tmp_path / "a.py", tmp_path / "b.py"
    file.write_bytes(b"one")
    os.link(file, other)
    with pytest.raises(UserError, match="has other hard links"):
        write_file(file, b"one", b"two")
    assert file.read_bytes() == other.read_bytes() == b"one"


@pytest.mark.skipif(sys.platform != "linux", reason="extended attributes are kept on Linux")
def test_mode_and_extended_attributes_stay(tmp_path: Path) -> None:
    file = tmp_path / "a.sh"
    file.write_bytes(b"one")
    file.chmod(0o751)
    try:
        os.setxattr(file, "user.editvec", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    write_file(file, b"one", b"two")
    assert file.read_bytes() == b"two"
    assert file.stat().st_mode & 0o7777 == 0o751
    assert os.getxattr(file, "user.editvec") == b"kept"


def test_a_folder_in_which_nothing_can_be_created_is_one_line(tmp_path: Path) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    file = tmp_path / "f" / "a.py"
    file.parent.mkdir()
    file.write_bytes(b"one")
    file.parent.chmod(0o500)
    try:
        with pytest.raises(UserError, match="cannot write"):
            write_file(file, b"one", b"two")
    finally:
        file.parent.chmod(0o700)
    assert file.read_bytes() == b"one"
