"""Places where the user does not want an edit, and how long the server waits after somebody said so."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from editvec.suggest.intents import changed_lines
from editvec.syntax.lexer import LexedText
from editvec.ui.lsp.buffers import normalised

_MAX_REFUSALS = 1_000
_SLOWER, _FASTER = 1.5, 0.8
_LONGEST = 10.0
_QUIET = 5.0
"""Seconds without suggestions after one was refused."""
_ANSWERS = 10
_HALF_LIFE = 300.0


@dataclass(frozen=True, slots=True)
class RefusedPlace:
    """A line where an edit does not belong; lines are counted from 1."""

    rule: str
    path: str
    line: int
    text: str
    """The line without indentation."""


class RefusedPlaces:
    """The refused places of a work tree. They move with edits of their files."""

    def __init__(self) -> None:
        self._places: deque[RefusedPlace] = deque(maxlen=_MAX_REFUSALS)
        self._muted: set[str] = set()

    def add(self, rule: str, path: str, line: int, data: bytes) -> None:
        """Remember that a rule's edit does not belong to a line of a file."""
        self._places.append(RefusedPlace(rule, path, line, _text(LexedText(data), line)))

    def mute(self, rule: str) -> None:
        """Remember that a rule is not wanted anywhere."""
        self._muted.add(rule)

    def is_muted(self, rule: str) -> bool:
        """Return whether a rule is not wanted anywhere."""
        return rule in self._muted

    def of(self, rule: str) -> list[RefusedPlace]:
        """Return the refused places of a rule."""
        return [each for each in self._places if each.rule == rule]

    def lines(self, rule: str, path: str, data: bytes) -> set[int]:
        """Return the lines of a file where a rule's edit was refused.

        A place whose line has changed without the server's knowledge is the nearest line with the same text.
        """
        text = LexedText(data)
        found = set()
        for each in self.of(rule):
            if each.path == path:
                found.add(_nearest(text, each))
        return found

    def move(self, path: str, before: bytes, after: bytes) -> None:
        """Move the refused places of a file whose text has changed."""
        if before == after or not any(each.path == path for each in self._places):
            return
        old, new = LexedText(before), LexedText(after)
        ranges = changed_lines(old, new)
        for at, each in enumerate(self._places):
            if each.path == path:
                line = _moved(each.line - 1, ranges) + 1
                self._places[at] = replace(each, line=line, text=_text(new, line))


def _moved(line: int, ranges: list[tuple[int, int, int, int]]) -> int:
    shift = 0
    for low, high, start, end in ranges:
        if line < low:
            break
        if line < high:
            return min(start + line - low, max(start, end - 1))
        shift = end - high
    return line + shift


def _nearest(text: LexedText, place: RefusedPlace) -> int:
    if _text(text, place.line) == place.text:
        return place.line
    same = [line for line in range(1, text.num_lines + 1) if _text(text, line) == place.text]
    return min(same, key=lambda line: abs(line - place.line), default=place.line)


def _text(text: LexedText, line: int) -> str:
    return normalised(text.text_of(line - 1).decode("utf-8", "replace"))


class SuggestionPace:
    """How long the user must pause before places are looked for: longer after refusals, shorter after acceptances.

    Answers count less the older they are.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._answers: deque[tuple[float, float]] = deque(maxlen=_ANSWERS)
        self._quiet_until = -math.inf

    def refused(self) -> None:
        """Take note of a refusal."""
        self._answers.append((self._clock(), _SLOWER))
        self._quiet_until = self._clock() + _QUIET

    def accepted(self) -> None:
        """Take note of an acceptance."""
        self._answers.append((self._clock(), _FASTER))

    def delay(self, base: float) -> float:
        """Return the seconds to wait after an edit; without any answers it is `base`."""
        now = self._clock()
        factor: float = math.prod(change ** (0.5 ** ((now - time) / _HALF_LIFE)) for time, change in self._answers)
        return max(min(base * factor, _LONGEST), self._quiet_until - now)
