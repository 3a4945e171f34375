"""Locks and the place of the cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from editvec.core.errors import UserError
from editvec.core.files import cache_home, locked

HOLDER = """
import sys, time
from pathlib import Path
from editvec.core.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError), locked(path):
            pass
        holder.kill()
    with locked(path):
        assert [each.name for each in tmp_path.iterdir()] == ["lock"]


def test_a_lock_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot lock"), locked(tmp_path / "none" / "lock"):
        pass


def test_the_cache_is_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_home() == tmp_path / "editvec"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_home().is_relative_to(tmp_path)
