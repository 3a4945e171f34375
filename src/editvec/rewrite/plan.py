"""Rules over files: where they match and what the files become. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from editvec.core.match import Match
from editvec.core.splice import TextEdit, compose, disjoint, shrink, splice
from editvec.core.text import FileText
from editvec.rewrite.precedence import fitting
from editvec.rules.matching import match_rules
from editvec.rules.rule import LoadedRule
from editvec.syntax import languages
from editvec.syntax.cst import num_errors
from editvec.syntax.languages import Language

Finder = Callable[[Sequence[bytes]], list[list[Match]]]
"""Something that finds places in texts, which are UTF-8, and says what should stand there."""
_MAX_ROUNDS = 8
"""A place inside another one is due in the next round; nothing sensible nests deeper."""


@dataclass(frozen=True, eq=False)
class FilePlan:
    """What rules would do to a file."""

    path: Path | None
    """None for a text that is no file."""
    before: bytes
    edits: tuple[TextEdit, ...]
    problem: str = ""
    """Why it must not be written; empty when it may."""

    @cached_property
    def after(self) -> bytes:
        """The bytes that the file becomes."""
        return splice(self.before, self.edits)


def find_changes(
    rules: Sequence[LoadedRule],
    texts: Iterable[tuple[Path | None, bytes]],
    language_name: str | None = None,
    *,
    also: Finder | None = None,
) -> list[FilePlan]:
    """What the rules, all of one language, would change in the texts of that language, in order; texts without a place
    for them are left out. What is `also` found counts where no rule fires; then there need not be any."""
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
            fit = fitting(language, source.utf8, chosen) if isinstance(language, Language) else chosen
            try:
                made = [source.edit(match.start, match.end, match.replacement or "") for match in fit]
            except UnicodeEncodeError as error:
                problems[number] = f"{source.codec} has no {error.object[error.start : error.end]!r}"
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
    """Matches, and others where they do not overlap with them."""
    free = [each for each in others if not any(each.start < one.end and one.start < each.end for one in matches)]
    return matches + free


def breaks(language: Language, before: bytes, after: bytes) -> bool:
    """Whether a text parses worse than it did."""
    return num_errors(language, FileText(after).utf8) > num_errors(language, FileText(before).utf8)
