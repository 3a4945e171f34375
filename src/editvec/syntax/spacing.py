"""The white space of a text that was written as tokens: as the text that it comes from has it, or texts like it;
else as most people write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from editvec.core.edit import Tokens, Version
from editvec.syntax import languages
from editvec.syntax.languages.base import Spacing

Habits = Mapping[tuple[str, str], str]
"""What stands between tokens of two kinds."""

_VALUE = re.compile(r"""\w+|.+["'`]""", re.S)
_ONE_WORD = re.compile(r"\w\n\w")
_ONE = re.compile(rf"{_ONE_WORD.pattern}|([-+&])\n\1")
"""What would be read as one token, were there nothing where the line end is."""
_BRACKETS = frozenset("([{")
_OPENING = frozenset("([")
_CLOSING = frozenset(")]}")
_TIGHT_BEFORE = frozenset(", ; ) ] ++ --".split())
_TIGHT_BEHIND = frozenset(". ( [ ! ~".split())
_OPENS_BEHIND = re.compile(r"[\w)\]>!?'\"]$")
"""What a bracket that opens stands directly behind: what is called, or looked into."""
_SENTENCE_ENDS = frozenset(".!?")
_SIGNS = frozenset("- + * ** & ... @".split())
"""What stands directly in front of its operand where nothing stands in front of it that could be another one."""
_SEVERAL = _SIGNS | frozenset("? < > : ` \" '".split())
"""What has several meanings, and is spaced by them."""
_BEFORE_QUOTES = frozenset("( [".split())
_BESIDE_TYPES = frozenset("> ( ) , ; [ . ?".split())
_IN_TYPES = frozenset(". , ? [ ] :: & * < > '".split())


def habits_of(versions: Iterable[Version]) -> Habits:
    """Whether some texts have a space between tokens of two kinds, where they always do the same."""
    seen: dict[tuple[str, str], set[str]] = {}
    for version in versions:
        gaps, kinds = _gaps(version), list(map(_kind, version.tokens))
        for pair, gap in zip(pairwise(kinds), gaps[1:], strict=True):
            # Before a bracket that opens, a name may be a keyword or what is called.
            if gap in ("", " ") and pair[1] not in _OPENING and _SEVERAL.isdisjoint(pair):
                seen.setdefault(pair, set()).add(gap)
    return {pair: gap for pair, gaps in seen.items() if len(gaps) == 1 for gap in gaps}


def spaced(before: Version, tokens: Tokens, kept: Mapping[int, int], habits: Habits, language: str) -> str:
    """`tokens` as text, of which some were `kept` (place → place in `before`): with the white space of `before` between
    those that were neighbours there, or had the like of each other beside them; its line ends where something was taken
    away from or put into a line; then by the habits of `before`, by those of others, and by those of the language. A
    statement that is put in gets a line, indented as `before` is, if its text says how."""
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
    """What stands in front of an item that is put behind the last one of those that have lines of their own, with its
    comma or semicolon: what stands in front of the last one. "" for anything else."""
    if at - 1 not in kept or at in kept:
        return ""
    end = next((later for later in range(at, len(tokens)) if later in kept), len(tokens))
    last = kept[at - 1]
    if kept.get(end) != last + 1 or tokens[end - 1] != own[last] or "\n" not in gaps[last + 1]:
        return ""
    leads = (gaps[place + 1] for place in range(last - 1, -1, -1) if own[place] == own[last] or own[place] in _BRACKETS)
    return next((lead for lead in leads if "\n" in lead), "")


def _kind(token: str) -> str:
    """Names, numbers and strings are alike; all else is only like itself."""
    return "" if _VALUE.fullmatch(token) else token


def _is_alike(own: Tokens, here: int, tokens: Tokens, there: int, side: int) -> bool:
    """Whether a token has the like beside it on a side, +1 or -1, that it had where it comes from; and on the other one
    too, if it is one that means another thing beside other things."""
    sides = (side, -side) if own[here] in _SEVERAL else (side,)
    return all(_kind_at(own, here + each) == _kind_at(tokens, there + each) for each in sides)


def _kind_at(tokens: Tokens, place: int) -> str | None:
    return _kind(tokens[place]) if 0 <= place < len(tokens) else None


def _is_blank(gap: str) -> bool:
    return not gap.strip(" \t")


def _usual_gaps(tokens: Tokens, facts: Spacing, new_line: str) -> list[str]:
    """What most people write in front of each token of a text."""
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
            # A literal block of reStructuredText begins behind `::`, which stands alone where a sentence has ended.
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
    """Where a token stands directly behind the one before it because a quote, of one sign or several, is around
    one of the two, or braces that hold names: `a::{b, c}`"""
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
    """The names and colons that say what a quote behind them is: :role:`text`, :domain:role:`text`"""
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
    """Where `<` and `>` hold the arguments of a type: behind a name, with nothing but types between them."""
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
    """The white space (or comment) in front of each token; a space where the text is not that of the tokens."""
    gaps, end = [], 0
    for token in version.tokens:
        start = version.text.find(token, end)
        gaps.append(version.text[end:start] if start >= 0 else " ")
        end = start + len(token) if start >= 0 else end
    return gaps
