"""The errors that a user can cause: one family, one line each, with what to do next.

Anything else that escapes is a bug and deserves its traceback.
"""


class UserError(Exception):
    """Something the user gave cannot be used; the message says what and what to do next."""

    exit_code = 2


class StoppedError(UserError):
    """The user stopped the work; the message says what became of it."""

    exit_code = 130


class BadInputError(UserError):
    """An input file is damaged or of another kind than its name says."""

    exit_code = 3

    def __init__(self, path: object, line: int | None, reason: str, advice: str = "") -> None:
        """`advice` is what to do next, a sentence of its own."""
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {reason}. {advice}" if advice else f"{where}: {reason}")
        self.line, self.reason = line, reason


class GitError(UserError):
    """git could not do what was asked of it."""

    exit_code = 4
