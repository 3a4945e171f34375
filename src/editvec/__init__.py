"""editvec: learn from edits. Mine them from any git history, read and write them, see what changed.

>>> import editvec
>>> edits = list(editvec.read("edits.parquet"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from editvec.edit import Canonical, Edit, Source, Version
from editvec.errors import UserError

if TYPE_CHECKING:
    from editvec.store import read, write

__version__ = "0.1.0"

__all__ = ["Canonical", "Edit", "Source", "UserError", "Version", "__version__", "read", "write"]


def __getattr__(name: str) -> object:
    # Reading and writing files is left until it is asked for, so that `import editvec` stays quick.
    if name in ("read", "write"):
        from editvec import store

        return getattr(store, name)
    raise AttributeError(f"module 'editvec' has no attribute {name!r}")
