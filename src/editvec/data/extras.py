"""Optional packages, which a plain `pip install editvec` does not install.

pyarrow, scikit-learn, SciPy, faiss, matplotlib, openTSNE and torch come with extras. Code that needs one of them
calls `require` inside a function, so that the rest of the package runs without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from editvec.core.errors import UserError

_NAMES = {"sklearn": "scikit-learn", "scipy": "SciPy"}


class MissingExtraError(UserError):
    """The error for an optional package that is not installed; the message says how to install it."""


def require(module: str, *, extra: str, what: str) -> Any:
    """Import and return a module that comes with an extra.

    `what` is the subject of the error message, in the plural: "Parquet files".

    Raises:
        MissingExtraError: The module cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        missing = (error.name or module).partition(".")[0]
        name = _NAMES.get(missing, missing)
        # If the package is installed but cannot be loaded, the message includes the reason.
        reason = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise MissingExtraError(
            f"{what} need {name}{reason}. Install it with: pip install 'editvec[{extra}]'."
        ) from None
