"""Places of a pattern that no rule could be verified for: statements that look like the pattern's befores, rewritten by
the neural editor as the pattern's edits were. Those say, left out one at a time, how sure the editor must be; where it
cannot be sure enough, it says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise

from editvec.core.edit import Edit, Tokens
from editvec.core.errors import UserError
from editvec.core.match import Match, Suggestion
from editvec.data.sampling import spread
from editvec.diff import Tag, align
from editvec.diff.signature import ChangedTokens, changed_tokens_between, signature_of
from editvec.suggest.evidence import Evidence
from editvec.suggest.few_shot import Demonstrations, FewShotEditor, SnippetCandidate
from editvec.suggest.match import Finder, as_suggestion, keep_sound
from editvec.syntax.languages import Language, get
from editvec.syntax.snippet import snippet_edit
from editvec.syntax.token import decode
from editvec.syntax.treesitter import Parsed
from editvec.vcs.worktree import File

_JUDGES = 12
"""Edits that are left out to see how the others' vector does on them."""
_LEAST_RIGHT = 3
_PRECISION = 0.9
_SLACK = 0.05
_LIKE = 0.5
"""How much of its tokens a statement must share with one of the befores (Jaccard)."""
_ALIKE = 0.3
"""How much of its pairs of tokens, names aside, a statement must share with an example that a person gave."""
_MOST_TRIED = 60
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Calibration:
    """How an editor did on edits that its vector had not seen: as many right of so many, above a score."""

    threshold: float
    right: int
    said: int


@dataclass(frozen=True, slots=True)
class _Said:
    score: float
    right: bool


def calibrate(editor: FewShotEditor, edits: Sequence[Edit], shown: Demonstrations) -> Calibration | None:
    """The lowest score above which nine in ten answers were right: the left-out edits' own befores, which should become
    their afters, and their afters, which should stay. A handful of edits does not show how low a right answer may
    score, so as much again is allowed, down to the next wrong one. None where too few are right."""
    judges = spread(range(len(edits)), _JUDGES) if len(edits) > 1 else []
    asked, wanted, others = [], [], []
    allowed_changes = 2 * len(judges) * [frozenset(map(editor.changed_tokens, edits))]
    for judge in judges:
        edit = edits[judge]
        asked += [(edit.before.text, edit.language), (edit.after.text, edit.language)]
        wanted += [edit.after.tokens, None]
        others += 2 * [shown.without(judge)]
    said = [
        _Said(answer.score, answer.tokens == right)
        for answer, right in zip(_answers(editor, asked, others, allowed_changes), wanted, strict=True)
        if answer is not None
    ]
    said.sort(key=lambda each: -each.score)
    best: Calibration | None = None
    right = 0
    for number, each in enumerate(said, 1):
        right += each.right
        if right >= max(_LEAST_RIGHT, math.ceil(len(judges) / 2)) and right / number >= _PRECISION:
            wrong = max((other.score for other in said[number:] if not other.right), default=-math.inf)
            best = Calibration(max(2 * each.score - _SLACK, wrong), right, number)
    return best


def find_by_editor(
    editor: FewShotEditor, edits: Sequence[Edit], files: Sequence[File], past: Evidence
) -> tuple[Suggestion, ...]:
    """Return the places where the editor is as sure as it must be to do what the edits did.

    `past` says how often people made the reverse edit and how long ago they last made this one. The confidence of a
    place follows as for a rule: from how often the editor was right, and from how many places people have left alone.
    """
    names = _shared_names(edits)
    candidates = list(islice(_candidates(edits, files, names), _MOST_TRIED)) if names else []
    if not candidates:
        return ()
    # Read as the places will be: as pieces of code without their files.
    pieces = [snippet_edit(each.before.text, each.after.text, each.language) for each in edits]
    shown = editor.show(pieces)
    sure = calibrate(editor, pieces, shown)
    if sure is None:
        return ()
    rewritten = _rewritten(editor, pieces, shown, candidates, sure.threshold)
    found = [
        (file, match)
        for file, some in groupby(rewritten, key=lambda each: each[0])
        for match in keep_sound(file, [match for _, match in some])
    ]
    evidence = replace(past, matched=sure.said, edited=sure.right, left=len(found))
    why = (
        f"no rule; the editor was right on {sure.right} of {sure.said} when it had not seen the edit; "
        f"{evidence.left} such places are left"
    )
    return tuple(as_suggestion(file, match, evidence.confidence, why) for file, match in found)


def _answers(
    editor: FewShotEditor,
    asked: Sequence[tuple[str, str]],
    shown: Sequence[Demonstrations],
    allowed_changes: Sequence[frozenset[ChangedTokens]],
) -> list[SnippetCandidate | None]:
    """What the editor would make of pieces of code, given with their languages, when it is to do as the edits did that
    are shown beside each. None where it would do something else, or cannot say it, or it would not parse."""
    edits = [_readable(editor, *each) for each in asked]
    places = [place for place, edit in enumerate(edits) if edit is not None]
    found = editor.suggest(
        [edit for edit in edits if edit is not None],
        [shown[place] for place in places],
        k=1,
        allowed_changes=[allowed_changes[place] for place in places],
    )
    answers: list[SnippetCandidate | None] = [None] * len(asked)
    for place, suggestions in zip(places, found, strict=True):
        edit = edits[place]
        if suggestions and edit is not None and suggestions[0].tokens != edit.before.tokens:
            answers[place] = suggestions[0]
    return answers


def _readable(editor: FewShotEditor, text: str, language: str) -> Edit | None:
    """A piece of code that is to be edited; None where the model cannot read it."""
    try:
        edit = snippet_edit(text, "", language)
        editor.model.exampler(edit, with_after=False)
    except UserError:
        return None
    return edit


