"""White space of a text that was generated as tokens.

It follows the original text, or else similar texts, or else the usual style of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from editvec.core.edit import Tokens, Version
from editvec.syntax import languages
from editvec.syntax.languages.base import Spacing

Habits = Mapping[tuple[str, str], str]
"""The white space between tokens of two kinds."""

_VALUE = re.compile(r"""\w+|.+["'`]""", re.S)
_ONE_WORD = re.compile(r"\w\n\w")
_ONE = re.compile(rf"{_ONE_WORD.pattern}|([-+&])\n\1")
"""Two characters, separated by a line end, that would be read as one token without white space between them."""
_BRACKETS = frozenset("([{")
_OPENING = frozenset("([")
_CLOSING = frozenset(")]}")
_TIGHT_BEFORE = frozenset(", ; ) ] ++ --".split())
_TIGHT_BEHIND = frozenset(". ( [ ! ~".split())
_OPENS_BEHIND = re.compile(r"[\w)\]>!?'\"]$")
"""The end of a token that an opening bracket follows directly, because it is called or indexed."""
_SENTENCE_ENDS = frozenset(".!?")
_SIGNS = frozenset("- + * ** & ... @".split())
"""Signs that stand directly in front of their operand if no other operand stands before them."""
_SEVERAL = _SIGNS | frozenset("? < > : ` \" '".split())
"""Tokens with several meanings, on which their spacing depends."""
_BEFORE_QUOTES = frozenset("( [".split())
_BESIDE_TYPES = frozenset("> ( ) , ; [ . ?".split())
_IN_TYPES = frozenset(". , ? [ ] :: & * < > '".split())


def habits_of(versions: Iterable[Version]) -> Habits:
    """Return the white space between tokens of two kinds, for the pairs that all the texts space alike."""
    seen: dict[tuple[str, str], set[str]] = {}
    for version in versions:
        gaps, kinds = _gaps(version), list(map(_kind, version.tokens))
        for pair, gap in zip(pairwise(kinds), gaps[1:], strict=True):
            # A name in front of an opening bracket may be a keyword or a function, which are spaced differently.
            if gap in ("", " ") and pair[1] not in _OPENING and _SEVERAL.isdisjoint(pair):
                seen.setdefault(pair, set()).add(gap)
    return {pair: gap for pair, gaps in seen.items() if len(gaps) == 1 for gap in gaps}


def spaced(before: Version, tokens: Tokens, kept: Mapping[int, int], habits: Habits, language: str) -> str:
    """Return `tokens` as text.

    `kept` maps the position of a kept token to its position in `before`. The white space in front of a token is
    decided in this order:

    - Tokens that were neighbours in `before` keep the white space between them.
    - A new last item of a list with one item per line gets the white space in front of the last item.
    - A line end of `before` next to a kept token stays where tokens of the line were removed or added.
    - A token beside the same kind of neighbour as in `before` keeps the white space between them.
    - Then the habits of `before` decide, then `habits`, then the usual style of the language.

    A new statement gets a line of its own with the indentation of `before`, if its text shows one.
    """
    gaps, own = _gaps(before), habits_of([before])
    indent = before.text[: len(before.text) - len(before.text.lstrip())].rpartition("\n")[2]
    facts = languages.get(language).spacing
    usual, one = _usual_gaps(tokens, facts, "\n" + indent), _ONE if facts.merging else _ONE_WORD
    text = ""
    used: set[int] = set()
    for at, token in enumerate(tokens):
        behind = kept[at - 1] + 1 if at - 1 in kept else len(gaps)
        in_front = kept.get(at, len(gaps))
        line_ends = [gap for gap in (behind, in_front) if gap < len(gaps) and "\n" in gaps[gap] and gap not in used]
        if at and behind == in_front < len(gaps):
            text += gaps[in_front]
        elif at and (lead := _lead_of_item(before.tokens, gaps, tokens, kept, at)):
            text += lead
        elif at and line_ends:
            used.add(line_ends[0])
            text += gaps[line_ends[0]]
        elif at:
            pair = _kind(tokens[at - 1]), _kind(token)
            sides = (in_front, in_front, at, -1), (behind, behind - 1, at - 1, 1)
            alike = (
                gaps[place]
                for place, here, there, side in sides
                if place < len(gaps) and _is_blank(gaps[place]) and _is_alike(before.tokens, here, tokens, there, side)
            )
            gap = next(alike, own.get(pair, habits.get(pair, usual[at])))
            text += gap or (" " if one.search(f"{tokens[at - 1][-1:]}\n{token[:1]}") else "")
        text += token
    return text


def _lead_of_item(own: Tokens, gaps: list[str], tokens: Tokens, kept: Mapping[int, int], at: int) -> str:
    """Return the white space in front of an item that is appended to a list with one item per line.

    It is the white space in front of the list's last item. The new item comes with its comma or semicolon. The result
    is "" for any other token.
    """
    if at - 1 not in kept or at in kept:
        return ""
    end = next((later for later in range(at, len(tokens)) if later in kept), len(tokens))
    last = kept[at - 1]
    if kept.get(end) != last + 1 or tokens[end - 1] != own[last] or "\n" not in gaps[last + 1]:
        return ""
    leads = (gaps[place + 1] for place in range(last - 1, -1, -1) if own[place] == own[last] or own[place] in _BRACKETS)
    return next((lead for lead in leads if "\n" in lead), "")


