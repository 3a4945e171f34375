"""Errors that a user can cause: one class hierarchy, each with a one-line message that says what to do next.

Any other exception that escapes is a bug and should show its traceback.
"""


class UserError(Exception):
    """An error in what the user gave: the message says what is wrong and what to do next."""

    exit_code = 2


class StoppedError(UserError):
    """An interruption by the user: the message says what happened to the work done so far."""

    exit_code = 130


class BadInputError(UserError):
    """An input file that is damaged, or whose content does not match its file name."""

    exit_code = 3

    def __init__(self, path: object, line: int | None, reason: str, advice: str = "") -> None:
        """Build the message from the file, the line and the reason.

        `line` is 1-based; None stands for the whole file. `advice` says what to do next, as a separate sentence.
        """
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {reason}. {advice}" if advice else f"{where}: {reason}")
        self.line, self.reason = line, reason


class LimitError(UserError):
    """An input that takes too much time or memory; the message says which limit it exceeds."""


class GitError(UserError):
    """A failed git operation."""

    exit_code = 4
