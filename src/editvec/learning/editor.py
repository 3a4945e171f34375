"""Places of a pattern that no rule could be proved for: statements that look like the pattern's befores, rewritten by
the neural editor with the pattern's vector. The pattern's own edits say how sure the editor must be, by being left out
one at a time; where it cannot be sure enough, it says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from editvec.diff.shapes import shape_of
from editvec.edit import Edit, Tokens
from editvec.errors import UserError
from editvec.learning.present import File
from editvec.patterns.pattern import Pattern, Place, Record
from editvec.selection import spread
from editvec.syntax.languages import Language, get
from editvec.syntax.snippet import snippet_edit
from editvec.syntax.token import decode
from editvec.syntax.treesitter import Parsed

if TYPE_CHECKING:
    from editvec.model import EditModel

_JUDGES = 12
"""Edits that are left out to see how the others' vector does on them."""
_LEAST_RIGHT = 3
_PRECISION = 0.9
_SLACK = 0.05
_LIKE = 0.5
"""How much of its tokens a statement must share with one of the befores (Jaccard)."""
_MOST_TRIED = 60
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Calibration:
    """How an editor did on edits that its vector had not seen: as many right of so many, above a score."""

    threshold: float
    right: int
    said: int
    tried: int


@dataclass(frozen=True, slots=True)
class _Said:
    score: float
    right: bool


def calibrate(model: EditModel, edits: Sequence[Edit], vectors: NDArray[np.float32]) -> Calibration | None:
    """The lowest score above which nine in ten answers were right: the left-out edits' own befores, which should become
    their afters, and their afters, which should stay. A handful of edits does not show how low a right answer may
    score, so as much again is allowed, down to the next wrong one. None where too few are right."""
    judges = spread(range(len(edits)), _JUDGES)
    total = vectors.sum(0)
    said: list[_Said] = []
    for judge in judges:
        edit, others = edits[judge], (total - vectors[judge]) / max(len(edits) - 1, 1)
        wanted = snippet_edit(edit.before.text, edit.after.text, edit.language).after.tokens
        for text, due in ((edit.before.text, True), (edit.after.text, False)):
            answer = _answer(model, text, edit.language, others)
            if answer is not None:
                said.append(_Said(answer[1], due and answer[0].tokens == wanted))
    said.sort(key=lambda each: -each.score)
    best: Calibration | None = None
    right = 0
    for number, each in enumerate(said, 1):
        right += each.right
        if right >= max(_LEAST_RIGHT, math.ceil(len(judges) / 2)) and right / number >= _PRECISION:
            wrong = max((other.score for other in said[number:] if not other.right), default=-math.inf)
            best = Calibration(max(2 * each.score - _SLACK, wrong), right, number, len(judges))
    return best


def find_by_editor(
    model: EditModel, pattern: Pattern, vectors: NDArray[np.float32], files: Sequence[File], past: Record
) -> tuple[Place, ...]:
    """The places where the editor is as sure as it must be. `vectors` are those of the pattern's edits; `past` says how
    often people made the reverse edit and how long ago they last made this one. How sure a place is follows as for a
    rule: by how often the editor was right, and by how many places people have left as they are."""
    sure = calibrate(model, pattern.edits, vectors)
    if sure is None:
        return ()
    vector = vectors.mean(0)
    found = []
    for file, start, end in _candidates(pattern, files):
        before = decode(file.data[start:end])
        answer = _answer(model, before, file.language, vector)
        if answer is not None and answer[1] >= sure.threshold:
            found.append((file, start, end, before, answer[0].text))
    record = replace(past, matched=sure.said, edited=sure.right, left=len(found))
    why = (
        f"no rule; the editor was right on {sure.right} of {sure.said} when it had not seen the edit; "
        f"{record.left} such places are left"
    )
    return tuple(
        Place(
            path=file.path,
            line=file.data.count(b"\n", 0, start) + 1,
            column=len(decode(file.data[file.data.rfind(b"\n", 0, start) + 1 : start])) + 1,
            start=start,
            end=end,
            before=before,
            after=after,
            confidence=record.confidence,
            why=why,
        )
        for file, start, end, before, after in found
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    tokens: Tokens


def _answer(model: EditModel, text: str, language: str, vector: NDArray[np.float32]) -> tuple[_Answer, float] | None:
    """What the editor would make of a piece of code, with its score; None where it would leave it as it is, or cannot
    say it, or what it says does not parse."""
    try:
        before = snippet_edit(text, "", language)
        found = model.apply(before, vector, k=1)
    except UserError:
        return None
    if not found or found[0].tokens == before.before.tokens:
        return None
    if _is_broken(found[0].text, language) and not _is_broken(text, language):
        return None
    return _Answer(found[0].text, found[0].tokens), found[0].score


def _is_broken(text: str, language: str) -> bool:
    known = get(language)
    if not isinstance(known, Language):
        return False
    return all(
        Parsed(known, f"{opening}{text}{closing}".encode(errors="replace")).tree.root_node.has_error
        for opening, closing in known.wrappers or (("", ""),)
    )


def _candidates(pattern: Pattern, files: Sequence[File]) -> Iterator[tuple[File, int, int]]:
    """Statements with the names that all the pattern's befores have, and like one of them."""
    language = get(pattern.language)
    if not isinstance(language, Language):
        return
    befores = [frozenset(edit.before.tokens) for edit in pattern.edits]
    afters = {edit.after.tokens for edit in pattern.edits}
    removed = shape_of(pattern.edits[0]).removed_names
    names = {token for token in frozenset.intersection(*befores) if any(map(str.isalpha, token))}
    if not names:
        return
    tried = 0
    for file in files:
        if file.language != pattern.language or any(name.encode() not in file.data for name in names):
            continue
        parsed = Parsed(language, file.data)
        for unit in parsed.units(0, len(file.data)):
            if unit.end - unit.start > _LONGEST:
                continue
            tokens = tuple(leaf.text for leaf in parsed.leaves(unit.start, unit.end))
            have = frozenset(tokens)
            if not names <= have or tokens in afters or not removed <= have:
                continue
            if max(len(have & before) / len(have | before) for before in befores) >= _LIKE:
                yield file, unit.start, unit.end
                tried += 1
                if tried >= _MOST_TRIED:
                    return
