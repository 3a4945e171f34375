"""What a plain `pip install editvec` leaves out, and how to say so.

pyarrow, scikit-learn, SciPy, faiss, matplotlib, openTSNE and torch come with extras. Whatever needs one asks for it
here, inside a function, so that the rest of the package runs without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from editvec.core.errors import UserError

_NAMES = {"sklearn": "scikit-learn", "scipy": "SciPy"}


class MissingExtraError(UserError):
    """A package that an extra installs is not there; the message says how to install it."""


def require(module: str, *, extra: str, what: str) -> Any:
    """Return an imported module of an extra; MissingExtraError where it is not installed.

    `what` needs it, a plural that begins the sentence: "Parquet files".
    """
    try:
        return import_module(module)
    except ImportError as error:
        missing = (error.name or module).partition(".")[0]
        name = _NAMES.get(missing, missing)
        # A package that is there but cannot be loaded is another matter, and says why.
        reason = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise MissingExtraError(
            f"{what} need {name}{reason}. Install it with: pip install 'editvec[{extra}]'."
        ) from None
