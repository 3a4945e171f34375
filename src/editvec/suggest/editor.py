"""Find matches with the neural editor, for patterns that have no verified rule.

Statements that look like the before of one of the pattern's edits are rewritten by the neural editor as those edits
were. To find out how high a score must be, the editor is tried on each edit of the pattern with that edit left out of
the demonstrations. If no score is reliable enough, there are no suggestions.
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

MAX_TRIALS = 12
"""Maximum number of edits that are left out in turn, to test the vectors of the others on them."""
_LEAST_RIGHT = 3
_PRECISION = 0.9
_SLACK = 0.05
_LIKE = 0.5
"""Minimum share of tokens that a statement must have in common with one of the befores (Jaccard)."""
_ALIKE = 0.3
"""Minimum share of token pairs that a statement must have in common with an example (Jaccard).

It is used for examples that a person gave; names are not compared.
"""
_MOST_TRIED = 60
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Calibration:
    """The score that an editor must reach, from tests on edits that its vectors had not seen.

    Of `said` answers with a high enough score, `right` were right.
    """

    threshold: float
    right: int
    said: int


@dataclass(frozen=True, slots=True)
class _Said:
    score: float
    right: bool


def calibrate(editor: FewShotEditor, edits: Sequence[Edit], demonstrations: Demonstrations) -> Calibration | None:
    """Return the lowest score above which nine in ten answers were right; None if too few are right.

    Edits are left out one at a time. The before of the edit should become its after, and its after should stay as it
    is. A few edits do not show how low a right answer may score, so the threshold is doubled (scores are logarithms),
    but not set below the score of the next wrong answer.
    """
    judges = spread(range(len(edits)), MAX_TRIALS) if len(edits) > 1 else []
    asked, wanted, others = [], [], []
    allowed_changes = 2 * len(judges) * [frozenset(map(editor.changed_tokens, edits))]
    for judge in judges:
        edit = edits[judge]
        asked += [(edit.before.text, edit.language), (edit.after.text, edit.language)]
        wanted += [edit.after.tokens, None]
        others += 2 * [demonstrations.without(judge)]
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
    editor: FewShotEditor, edits: Sequence[Edit], files: Sequence[File], doubt: Evidence
) -> tuple[Suggestion, ...]:
    """Return suggestions for which the editor is sure enough that it does what the edits did.

    `doubt` is what history says against the edit: how often people reversed it, and how long ago they last made it. The
    confidence is computed as for a rule, from how often the editor was right and how many matches people left alone.
    """
    names = _shared_names(edits)
    candidates = list(islice(_candidates(edits, files, names), _MOST_TRIED)) if names else []
    if not candidates:
        return ()
    # Read the edits as the statements will be read: as snippets without their files.
    pieces = [snippet_edit(each.before.text, each.after.text, each.language) for each in edits]
    demonstrations = editor.show(pieces)
    sure = calibrate(editor, pieces, demonstrations)
    if sure is None:
        return ()
    rewritten = _rewritten(editor, pieces, demonstrations, candidates, sure.threshold)
    found = [
        (file, match)
        for file, some in groupby(rewritten, key=lambda each: each[0])
        for match in keep_sound(file, [match for _, match in some])
    ]
    evidence = replace(doubt, matched=sure.said, edited=sure.right, left=len(found))
    why = (
        f"no rule; {sure.right} of {sure.said} answers of the editor were right on edits that it had not seen; "
        f"{evidence.left} such places are left"
    )
    return tuple(as_suggestion(file, match, evidence.confidence, why) for file, match in found)


def _answers(
    editor: FewShotEditor,
    asked: Sequence[tuple[str, str]],
    demonstrations: Sequence[Demonstrations],
    allowed_changes: Sequence[frozenset[ChangedTokens]],
) -> list[SnippetCandidate | None]:
    """Return the editor's best answer for each text in `asked`, given the demonstrations beside it.

    `asked` holds snippets with their languages. An answer is None if the model cannot read the snippet, if the answer
    would make none of the allowed changes, or if it would not parse.
    """
    edits = [_readable(editor, *each) for each in asked]
    positions = [position for position, edit in enumerate(edits) if edit is not None]
    found = editor.suggest(
        [edit for edit in edits if edit is not None],
        [demonstrations[position] for position in positions],
        k=1,
        allowed_changes=[allowed_changes[position] for position in positions],
    )
    answers: list[SnippetCandidate | None] = [None] * len(asked)
    for position, suggestions in zip(positions, found, strict=True):
        edit = edits[position]
        if suggestions and edit is not None and suggestions[0].tokens != edit.before.tokens:
            answers[position] = suggestions[0]
    return answers


def _readable(editor: FewShotEditor, text: str, language: str) -> Edit | None:
    """Return a snippet as an edit whose after is to be found; None if the model cannot read it."""
    try:
        edit = snippet_edit(text, "", language)
        editor.model.exampler(edit, with_after=False)
    except UserError:
        return None
    return edit


def _rewritten(
    editor: FewShotEditor,
    edits: Sequence[Edit],
    demonstrations: Demonstrations,
    candidates: Iterable[tuple[File, int, int]],
    threshold: float,
) -> Iterator[tuple[File, Match]]:
    """Yield the candidates that the editor rewrites with a high enough score, as matches in their files.

    Each match makes the same change as one of the edits. The matches of a file follow each other.
    """
    statements = [(*each, decode(each[0].data[each[1] : each[2]])) for each in candidates]
    asked = [(_indent_at(file.data, start) + before, file.language) for file, start, _, before in statements]
    answers = _answers(
        editor, asked, len(asked) * [demonstrations], len(asked) * [frozenset(map(editor.changed_tokens, edits))]
    )
    for (file, start, end, before), answer in zip(statements, answers, strict=True):
        if answer is not None and answer.score >= threshold:
            yield file, Match("editor", start, end, before, answer.text)


def _indent_at(data: bytes, start: int) -> str:
    """Return the white space in front of a position; empty if its line has other text there."""
    lead = data[data.rfind(b"\n", 0, start) + 1 : start]
    return decode(lead) if not lead.strip(b" \t") else ""


def finder_like(editor: FewShotEditor, examples: Sequence[Edit], sure: float) -> Finder:
    """Return a finder that rewrites statements that look like the befores of examples.

    The texts must be in the examples' language. A statement is rewritten if the editor makes the same change as one of
    the examples and estimates a probability of at least `sure` that it is right.
    """
    demonstrations = editor.show(examples)
    language = examples[0].language
    pieces = [snippet_edit(edit.before.text, edit.after.text, edit.language) for edit in examples]
    # Another place may have other names than a single example, but not those that are called next to the change.
    names = _shared_names(examples) if len(examples) > 1 else _called(pieces[0])
    models = [
        _Model.of(edit.before.tokens, changed_tokens_between(edit.model_before, edit.model_after), names)
        for edit in pieces
    ]

    def find(texts: Sequence[bytes]) -> list[list[Match]]:
        files = [File(str(number), language, text) for number, text in enumerate(texts)]
        found: list[list[Match]] = [[] for _ in texts]
        candidates = (statement for file in files for statement in _most_alike(models, file))
        for file, match in _rewritten(editor, examples, demonstrations, candidates, math.log(sure)):
            found[int(file.path)].append(match)
        return found

    return find


@dataclass(frozen=True, slots=True)
class _Model:
    """A before that statements are compared with.

    A statement must contain the tokens that the edit removes, and some names. Its other names may differ.
    """

    needed: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, before: Tokens, changed_tokens: ChangedTokens, names: frozenset[str]) -> _Model:
        """Return the model of an edit's before."""
        needed = names | {token for sign, token in changed_tokens if sign == "-"}
        return cls(needed, _pairs(before, needed))

    def likeness(self, tokens: Tokens) -> float:
        """Return the similarity of a statement, from 0 to 1; 0 if the edit cannot be made there."""
        if not self.needed <= frozenset(tokens):
            return 0.0
        pairs = _pairs(tokens, self.needed)
        return len(pairs & self.pairs) / len(pairs | self.pairs)


