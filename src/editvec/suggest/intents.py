"""What a person did: the changes between two versions of files, cut into edits and grouped by intent.

This module sees only files that were shown. It knows tokens and lines, no languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from editvec.core.edit import Demonstration
from editvec.syntax.lexer import LexedText, Tokens, is_number, is_word, subwords

_MAX_TOKENS = 160
"""Maximum number of tokens on a side of an edit; a larger change is not looked for elsewhere."""
_MAX_LINES = 4_000
_CONTEXT = 4
"""Number of lines around an edit whose tokens are compared."""


class Run(NamedTuple):
    """Consecutive tokens [low, high) of the version before that became [start, end) of the version after."""

    low: int
    high: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class DemoEdit:
    """One edit that was shown, with the tokens around it.

    `old` holds the tokens of the changed lines before and of some lines around them; `new` likewise after.
    """

    path: str
    before: LexedText
    after: LexedText
    first_line: int
    """The 0-based first changed line in the version before."""
    last_line: int
    """The line behind the last changed line in the version before."""
    first_line_now: int
    last_line_now: int
    old: Tokens
    new: Tokens
    runs: tuple[Run, ...]

    @property
    def text_before(self) -> str:
        """Return the changed lines before."""
        return _text(self.before, self.first_line, self.last_line)

    @property
    def text_after(self) -> str:
        """Return the changed lines after."""
        return _text(self.after, self.first_line_now, self.last_line_now)

    @property
    def removed(self) -> list[bytes]:
        """Return the removed tokens."""
        return [token for run in self.runs for token in self.old.texts[run.low : run.high]]

    @property
    def added(self) -> list[bytes]:
        """Return the added tokens."""
        return [token for run in self.runs for token in self.new.texts[run.start : run.end]]

    @cached_property
    def signature(self) -> tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], ...]:
        """Return the changed runs, with the names and literals that both sides have numbered by first use."""
        both = {token for token in self.removed if is_word(token) or is_number(token)} & set(self.added)
        numbers: dict[bytes, bytes] = {}

        def numbered(tokens: Sequence[bytes]) -> tuple[bytes, ...]:
            return tuple(
                numbers.setdefault(token, b"$%d" % len(numbers)) if token in both else token for token in tokens
            )

        return tuple(
            (numbered(self.old.texts[run.low : run.high]), numbered(self.new.texts[run.start : run.end]))
            for run in self.runs
        )

    @cached_property
    def loose_signature(self) -> tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], ...]:
        """Return the signature with only the parts of names that differ: `getFoo → fetchFoo` is `get → fetch`."""
        found: list[tuple[tuple[bytes, ...], tuple[bytes, ...]]] = []
        for removed, added in self.signature:
            if len(removed) == len(added) == 1 and is_word(removed[0]) and is_word(added[0]):
                _, old, new, _ = name_change(removed[0], added[0])
                found.append(((old,), (new,)))
            else:
                found.append((removed, added))
        return tuple(found)

    @property
    def says_something(self) -> bool:
        """Return whether the edit is more than a change of white space."""
        return bool(self.runs)


@dataclass(eq=False)
class Intent:
    """Edits that mean the same."""

    edits: list[DemoEdit]


def _text(text: LexedText, first: int, last: int) -> str:
    starts = text.line_starts
    return text.data[starts[min(first, len(starts) - 1)] : starts[min(last, len(starts) - 1)]].decode(
        "utf-8", "replace"
    )


def name_change(old: bytes, new: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Return the common beginning of two names, what differs on each side, and their common end, in whole words."""
    ones, others = subwords(old), subwords(new)
    if b"".join(ones) != old or b"".join(others) != new:
        return b"", old, new, b""
    limit = min(len(ones), len(others))
    left = next((at for at in range(limit) if ones[at] != others[at]), limit)
    limit -= left
    right = next((at for at in range(limit) if ones[-1 - at] != others[-1 - at]), limit)
    return (
        b"".join(ones[:left]),
        b"".join(ones[left : len(ones) - right]),
        b"".join(others[left : len(others) - right]),
        b"".join(ones[len(ones) - right :]),
    )


def shown_edits(demonstration: Demonstration) -> list[DemoEdit]:
    """Return the edits between two versions of a file, in order.

    Lines that were changed one for one are edits of their own. Changes of white space only are left out.
    """
    before, after = LexedText(demonstration.before), LexedText(demonstration.after)
    found = []
    for low, high, start, end in changed_lines(before, after):
        if high - low == end - start:
            spans = [(low + at, low + at + 1, start + at, start + at + 1) for at in range(high - low)]
        else:
            spans = [(low, high, start, end)]
        for span in spans:
            edit = _shown_edit(demonstration.path, before, after, *span)
            if edit is not None and edit.says_something:
                found.append(edit)
    return found


def changed_lines(before: LexedText, after: LexedText) -> list[tuple[int, int, int, int]]:
    """Return the ranges of lines that differ, as (low, high) before and (start, end) after."""
    ones = [before.text_of(number) for number in range(before.num_lines)]
    others = [after.text_of(number) for number in range(after.num_lines)]
    limit = min(len(ones), len(others))
    left = next((at for at in range(limit) if ones[at] != others[at]), limit)
    limit -= left
    right = next((at for at in range(limit) if ones[-1 - at] != others[-1 - at]), limit)
    ones, others = ones[left : len(ones) - right], others[left : len(others) - right]
    if len(ones) > _MAX_LINES or len(others) > _MAX_LINES:
        return []
    return [
        (low + left, high + left, start + left, end + left)
        for tag, low, high, start, end in SequenceMatcher(None, ones, others, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def _shown_edit(
    path: str, before: LexedText, after: LexedText, low: int, high: int, start: int, end: int
) -> DemoEdit | None:
    removed, added = before.lines(low, high), after.lines(start, end)
    if len(removed.texts) > _MAX_TOKENS or len(added.texts) > _MAX_TOKENS:
        return None
    old, new = before.lines(low - _CONTEXT, high + _CONTEXT), after.lines(start - _CONTEXT, end + _CONTEXT)
    at, at_new = len(before.lines(low - _CONTEXT, low).texts), len(after.lines(start - _CONTEXT, start).texts)
    changes = SequenceMatcher(None, removed.texts, added.texts, autojunk=False).get_opcodes()
    runs = tuple(
        Run(at + one, at + two, at_new + three, at_new + four)
        for tag, one, two, three, four in changes
        if tag != "equal"
    )
    return DemoEdit(path, before, after, low, high, start, end, old, new, runs)


def intents_of(edits: Iterable[DemoEdit]) -> list[Intent]:
    """Return the edits grouped by what they mean, in the order in which they were shown.

    Edits with the same signature are one intent; so are edits that change the same part of different names.
    """
    groups: dict[object, Intent] = {}
    for edit in edits:
        key = edit.loose_signature if any(any(side) for run in edit.loose_signature for side in run) else edit.signature
        groups.setdefault(key, Intent([])).edits.append(edit)
    return list(groups.values())
