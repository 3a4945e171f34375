"""Match rules and other finders in files, and plan what each file would become.

This module writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from editvec.core.match import Match, Suggestion
from editvec.core.splice import TextEdit, apply_matches, compose, disjoint, shrink, splice
from editvec.core.text import FileText, line_and_column
from editvec.rewrite.plan import FilePlan, breaks
from editvec.rewrite.precedence import bracketed
from editvec.rules.matching import match_rules
from editvec.rules.rule import Rule
from editvec.syntax import languages
from editvec.syntax.cst import num_errors
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
    keep: Callable[[Path | None, bytes, Match], bool] | None = None,
) -> list[FilePlan]:
    """Return plans of what rules of one language would change in texts of that language, in order.

    Texts that do not change are left out. Matches of the finder `also` are used where no rule matches; if it is given,
    `rules` may be empty. `keep` says of a match in a UTF-8 text whether it is to be edited.
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
        for (number, source), everything in zip(waiting.items(), found, strict=True):
            path = before[number][0]
            matches = everything if keep is None else [each for each in everything if keep(path, source.utf8, each)]
            chosen = [match for match in disjoint(matches) if match.replacement is not None]
            fit = bracketed(language, source.utf8, chosen) if isinstance(language, Language) else chosen
            try:
                made = [source.edit(match.start, match.end, match.replacement or "") for match in fit]
            except UnicodeEncodeError as error:
                problems[number] = (
                    f"its encoding {source.codec} cannot represent {error.object[error.start : error.end]!r}"
                )
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
            broken = not problem and isinstance(language, Language) and breaks(language, data, change.after)
            changes.append(FilePlan(path, data, tuple(made), "it would parse worse than before") if broken else change)
    return changes


def _beside(matches: list[Match], others: list[Match]) -> list[Match]:
    """Return matches, followed by the other ones that do not overlap with them."""
    free = [each for each in others if not any(each.start < one.end and one.start < each.end for one in matches)]
    return matches + free


def keep_sound(file: File, matches: list[Match]) -> list[Match]:
    """Return the matches that can be written.

    A match is kept if it keeps its meaning where it stands (see `bracketed`) and the file parses as well as before.
    Imports are dropped, because an import is only due together with its uses.
    """
    language = get(file.language)
    if not matches or not isinstance(language, Language):
        return matches
    parsed = Parsed(language, file.data)
    kinds = [{unit.kind for unit in parsed.units(match.start, match.end)} for match in matches]
    matches = [match for match, touched in zip(matches, kinds, strict=True) if not touched & language.imports]
    matches = bracketed(language, file.data, matches)
    allowed = num_errors(language, file.data)
    if num_errors(language, apply_matches(file.data, matches)) <= allowed:
        return matches
    return [match for match in matches if num_errors(language, apply_matches(file.data, [match])) <= allowed]


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
