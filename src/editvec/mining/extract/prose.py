"""Extraction of sentence edits from a changed prose file: paragraphs to sentences, pairs of sentences, edits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from editvec.core.edit import Edit, Tokens, Version
from editvec.mining.extract.code import Tally
from editvec.mining.recipes import Recipe
from editvec.syntax.languages import Markup, get
from editvec.syntax.markdown import Paragraph
from editvec.syntax.prose import paragraphs, sentences, words
from editvec.vcs.history import Hunk

_MIN_WORDS = 3


class Sentence(NamedTuple):
    """A sentence in its file: text, tokens, and the first and last line (0-based, inclusive) of its paragraph."""

    text: str
    tokens: Tokens
    first: int
    last: int


def refuse_by_text(hunk: Hunk, recipe: Recipe) -> str | None:
    """Return the filter that drops a hunk by its lines alone; None if the hunk passes."""
    if hunk.num_before > recipe.max_lines or hunk.num_after > recipe.max_lines:
        return "too-many-lines"
    removed, added = hunk.sides()
    if b"".join(removed).split() == b"".join(added).split():
        return "formatting"
    return None


def extract(
    hunks: Sequence[Hunk], language: Markup, before: bytes, after: bytes, recipe: Recipe, tally: Tally
) -> Iterator[tuple[Edit, tuple[int, int], tuple[int, int]]]:
    """Yield the sentence edits of a file, each with its lines (1-based, inclusive) before and after."""
    old, new = _paragraphs(language.name, before), _paragraphs(language.name, after)
    seen: set[tuple[int, int]] = set()
    for hunk in hunks:
        touched = _touching(old, hunk.before, hunk.num_before)
        touched_after = _touching(new, hunk.after, hunk.num_after)
        if not touched or not touched_after:
            blank_before, blank_after = not hunk.num_before, not hunk.num_after
            tally["pure-insertion" if blank_before else "pure-deletion" if blank_after else "no-unit"] += 1
            continue
        place = (touched[0].first, touched_after[0].first)
        if place in seen:
            continue
        seen.add(place)
        yield from _compare(language, _sentences(touched), _sentences(touched_after), recipe, tally)


@lru_cache(maxsize=256)
def _paragraphs(language: str, data: bytes) -> list[Paragraph]:
    """Return the paragraphs of a file. The next change of a file begins with what this one ended with."""
    markup = get(language)
    assert isinstance(markup, Markup)
    return list(paragraphs(markup, data.decode().split("\n")))


def _touching(found: Sequence[Paragraph], first: int, count: int) -> list[Paragraph]:
    last = first + count - 1 if count else first
    low = bisect_left(found, first, key=lambda paragraph: paragraph.last)
    return list(takewhile(lambda paragraph: paragraph.first <= last, found[low:]))


def _sentences(found: Sequence[Paragraph]) -> list[Sentence]:
    return [
        Sentence(text := paragraph.text[span.start : span.end], words(text), paragraph.first, paragraph.last)
        for paragraph in found
        for span in sentences(paragraph.text)
    ]


def _compare(
    language: Markup, before: list[Sentence], after: list[Sentence], recipe: Recipe, tally: Tally
) -> Iterator[tuple[Edit, tuple[int, int], tuple[int, int]]]:
    matcher = SequenceMatcher(None, [s.tokens for s in before], [s.tokens for s in after], autojunk=False)
    changed = False
    for operation, low, high, start, end in matcher.get_opcodes():
        if operation == "equal":
            continue
        changed = True
        if operation != "replace":
            tally["pure-insertion" if operation == "insert" else "pure-deletion"] += 1
            continue
        for at, other in _pair(before[low:high], after[start:end]):
            one, two = before[low + at], after[start + other]
            reason = _refuse(one.tokens, two.tokens, recipe)
            if reason is not None:
                tally[reason] += 1
                continue
            edit = Edit(
                id="",
                language=language.name,
                before=Version(one.text, one.tokens),
                after=Version(two.text, two.tokens),
                context_before=before[low + at - 1].tokens if low + at else (),
                context_behind=before[low + at + 1].tokens if low + at + 1 < len(before) else (),
            )
            yield edit, (one.first + 1, one.last + 1), (two.first + 1, two.last + 1)
    if not changed:
        tally["formatting"] += 1


def _pair(before: Sequence[Sentence], after: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Return pairs of corresponding sentences, as indices into both sequences.

    Sequences of equal length are paired one by one. Otherwise each sentence, in order, is paired with the most similar
    one behind the last paired one, if the similarity is at least 0.5.
    """
    if len(before) == len(after):
        return [(k, k) for k in range(len(before))]
    pairs = []
    start = 0
    for at, one in enumerate(before):
        scores = [
            (Levenshtein.normalized_similarity(one.tokens, after[k].tokens), -k) for k in range(start, len(after))
        ]
        if scores and max(scores)[0] >= 0.5:
            best = -max(scores)[1]
            pairs.append((at, best))
            start = best + 1
    return pairs


def _refuse(before: Tokens, after: Tokens, recipe: Recipe) -> str | None:
    if before == after:
        return "formatting"
    if min(len(before), len(after)) < _MIN_WORDS or not any(word.isalpha() for word in before):
        return "no-unit"
    if max(len(before), len(after)) >= recipe.max_tokens:
        return "too-long"
    if recipe.drops("rewrite") and Levenshtein.normalized_similarity(before, after) < recipe.min_similarity:
        return "rewrite"
    if recipe.drops("scattered"):
        operations = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if sum(operation[0] != "equal" for operation in operations) > 1:
            return "scattered"
    return None
