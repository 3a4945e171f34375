"""What the tests of changes share."""

from __future__ import annotations

import pytest

from tests.conftest import Repo
from tests.vcs.changed import NEW, OLD


@pytest.fixture
def edited(repo: Repo) -> Repo:
    """A repository with a committed file that was changed since."""
    repo.commit({"a.py": OLD, "b.py": OLD})
    repo.write({"a.py": NEW})
    return repo