def _kind(token: str) -> str:
    """Return the kind of a token: "" for names, numbers and strings, and the token itself for all others."""
    return "" if _VALUE.fullmatch(token) else token


def _is_alike(own: Tokens, here: int, tokens: Tokens, there: int, side: int) -> bool:
    """Return whether a token has the same kind of neighbour as its original on one side.

    `side` is +1 or -1. For a token with several meanings, both sides have to agree.
    """
    sides = (side, -side) if own[here] in _SEVERAL else (side,)
    return all(_kind_at(own, here + each) == _kind_at(tokens, there + each) for each in sides)


def _kind_at(tokens: Tokens, place: int) -> str | None:
    """Return the kind of the token at a position, or None outside the tokens."""
    return _kind(tokens[place]) if 0 <= place < len(tokens) else None


def _is_blank(gap: str) -> bool:
    return not gap.strip(" \t")


def _usual_gaps(tokens: Tokens, facts: Spacing, new_line: str) -> list[str]:
    """Return the white space that most people write in front of each token."""
    angles, held, is_choice = _brackets_of_types(tokens), _held(tokens, facts.quotes), "?" in tokens and ":" in tokens
    roles = _roles(tokens, facts.quotes) if facts.roles else frozenset()
    gaps: list[str] = []
    depth, in_type, signed = 0, False, False
    for at, token in enumerate(tokens):
        last, following = tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""
        operand = bool(last) and last not in facts.words_apart and (_kind(last) == "" or last in _CLOSING)
        if at in roles:
            tight = at - 1 in roles or last in _TIGHT_BEHIND
        elif at in held or at - 1 in roles or last in facts.joining or last in facts.prefixes:
            tight = True
        elif token in facts.joining:
            tight = operand or last in _TIGHT_BEHIND or last in "<>"
        elif at in angles or at - 1 in angles:
            tight = token in _BESIDE_TYPES or last == "<" or (at in angles and token == "<")
        elif token in _OPENING:
            called = facts.calls and operand and _OPENS_BEHIND.search(last) is not None
            tight = called or last in _TIGHT_BEHIND or last == "]"
            tight = tight and (last, token, following) != (")", "[", "]")
        elif token == ":":
            # In reStructuredText `::` begins a literal block; behind the end of a sentence it stands apart.
            tight = not facts.colon_apart and not is_choice and not (facts.roles and last in _SENTENCE_ENDS)
        elif facts.roles and last in facts.quotes and not token.strip("_"):
            tight = True
        elif token == "?":
            tight = not is_choice
        elif token == "!":
            tight = operand or last in _TIGHT_BEHIND
        elif token == "...":
            tight = operand and following == ")"
        elif facts.tight_arguments and depth and not in_type and "=" in (token, last):
            tight = True
        elif token == ".":
            tight = last not in facts.words_apart
        else:
            tight = token in _TIGHT_BEFORE or last in _TIGHT_BEHIND or (last, token) == ("{", "}")
        statement = facts.line_a_statement and last == ";" and not depth
        gaps.append(new_line if statement else "" if tight or signed else " ")
        signed = token in _SIGNS and (not operand or (token == "..." and not tight))
        depth += (token in _BRACKETS) - (token in _CLOSING)
        in_type = token == ":" or (in_type and token != ",")
    return gaps


def _held(tokens: Tokens, quotes: frozenset[str]) -> set[int]:
    """Return the positions of the tokens that directly follow the token before them because of quotes or lists.

    A quote, of one sign or several, encloses one of the two tokens, or the braces of a list of names do, as in `a::{b,
    c}`.
    """
    found: set[int] = set()
    quoted = False
    lists: list[bool] = []
    for at, (last, token) in enumerate(pairwise(("", *tokens))):
        ended = last in quotes and token != last
        quoted ^= ended
        if (quoted or last == token or last in _BEFORE_QUOTES) if token in quotes else ended and quoted:
            found.add(at)
        if quoted and token in _OPENING and _VALUE.fullmatch(last):
            found.add(at)
        if lists and lists[-1] and (last == "{" or token == "}"):
            found.add(at)
        if token == "{":
            lists.append(last == "::")
        elif token == "}" and lists:
            lists.pop()
    return found


def _roles(tokens: Tokens, quotes: frozenset[str]) -> frozenset[int]:
    """Return the positions of the names and colons that form a role in front of a quote: :domain:role:`text`."""
    found: set[int] = set()
    for at, token in enumerate(tokens):
        if token in quotes and at and tokens[at - 1] == ":":
            start = at - 1
            while start > 1 and tokens[start - 2] == ":" and tokens[start - 1].isidentifier():
                start -= 2
            if start < at - 1:
                found.update(range(start, at))
    return frozenset(found)


def _brackets_of_types(tokens: Tokens) -> set[int]:
    """Return the positions of `<` and `>` that enclose the arguments of a type.

    They follow a name, and only types stand between them.
    """
    found: set[int] = set()
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token == "<" and at and _kind(tokens[at - 1]) == "":
            opened.append(at)
        elif token == ">" and opened:
            found.update((opened.pop(), at))
        elif _kind(token) and token not in _IN_TYPES:
            opened.clear()
    return found


def _gaps(version: Version) -> list[str]:
    """Return the white space or comment in front of each token; a space if the text does not contain the token."""
    gaps, end = [], 0
    for token in version.tokens:
        start = version.text.find(token, end)
        gaps.append(version.text[end:start] if start >= 0 else " ")
        end = start + len(token) if start >= 0 else end
    return gaps
