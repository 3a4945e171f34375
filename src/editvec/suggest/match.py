"""Match rules and other finders in files, and plan what each file would become.

This module writes nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path

from editvec.core.errors import LimitError
from editvec.core.match import Match, Suggestion
from editvec.core.splice import TextEdit, compose, disjoint, shrink, splice
from editvec.core.text import FileText, line_and_column
from editvec.rewrite.plan import FilePlan, why_not
from editvec.rewrite.precedence import bracketed, sound_matches
from editvec.rules.matching import match_rules
from editvec.rules.rule import Rule
from editvec.syntax import languages
from editvec.syntax.languages import Language, get
from editvec.syntax.treesitter import Parsed
from editvec.vcs.worktree import File

Finder = Callable[[Sequence[bytes]], list[list[Match]]]
"""A function that finds matches in UTF-8 texts, each with the text that should replace it."""


_MAX_ROUNDS = 8
"""Maximum number of rounds.

A match inside another one is edited in the next round; real code does not nest deeper than this.
"""


def plan_files(
    rules: Sequence[Rule],
    texts: Iterable[tuple[Path | None, bytes]],
    language_name: str | None = None,
    *,
    also: Finder | None = None,
) -> list[FilePlan]:
    """Return plans of what rules of one language would change in texts of that language, in order.

    Texts that do not change are left out. Matches of the finder `also` are used where no rule matches; if it is given,
    `rules` may be empty.
    """
    language = languages.get(language_name or rules[0].language)
    before = [(path, data, FileText(data)) for path, data in texts]
    edits: list[list[TextEdit]] = [[] for _ in before]
    problems = [""] * len(before)
    waiting = {number: source for number, (_, _, source) in enumerate(before)}
    for _ in range(_MAX_ROUNDS):
        again: dict[int, FileText] = {}
        utf8 = [source.utf8 for source in waiting.values()]
        found = match_rules(rules, utf8, language.name)
        if also is not None:
            found = [_beside(*each) for each in zip(found, also(utf8), strict=True)]
            also = None
        for (number, source), matches in zip(waiting.items(), found, strict=True):
            chosen = [match for match in disjoint(matches) if match.replacement is not None]
            try:
                fit = bracketed(language, source.utf8, chosen) if isinstance(language, Language) else chosen
                made = [source.edit(match.start, match.end, match.replacement or "") for match in fit]
            except UnicodeEncodeError as error:
                problems[number] = (
                    f"its encoding {source.codec} cannot represent {error.object[error.start : error.end]!r}"
                )
                continue
            except LimitError as error:
                problems[number] = str(error).rstrip(".")
                continue
            small = [smaller for edit in made if (smaller := shrink(source.data, edit))]
            if small:
                edits[number] = compose(before[number][1], edits[number], small)
                if len(chosen) < len(matches):
                    again[number] = FileText(splice(source.data, small))
        waiting = again
        if not waiting:
            break
    changes = []
    for (path, data, _), made, problem in zip(before, edits, problems, strict=True):
        if made or problem:
            change = FilePlan(path, data, tuple(made), problem)
            why = "" if problem or not isinstance(language, Language) else why_not(language, data, change.after)
            changes.append(FilePlan(path, data, tuple(made), why) if why else change)
    return changes


def _beside(matches: list[Match], others: list[Match]) -> list[Match]:
    """Return matches, followed by the other ones that do not overlap with them."""
    # The ends of overlapping matches are not sorted, but the furthest end so far is.
    ordered = sorted(matches, key=lambda match: match.start)
    starts = [match.start for match in ordered]
    ends = [0, *accumulate((match.end for match in ordered), max)]
    return matches + [each for each in others if ends[bisect_left(starts, each.end)] <= each.start]


def keep_sound(file: File, matches: list[Match]) -> list[Match]:
    """Return the matches that can be written.

    A match is kept if it keeps its meaning where it stands (see `bracketed`) and the file parses as well as before.
    Imports are dropped, because an import is only due together with its uses. No match is kept in a file that takes
    too long to parse.
    """
    language = get(file.language)
    if not matches or not isinstance(language, Language):
        return matches
    try:
        return _sound(language, file, matches)
    except LimitError:
        return []


def _sound(language: Language, file: File, matches: list[Match]) -> list[Match]:
    parsed = Parsed(language, file.data)
    kinds = [{unit.kind for unit in parsed.units(match.start, match.end)} for match in matches]
    matches = [match for match, touched in zip(matches, kinds, strict=True) if not touched & language.imports]
    matches = bracketed(language, file.data, matches)
    return sound_matches(language, file.data, matches)


def as_suggestion(file: File, match: Match, confidence: float, why: str) -> Suggestion:
    """Return a match as a suggestion, with its confidence and the reason."""
    line, column = line_and_column(file.data, match.start)
    return Suggestion(
        path=file.path,
        line=line,
        column=column,
        start=match.start,
        end=match.end,
        before=match.text,
        after=match.replacement or "",
        confidence=confidence,
        why=why,
    )
