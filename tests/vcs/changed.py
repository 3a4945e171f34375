"""Reads the changes of a test's repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from editvec.vcs import git
from editvec.vcs.changes import ChangedFile, Changes, read_changes
from tests.conftest import Repo

OLD = "".join(f"line {number}\n" for number in range(20))
NEW = OLD.replace("line 7\n", "line seven\n")
CHANGED = ChangedFile("a.py", OLD.encode(), NEW.encode())


def changes_of(place: Repo | Path, **options: Any) -> Changes:
    path = place.path if isinstance(place, Repo) else place
    return read_changes(git.open_repository(path), **options)
