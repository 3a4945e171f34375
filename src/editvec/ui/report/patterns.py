"""The report of `editvec learn`: one HTML file that needs no other file.

The template engine escapes everything that comes from a repository. The only script is our own, and it reads its data
as text in the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.diff import Tag, align
from editvec.patterns.document import LearnedFrom
from editvec.patterns.pattern import Pattern
from editvec.patterns.pipeline import Learned
from editvec.patterns.ranking import section_of

if TYPE_CHECKING:
    from jinja2 import Template

_EXAMPLES = 5
_SUGGESTIONS = 200
_BARS = 24
_POINTS = 3000
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Point:
    """An edit on the map."""

    x: float
    y: float
    pattern: int
    """The number of its pattern in the report, 0 for none."""
    text: str


def render_learned(learned: Learned, about: Mapping[str, Any]) -> str:
    """Return the report on learned patterns as one HTML page."""
    points = points_of(learned.edits, learned.vectors, learned.patterns) if learned.vectors is not None else ()
    return render(learned.patterns, about, points, learned.edits)


def render(
    patterns: Sequence[Pattern],
    about: Mapping[str, Any],
    points: Sequence[Point] = (),
    edits: Sequence[Edit] = (),
    *,
    live: bool = False,
) -> str:
    """Return the report as one HTML page.

    A live page gets the verdict on each place from its server, and sends new verdicts to it.
    """
    authors = Counter(edit.source.author for edit in edits if edit.source and edit.source.author)
    dates = [edit.source.author_date for edit in edits if edit.source and edit.source.author_date]
    return _template().render(
        about=about,
        live=live,
        patterns=[
            _shown(pattern, number, dates) | {"heading": _heading(patterns, number)}
            for number, pattern in enumerate(patterns, 1)
        ],
        restricted=_restricted(about.get("learned_from")),
        due=sum(len(pattern.suggestions) for pattern in patterns),
        verified=sum(bool(pattern.rules) for pattern in patterns),
        languages=sorted({pattern.language for pattern in patterns}),
        authors=authors.most_common(12),
        bars=_bars(dates, min(dates), max(dates)) if dates else [],
        first=min(dates) if dates else None,
        last=max(dates) if dates else None,
        points=[[round(point.x, 4), round(point.y, 4), point.pattern, point.text] for point in points],
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("editvec.ui.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("patterns.html")


def _shown(pattern: Pattern, number: int, history: Sequence[datetime]) -> dict[str, Any]:
    dates = [edit.source.author_date for edit in pattern.edits if edit.source and edit.source.author_date]
    first, last = (min(history), max(history)) if history else (None, None)
    return {
        "number": number,
        "pattern": pattern,
        "title": [(text, at % 2 == 1) for at, text in enumerate(pattern.title.split("`")) if text],
        "is_due": any(rule.is_due() for rule in pattern.rules),
        "num_left": sum(rule.evidence.left for rule in pattern.rules if rule.evidence),
        "first": first,
        "last": last,
        "bars": _bars(dates, first, last) if dates and first and last else [],
        "examples": [_example(edit) for edit in pattern.edits[:_EXAMPLES]],
        "suggestions": [
            {"suggestion": suggestion, "diff": _diff(suggestion.before, suggestion.after)}
            for suggestion in pattern.suggestions[:_SUGGESTIONS]
        ],
        "more_suggestions": max(0, len(pattern.suggestions) - _SUGGESTIONS),
    }


def _heading(patterns: Sequence[Pattern], number: int) -> str:
    """Return the heading above a pattern; empty if it follows one of the same section."""
    section = section_of(patterns[number - 1])
    if section is None or (number > 1 and section_of(patterns[number - 2]) is section):
        return ""
    return section.value


def _restricted(learned_from: LearnedFrom | None) -> str:
    """Return in words what a run was restricted to; empty if it was not."""
    if learned_from is None:
        return ""
    parts = [("commits since", learned_from.since), ("commits until", learned_from.until)]
    parts += [("the range", learned_from.range)]
    parts += [("edits of", ", ".join(learned_from.authors)), ("files below", ", ".join(learned_from.paths))]
    return ", ".join(f"{name} {value}" for name, value in parts if value)


def _example(edit: Edit) -> dict[str, Any]:
    before, after = word_pieces(edit.before.tokens, edit.after.tokens, edit.before.text, edit.after.text)
    return {"edit": edit, "before": before, "after": after}


def _diff(before: str, after: str) -> tuple[Pieces, Pieces]:
    return word_pieces(_WORD.findall(before), _WORD.findall(after), before, after)


Pieces = list[tuple[str, bool]]


def word_pieces(
    before: Sequence[str], after: Sequence[str], before_text: str | None = None, after_text: str | None = None
) -> tuple[Pieces, Pieces]:
    """Return both versions as pieces of text, each with whether it was changed.

    The pieces are laid out as in the texts. Without a text, tokens are separated by spaces.
    """
    positions = align(before, after).positions
    gone = {position.before for position in positions if position.tag is not Tag.EQUAL}
    come = {position.after for position in positions if position.tag is not Tag.EQUAL}
    return _pieces(before, gone, before_text), _pieces(after, come, after_text)


def _pieces(tokens: Sequence[str], changed: set[int | None], text: str | None) -> Pieces:
    pieces: Pieces = []
    at = 0
    for index, token in enumerate(tokens):
        start = text.find(token, at) if text is not None else -1
        if text is not None and start >= 0:
            gap, at = text[at:start], start + len(token)
        else:
            gap = " " if index else ""
        is_changed = index in changed
        pieces += [(gap, is_changed and (index - 1) in changed), (token, is_changed)]
    return [("".join(text for text, _ in run), flag) for flag, run in groupby(pieces, lambda piece: piece[1])]


def _bars(dates: Sequence[datetime], first: datetime, last: datetime) -> list[float]:
    """Return the number of edits in each interval between two dates, as a share of the largest number."""
    total = max((last - first).total_seconds(), 1.0)
    counts = Counter(min(_BARS - 1, int(_BARS * (date - first).total_seconds() / total)) for date in dates)
    most = max(counts.values())
    return [counts[bar] / most for bar in range(_BARS)]


def points_of(edits: Sequence[Edit], vectors: NDArray[np.float32], patterns: Sequence[Pattern]) -> list[Point]:
    """Return the edits on a map, placed by the two main directions of their vectors, [edits, dim].

    The map shows the edits of patterns and a limited number of the others.
    """
    numbers = {edit.id: number for number, pattern in enumerate(patterns, 1) for edit in pattern.edits}
    known = [row for row, edit in enumerate(edits) if edit.id in numbers]
    others = [row for row, edit in enumerate(edits) if edit.id not in numbers]
    step = max(1, len(others) // _POINTS)
    rows = sorted(known[:_POINTS] + others[::step])
    if len(rows) < 3:
        return []
    chosen = vectors[rows] - vectors[rows].mean(0)
    main = chosen @ np.linalg.svd(chosen, full_matrices=False)[2][:2].T
    ranks = 0.03 + 0.94 * main.argsort(0).argsort(0) / len(rows)
    return [
        Point(float(x), float(y), numbers.get(edits[row].id, 0), _line(edits[row]))
        for row, (x, y) in zip(rows, ranks, strict=True)
    ]


def _line(edit: Edit) -> str:
    return f"{' '.join(edit.before.text.split())[:140]}  →  {' '.join(edit.after.text.split())[:140]}"
