"""The order in which patterns are shown, and which of them are habits and which are migrations.

There are no weights. Patterns are compared by one question after the other, as `docs/concepts.md` lists them; the first
question with different answers decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING

from editvec.core.edit import Edit
from editvec.patterns.wording import changes_words

if TYPE_CHECKING:
    from editvec.patterns.pattern import Pattern

BURST = timedelta(days=30)
"""The time within which the edits of a migration are made."""
_IN_BURST = 0.8
"""Share of the edits of a migration that are made within that time."""
_FEW = 2
"""Number of commits of a migration, if several authors made it."""
_ONGOING = timedelta(days=2 * 365)
_OVER_TIME = timedelta(days=180)
_OFTEN = 3
"""Number of commits from which on an edit is made again and again."""
_REVERSED = 0.25
"""Number of reverse edits for each edit up to which people are said to keep it."""
_THOROUGH = 0.5
"""Share of the matches of a rule that people edited if they mean all such places."""


class Course(Enum):
    """How the edits of a pattern are spread over time."""

    HABIT = "habit"
    MIGRATION = "migration"


def course_of(edits: Sequence[Edit]) -> Course:
    """Return whether edits are a habit or, if one author or few commits made most within a short time, a migration.

    Edits without dates are a habit, since nothing is known against it.
    """
    dated = sorted(
        ((each.source.author_date, each.source) for each in edits if each.source and each.source.author_date),
        key=lambda each: each[0],
    )
    low, most = 0, dated[:0]
    for high, (date, _) in enumerate(dated):
        while date - dated[low][0] > BURST:
            low += 1
        if high - low >= len(most):
            most = dated[low : high + 1]
    commits, authors = ({getattr(source, name) for _, source in most} for name in ("commit", "author"))
    is_burst = bool(dated) and len(most) >= _IN_BURST * len(dated)
    return Course.MIGRATION if is_burst and (len(commits) <= _FEW or len(authors) == 1) else Course.HABIT


def end_of(edits: Sequence[Edit]) -> datetime | None:
    """Return the date of the last edit of a history; None if no edit has a date."""
    return max((edit.source.author_date for edit in edits if edit.source and edit.source.author_date), default=None)


def rank(pattern: Pattern, end: datetime | None) -> tuple[int | str, ...]:
    """Return the sort key of a pattern; the smallest is shown first. `end` is the end of the history."""
    first, last = pattern.span or (None, None)
    ongoing = bool(end and last and end - last <= _ONGOING)
    over_time = bool(first and last and last - first >= _OVER_TIME)
    return (
        not changes_words(pattern.before, pattern.after),
        pattern.of_imports,
        pattern.share_edited < _THOROUGH,
        -(ongoing + over_time + (pattern.authors > 1) + (pattern.commits >= _OFTEN)),
        0 if pattern.course is Course.MIGRATION else -pattern.commits,
        -pattern.num_edits,
        pattern.name,
    )


def best(patterns: Sequence[Pattern], end: datetime | None, top: int) -> list[Pattern]:
    """Return the patterns to show: the `top` best ranked of each section, in the order of the sections."""
    ordered = sorted(patterns, key=lambda each: rank(each, end))
    return [each for section in Section for each in [other for other in ordered if section_of(other) is section][:top]]


class Section(Enum):
    """The parts of the list of patterns, in order; the values are their headings."""

    HABITS = "Habits"
    MIGRATIONS = "Migrations"
    UNSETTLED = "Without a rule, or often taken back"


def section_of(pattern: Pattern) -> Section | None:
    """Return the part of the list that a pattern belongs to; None if it is not shown.

    An edit that people took back as often as they made it is no pattern, and what was done at once and follows no rule
    is none either.
    """
    if pattern.num_reversed >= pattern.num_edits:
        return None
    if pattern.course is Course.MIGRATION and not pattern.rules:
        return None
    if not pattern.rules or pattern.num_reversed > _REVERSED * pattern.num_edits:
        return Section.UNSETTLED
    return Section.MIGRATIONS if pattern.course is Course.MIGRATION else Section.HABITS
