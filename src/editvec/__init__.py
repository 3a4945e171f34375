"""editvec: learn from edits. Mine them from any git history, turn them into vectors, apply them by example.

>>> import editvec
>>> edits = list(editvec.read("edits.jsonl.gz"))
>>> model = editvec.load("runs/mine")
>>> vectors = model.encode(edits)
>>> model.apply("count = count + 1;", like=("x = x + 1;", "x++;"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from editvec.core.about import __version__
from editvec.core.edit import Canonical, Edit, Source, Version
from editvec.core.errors import UserError

if TYPE_CHECKING:
    from editvec.data.edit_files import read, write
    from editvec.neural.model import EditModel, load

__all__ = [
    "Canonical",
    "Edit",
    "EditModel",
    "Source",
    "UserError",
    "Version",
    "__version__",
    "load",
    "read",
    "write",
]

_LATER = {"read": "data.edit_files", "write": "data.edit_files", "load": "neural.model", "EditModel": "neural.model"}


def __getattr__(name: str) -> object:
    # What needs a parser or NumPy is left until it is asked for, so that `import editvec` stays quick.
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f"editvec.{_LATER[name]}"), name)
    raise AttributeError(f"module 'editvec' has no attribute {name!r}")
