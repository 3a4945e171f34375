"""Rules for prose: words that are replaced by other words.

A rule requires as many of the surrounding words as it needs to match only where it should. It is written as YAML in
editvec's own form, beside the fields of an ast-grep rule:

    id: editvec-1f2e3d4c
    language: markdown
    message: warehouse  →  the warehouse
    severity: hint
    prose:
      left: to          # the word before, if one is needed
      find: warehouse   # what is replaced; if empty, the text between left and right
      right: ''
    fix: the warehouse
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from editvec.core.edit import Edit
from editvec.core.match import Match
from editvec.core.splice import apply_matches
from editvec.rules.rule import ProseRule
from editvec.rules.verification import Verification, VerifiedRule
from editvec.syntax import languages
from editvec.syntax.languages import Markup
from editvec.syntax.prose import paragraphs
from editvec.syntax.token import decode, encode

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_MAX_CONTEXT = 2
"""Maximum number of words on each side that a rule may require."""


class _Change(NamedTuple):
    """The words that an edit replaced, with all the words before and behind them."""

    find: str
    write: str
    left: tuple[str, ...]
    right: tuple[str, ...]


def induce_prose(edits: Sequence[Edit], *, min_support: int = 1) -> list[VerifiedRule]:
    """Return the verified rules of a group of prose edits, the most supported first."""
    groups: dict[tuple[str, str], list[tuple[Edit, _Change]]] = {}
    for edit in edits:
        if change := _change(edit.before.text, edit.after.text):
            groups.setdefault((change.find, change.write), []).append((edit, change))
    found: list[VerifiedRule] = []
    for members in groups.values():
        for rule in _candidates([change for _, change in members], edits[0].language):
            verification = _verify(rule, edits, [edit for edit, _ in members])
            if verification.holds and len(verification.support) >= min_support:
                found.append(VerifiedRule(rule, verification))
                break
    return sorted(found, key=lambda each: -len(each.verification.support))


def _change(before: str, after: str) -> _Change | None:
    """Return the one run of words in which two texts differ; None if they do not differ."""
    one, other = list(_TOKEN.finditer(before)), list(_TOKEN.finditer(after))
    low = 0
    while low < min(len(one), len(other)) and one[low][0] == other[low][0]:
        low += 1
    high = 0
    while high < min(len(one), len(other)) - low and one[-1 - high][0] == other[-1 - high][0]:
        high += 1
    sides = []
    for text, tokens in ((before, one), (after, other)):
        end = len(tokens) - high
        sides.append(text[tokens[low].start() : tokens[end - 1].end()] if low < end else "")
    if sides[0] == sides[1]:
        return None
    if not sides[0] and low and high:
        # Words that are inserted between two others replace the white space there.
        sides[1] = after[other[low - 1].end() : other[len(other) - high].start()]
    words = [token[0] for token in one]
    return _Change(sides[0], sides[1], tuple(words[:low]), tuple(words[len(words) - high :]))


def _candidates(changes: Sequence[_Change], language: str) -> Iterator[ProseRule]:
    """Yield rules, from the most general one to those with all the context that the changes share."""
    first = changes[0]
    lefts, rights = [""], [""]
    for size in range(1, _MAX_CONTEXT + 1):
        if len({change.left[-size:] for change in changes}) == 1 and len(first.left) >= size:
            lefts.append(" ".join(first.left[-size:]))
        if len({change.right[:size] for change in changes}) == 1 and len(first.right) >= size:
            rights.append(" ".join(first.right[:size]))
    for left, right in sorted(product(lefts, rights), key=lambda sides: len(" ".join(sides).split())):
        # An insertion needs the words on both sides; without them, the rule would match everywhere.
        if first.find or (left and right):
            yield ProseRule(language, first.find, first.write, left, right)


def _verify(rule: ProseRule, edits: Sequence[Edit], claimed: Sequence[Edit]) -> Verification:
    support, exact, failures = [], [], []
    for edit in edits:
        before, after = encode(edit.before.text), encode(edit.after.text)
        if matches := list(_find(rule, before)):
            result = apply_matches(before, matches)
            if result.split() == after.split():
                support.append(edit.id)
                exact += [edit.id] * (result == after)
            else:
                failures.append((edit.id, "writes something different from the edit"))
        elif edit in claimed:
            failures.append((edit.id, "does not match"))
        if any(_find(rule, after)):
            failures.append((edit.id, "matches the text after the edit"))
    return Verification(tuple(support), tuple(exact), tuple(failures))


def find_prose(rule: ProseRule, data: bytes) -> list[Match]:
    """Return the matches of a rule in the paragraphs of a file, not in code, tables or directives."""
    found = list(_find(rule, data))
    spans = _paragraph_spans(rule.language, data) if found else []
    return [match for match in found if any(low <= match.start and match.end <= high for low, high in spans)]


@lru_cache(maxsize=8)
def _paragraph_spans(language: str, data: bytes) -> list[tuple[int, int]]:
    """Return the span of each paragraph in bytes.

    The result is cached, because many rules look at the same file.
    """
    markup = languages.get(language)
    assert isinstance(markup, Markup)
    lines = decode(data).split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(encode(line)) + 1)
    return [(starts[each.first], starts[each.last + 1]) for each in paragraphs(markup, lines)]


def _find(rule: ProseRule, data: bytes) -> Iterator[Match]:
    if any(encode(word) not in data for word in _TOKEN.findall(f"{rule.left} {rule.find} {rule.right}")):
        return
    text = decode(data)
    for match in _expression(rule).finditer(text):
        start, end = (len(encode(text[: match.start("find")])), len(encode(text[: match.end("find")])))
        if not rule.after:
            start, end = _with_gap(data, start, end)
        yield Match("", start, end, match["find"], rule.after)


def _with_gap(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return the span of deleted words, with the white space in front of them.

    At the start of a line, the white space behind them is included instead.
    """
    low = start
    while low and data[low - 1 : low] in (b" ", b"\t"):
        low -= 1
    if low and data[low - 1 : low] != b"\n":
        return low, end
    while data[end : end + 1] in (b" ", b"\t"):
        end += 1
    return start, end


def _expression(rule: ProseRule) -> re.Pattern[str]:
    """Return the rule as a regular expression: whole words with any white space between them."""
    left = _words(rule.left) if rule.left else ""
    right = rf"(?={_words(rule.right)})" if rule.right else ""
    if not rule.find:
        return re.compile(rf"{left}(?P<find>\s*){right}")
    return re.compile(rf"{left}\s*(?P<find>{_words(rule.find)})" + (rf"(?=\s*{_words(rule.right)})" if right else ""))


def _words(text: str) -> str:
    tokens = _TOKEN.findall(text)
    return r"\s*".join(
        rf"(?<!\w){re.escape(token)}(?!\w)" if token[0].isalnum() else re.escape(token) for token in tokens
    )
