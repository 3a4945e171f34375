"""Real Neovim, headless: whatever version the system has, old ones included."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Repo
from tests.ui.lsp.test_server import HEAD, WIDE

_MISSING = "no Neovim on this machine: apt-get install neovim"
SECONDS = 20


def neovim() -> str:
    """Return the path of Neovim. Without one, a test is skipped; in CI on Linux it fails."""
    path = shutil.which("nvim")
    if path is None and os.environ.get("CI") and sys.platform == "linux":
        pytest.fail(_MISSING)
    return path or pytest.skip(_MISSING)


def test_neovim_shows_hints_and_makes_the_same_change(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"tests/test_orders.py": HEAD + WIDE})
    out = tmp_path / "seen.json"
    env = {
        "EDITVEC_TEST_FOLDER": str(repo.path.resolve()),
        "EDITVEC_TEST_PYTHON": sys.executable,
        "EDITVEC_TEST_SECONDS": str(SECONDS),
        "EDITVEC_TEST_OUT": str(out),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    script = Path(__file__).parent / "edit.lua"
    command = [neovim(), "--headless", "-u", "NONE", "-n", "-c", f"luafile {script}"]
    done = subprocess.run(command, env=os.environ | env, capture_output=True, text=True, timeout=6 * SECONDS)
    assert out.exists(), done.stderr
    seen = json.loads(out.read_text(encoding="utf-8"))
    assert all(seen[each] for each in ("attached", "hinted", "offered", "cleared")), seen
    assert seen["hints"] == [11, 15, 19, 23]
    assert seen["title"] == "editvec: Make the same change in 4 more places (1 file)"
    assert seen["text"] == HEAD + WIDE.replace("assertEquals", "assertEqual")
    assert not seen["undone"]