def _pairs(tokens: Tokens, own: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbouring tokens, with all words that are not in `own` made equal."""
    read = ["word" if _is_word(token) and token not in own else token for token in tokens]
    return frozenset(pairwise(["", *read, ""]))


def _most_alike(models: Sequence[_Model], file: File) -> list[tuple[File, int, int]]:
    """Return the statements of a file that are most similar to one of the models, in file order."""
    found = [(max(each.likeness(tokens) for each in models), start, end) for start, end, tokens in _statements(file)]
    best = sorted((each for each in found if each[0] >= _ALIKE), reverse=True)[:_MOST_TRIED]
    return [(file, start, end) for _, start, end in sorted(best, key=lambda each: each[1:])]


def _shared_names(edits: Sequence[Edit]) -> frozenset[str]:
    """Return the names that occur in the befores of all edits."""
    shared = frozenset.intersection(*(frozenset(edit.before.tokens) for edit in edits))
    return frozenset(token for token in shared if _is_word(token))


def _is_word(token: str) -> bool:
    return any(map(str.isalpha, token))


def _called(edit: Edit) -> frozenset[str]:
    """Return the unchanged names next to the change that are called or are members."""
    before = edit.before.tokens
    positions = align(before, edit.after.tokens).positions
    near = {
        one.before
        for pair in pairwise(positions)
        for one, other in (pair, pair[::-1])
        if one.tag is Tag.EQUAL and other.tag is not Tag.EQUAL and one.before is not None
    }
    return frozenset(
        before[at]
        for at in near
        if _is_word(before[at]) and (before[at + 1 : at + 2] == ("(",) or before[max(0, at - 1)] == ".")
    )


def _candidates(edits: Sequence[Edit], files: Sequence[File], names: frozenset[str]) -> Iterator[tuple[File, int, int]]:
    """Yield statements that look like the before of one of the edits.

    Each contains the given names and the names that the edits remove.
    """
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
    """Yield the span and the tokens of each statement of a file, except for long statements."""
    language = get(file.language)
    if not isinstance(language, Language):
        return
    parsed = Parsed(language, file.data)
    for unit in parsed.units(0, len(file.data)):
        if unit.end - unit.start <= _LONGEST:
            yield unit.start, unit.end, tuple(leaf.text for leaf in parsed.leaves(unit.start, unit.end))