def _rewritten(
    editor: FewShotEditor,
    edits: Sequence[Edit],
    shown: Demonstrations,
    candidates: Iterable[tuple[File, int, int]],
    threshold: float,
) -> Iterator[tuple[File, Match]]:
    """The candidates for which the editor is sure enough and does what one of the edits does, with what it would write,
    those of a file together."""
    places = [(*place, decode(place[0].data[place[1] : place[2]])) for place in candidates]
    asked = [(_indent_at(file.data, start) + before, file.language) for file, start, _, before in places]
    answers = _answers(editor, asked, len(asked) * [shown], len(asked) * [frozenset(map(editor.changed_tokens, edits))])
    for (file, start, end, before), answer in zip(places, answers, strict=True):
        if answer is not None and answer.score >= threshold:
            yield file, Match("editor", start, end, before, answer.text)


def _indent_at(data: bytes, start: int) -> str:
    """The white space in front of a place, where its line has nothing else there."""
    lead = data[data.rfind(b"\n", 0, start) + 1 : start]
    return decode(lead) if not lead.strip(b" \t") else ""


def finder_like(editor: FewShotEditor, examples: Sequence[Edit], sure: float) -> Finder:
    """Finds, in texts of the examples' language, statements like their befores, and rewrites them as the editor would,
    where it does what one of the examples does, and is right with a chance of at least `sure` as far as it can tell."""
    shown = editor.show(examples)
    language = examples[0].language
    pieces = [snippet_edit(edit.before.text, edit.after.text, edit.language) for edit in examples]
    # What a single example has, another place may have otherwise, but not what is called where it changes.
    names = _shared_names(examples) if len(examples) > 1 else _called(pieces[0])
    models = [
        _Model.of(edit.before.tokens, changed_tokens_between(edit.model_before, edit.model_after), names)
        for edit in pieces
    ]

    def find(texts: Sequence[bytes]) -> list[list[Match]]:
        files = [File(str(number), language, text) for number, text in enumerate(texts)]
        found: list[list[Match]] = [[] for _ in texts]
        candidates = (place for file in files for place in _most_alike(models, file))
        for file, match in _rewritten(editor, examples, shown, candidates, math.log(sure)):
            found[int(file.path)].append(match)
        return found

    return find


@dataclass(frozen=True, slots=True)
class _Model:
    """A before that others are compared with: what its edit takes away must be there, and some names; the rest may have
    others."""

    needed: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, before: Tokens, changed_tokens: ChangedTokens, names: frozenset[str]) -> _Model:
        needed = names | {token for sign, token in changed_tokens if sign == "-"}
        return cls(needed, _pairs(before, needed))

    def likeness(self, tokens: Tokens) -> float:
        """Of a statement, from 0 to 1; 0 where the edit could not be made."""
        if not self.needed <= frozenset(tokens):
            return 0.0
        pairs = _pairs(tokens, self.needed)
        return len(pairs & self.pairs) / len(pairs | self.pairs)


def _pairs(tokens: Tokens, own: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Neighbouring tokens, all words but some alike."""
    read = ["word" if _is_word(token) and token not in own else token for token in tokens]
    return frozenset(pairwise(["", *read, ""]))


def _most_alike(models: Sequence[_Model], file: File) -> list[tuple[File, int, int]]:
    """The statements of a file that are most like one of the models, in the order of the file."""
    found = [(max(each.likeness(tokens) for each in models), start, end) for start, end, tokens in _statements(file)]
    best = sorted((each for each in found if each[0] >= _ALIKE), reverse=True)[:_MOST_TRIED]
    return [(file, start, end) for _, start, end in sorted(best, key=lambda each: each[1:])]


def _shared_names(edits: Sequence[Edit]) -> frozenset[str]:
    """The names that all the edits' befores have."""
    shared = frozenset.intersection(*(frozenset(edit.before.tokens) for edit in edits))
    return frozenset(token for token in shared if _is_word(token))


def _is_word(token: str) -> bool:
    return any(map(str.isalpha, token))


def _called(edit: Edit) -> frozenset[str]:
    """The names that stay, next to what changes, and are called or are members."""
    before = edit.before.tokens
    places = align(before, edit.after.tokens).positions
    near = {
        one.before
        for pair in pairwise(places)
        for one, other in (pair, pair[::-1])
        if one.tag is Tag.EQUAL and other.tag is not Tag.EQUAL and one.before is not None
    }
    return frozenset(
        before[at]
        for at in near
        if _is_word(before[at]) and (before[at + 1 : at + 2] == ("(",) or before[max(0, at - 1)] == ".")
    )


def _candidates(edits: Sequence[Edit], files: Sequence[File], names: frozenset[str]) -> Iterator[tuple[File, int, int]]:
    """Statements like one of the edits' befores, with some names and with those that the edits take away."""
    befores = [frozenset(edit.before.tokens) for edit in edits]
    afters = {edit.after.tokens for edit in edits}
    needed = names | signature_of(edits[0]).removed_names
    for file in files:
        if file.language != edits[0].language or any(name.encode() not in file.data for name in needed):
            continue
        for start, end, tokens in _statements(file):
            have = frozenset(tokens)
            if not needed <= have or tokens in afters:
                continue
            if max(len(have & before) / len(have | before) for before in befores) >= _LIKE:
                yield file, start, end


def _statements(file: File) -> Iterator[tuple[int, int, Tokens]]:
    """Where the statements of a file stand, long ones left out, and their tokens."""
    language = get(file.language)
    if not isinstance(language, Language):
        return
    parsed = Parsed(language, file.data)
    for unit in parsed.units(0, len(file.data)):
        if unit.end - unit.start <= _LONGEST:
            yield unit.start, unit.end, tuple(leaf.text for leaf in parsed.leaves(unit.start, unit.end))
