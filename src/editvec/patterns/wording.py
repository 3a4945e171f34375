"""Name a change in words that come from the change itself: "use `Assert.Empty($X)` instead of `Assert.Equal(0, $X)`".

The kind of a change is computed from the tokens of its two sides; the words follow from the kind. Commit messages are
not read here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import Enum
from typing import NamedTuple

from editvec.syntax import lexer
from editvec.syntax.languages import Markup, get
from editvec.syntax.token import decode, encode

_LONGEST = 64
"""Maximum number of characters of a side in a name."""
_AROUND = 3
"""Number of tokens shown on each side of the change in a side that is too long."""
_JOINTS = frozenset(b"( ) [ ] { } . , ; : ' \" `".split())
_CLOSERS = frozenset({")", "]", "}", ">"})
_NO_CALLEES = frozenset(
    "if while for foreach switch catch return await new throw yield in not and or is as assert def fn func "
    "function match case using lock when".split()
)
_DECLARING = frozenset("def fn func function void".split())


class ChangeKind(Enum):
    """What a change does, read off its tokens."""

    INSERTION = "insertion"
    REMOVAL = "removal"
    ARGUMENT_ADDED = "argument added"
    ARGUMENT_REMOVED = "argument removed"
    REORDERING = "reordering"
    WRAPPING = "wrapping"
    UNWRAPPING = "unwrapping"
    ANNOTATION = "annotation"
    RENAMING = "renaming"
    LITERAL = "literal"
    WORDS = "words"
    REPLACEMENT = "replacement"


class NamedChange(NamedTuple):
    """A change with its kind and its name in words."""

    kind: ChangeKind
    words: str


class _Side(NamedTuple):
    text: str
    tokens: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str) -> _Side:
        """Return a text as a side, with white space as single spaces."""
        plain = " ".join(text.split())
        found = lexer.lex(encode(plain))
        at = [len(decode(encode(plain)[:offset])) for offset in (*found.starts, *found.ends)]
        return cls(plain, [decode(token) for token in found.texts], at[: len(found.texts)], at[len(found.texts) :])

    def cut(self, low: int, high: int) -> str:
        """Return the text of the tokens [low, high)."""
        return self.text[self.starts[low] : self.ends[high - 1]] if low < high else ""


class _Run(NamedTuple):
    """The tokens [low, high) of one side, which became [start, end) of the other."""

    low: int
    high: int
    start: int
    end: int


def name_change(before: str, after: str, language: str) -> NamedChange:
    """Return the kind and the name of a change; the sides may contain metavariables."""
    if isinstance(get(language), Markup):
        return _of_prose(_Side.of(before), _Side.of(after))
    old, new = _Side.of(before), _Side.of(after)
    runs = [
        _Run(low, high, start, end)
        for tag, low, high, start, end in SequenceMatcher(None, old.tokens, new.tokens, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    if runs and all(run.low == run.high for run in runs):
        return _put_in(old, new, runs)
    if runs and all(run.start == run.end for run in runs):
        return _taken_out(old, new, runs)
    if Counter(old.tokens) == Counter(new.tokens):
        return NamedChange(ChangeKind.REORDERING, f"reorder {_quoted(old, runs)} to {_quoted(new, _turned(runs))}")
    kind = _kind_of_replacement(old, new, runs)
    if kind is ChangeKind.LITERAL and len(runs) == 1 and len(old.tokens) > 1:
        (run,) = runs
        words = f"change `{old.tokens[run.low]}` to `{new.tokens[run.start]}` in {_quoted(old, runs)}"
        return NamedChange(kind, words)
    return NamedChange(kind, _instead(old, new, runs))


def clipped(text: str, longest: int) -> str:
    """Return a text with at most `longest` characters; what is cut off is replaced by an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def changed_words(before: str, after: str) -> frozenset[str]:
    """Return the parts of the names that a change adds or removes, in lower case; metavariables are none."""
    return frozenset(
        decode(part).lower()
        for token in _changed(before, after)
        if lexer.is_word(token)
        for part in lexer.subwords(token)
        if len(part) > 1
    )


def changes_words(before: str, after: str) -> bool:
    """Return whether a change adds or removes a word or an operator, not only punctuation or a literal for another."""
    said = {token for token in _changed(before, after) if not lexer.is_number(token) and token not in _JOINTS}
    return bool(said) and (len(said) == 1 or not {decode(token) for token in said} <= _VALUES)


def changed_signed(before: str, after: str) -> frozenset[str]:
    """Return the words and operators that a change removes (`-name`) and adds (`+name`); metavariables are none."""
    sides = _counts(before, after)
    return frozenset(
        sign + decode(token)
        for sign, changed in (("-", sides[0] - sides[1]), ("+", sides[1] - sides[0]))
        for token in changed
        if token not in _JOINTS
    )


def _changed(before: str, after: str) -> Counter[bytes]:
    sides = _counts(before, after)
    return (sides[0] - sides[1]) + (sides[1] - sides[0])


def _counts(before: str, after: str) -> tuple[Counter[bytes], Counter[bytes]]:
    """Return the tokens of two sides without the metavariables."""
    first, second = (
        Counter(token for token in lexer.lex(encode(text)).texts if not token.startswith(b"$"))
        for text in (before, after)
    )
    return first, second


def _of_prose(old: _Side, new: _Side) -> NamedChange:
    if not old.text or not new.text:
        verb, side = ("write", new) if new.text else ("leave out", old)
        return NamedChange(ChangeKind.WORDS, f"{verb} “{clipped(side.text, _LONGEST)}”")
    words = f"write “{clipped(new.text, _LONGEST)}” instead of “{clipped(old.text, _LONGEST)}”"
    return NamedChange(ChangeKind.WORDS, words)


def _put_in(old: _Side, new: _Side, runs: Sequence[_Run]) -> NamedChange:
    """Return the name of a change that only adds tokens."""
    if middle := _wrapped(new, [(run.start, run.end) for run in runs]):
        words = f"wrap `{_short(new.cut(*middle))}` in `{_short(_hollow(new, *middle))}`"
        return NamedChange(ChangeKind.WRAPPING, words)
    if len(runs) != 1:
        return NamedChange(ChangeKind.INSERTION, _instead(old, new, runs))
    low, high = runs[0].start, runs[0].end
    if found := _argument(new, low, high):
        what, of = found
        return NamedChange(ChangeKind.ARGUMENT_ADDED, f"add the {what} to `{of}`")
    added = new.cut(low, high)
    if new.tokens[low] in (":", "->") and high - low > 1:
        rest = _short(old.text)
        return NamedChange(ChangeKind.ANNOTATION, f"annotate `{rest}` with `{_short(added)}`")
    return NamedChange(ChangeKind.INSERTION, f"add `{_short(added)}`{_where('to', old, runs)}")


def _taken_out(old: _Side, new: _Side, runs: Sequence[_Run]) -> NamedChange:
    """Return the name of a change that only removes tokens."""
    if middle := _wrapped(old, [(run.low, run.high) for run in runs]):
        if not set("".join(old.tokens[: middle[0]])) - set("([{"):
            return NamedChange(ChangeKind.UNWRAPPING, f"drop the brackets around `{_short(old.cut(*middle))}`")
        words = f"unwrap `{_short(old.cut(*middle))}` from `{_short(_hollow(old, *middle))}`"
        return NamedChange(ChangeKind.UNWRAPPING, words)
    if len(runs) != 1:
        return NamedChange(ChangeKind.REMOVAL, _instead(old, new, runs))
    low, high = runs[0].low, runs[0].high
    if found := _argument(old, low, high):
        what, of = found
        return NamedChange(ChangeKind.ARGUMENT_REMOVED, f"drop the {what} of `{of}`")
    return NamedChange(ChangeKind.REMOVAL, f"drop `{_short(old.cut(low, high))}`{_where('from', old, runs)}")


def _wrapped(side: _Side, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the tokens between two runs that together are something around them, such as `f(` and `)`."""
    if len(spans) != 2:
        return None
    (_, high), (start, end) = spans
    pairs = {"(": ")", "[": "]", "{": "}", "<": ">"}
    fits = high < start and pairs.get(side.tokens[high - 1]) == side.tokens[start]
    closes = all(token in _CLOSERS or token in ",;" for token in side.tokens[start:end])
    return (high, start) if fits and closes else None


def _hollow(side: _Side, low: int, high: int) -> str:
    """Return the text of a side with an ellipsis for the tokens [low, high)."""
    return side.text[: side.starts[low]] + "…" + side.text[side.ends[high - 1] :]


def _argument(side: _Side, low: int, high: int) -> tuple[str, str] | None:
    """Return what an added or removed run is in a list in round brackets, and of what; None if it is no argument."""
    tokens = side.tokens
    first, last = low + (tokens[low] == ","), high - (tokens[high - 1] == ",")
    alone = tokens[first - 1 : first] == ["("] and tokens[last : last + 1] == [")"]
    if first >= last or not (alone or "," in (tokens[low], tokens[high - 1])):
        return None
    depth, at = 0, first - 1
    while at >= 0 and (depth or tokens[at] != "("):
        depth += (tokens[at] in ")]}") - (tokens[at] in "([{")
        if depth < 0:
            return None
        at -= 1
    if at < 1 or not lexer.is_word(encode(tokens[at - 1])) or tokens[at - 1] in _NO_CALLEES:
        return None
    begin = at - 1
    while begin >= 2 and tokens[begin - 1] in (".", "::", "?.", "->") and lexer.is_word(encode(tokens[begin - 2])):
        begin -= 2
    declared = begin > 0 and (tokens[begin - 1] in _DECLARING or _is_type_before(tokens[begin - 1]))
    what = "parameter" if declared else "argument"
    return f"{what} `{_short(side.cut(first, last))}`", _short(side.cut(begin, at))


def _is_type_before(token: str) -> bool:
    """Return whether a token in front of a name and a bracket shows that the name is declared there."""
    return lexer.is_word(encode(token)) and token not in _NO_CALLEES and token not in ("go", "defer", "else", "do")


def _kind_of_replacement(old: _Side, new: _Side, runs: Sequence[_Run]) -> ChangeKind:
    """Return whether names are replaced by names, literals by literals, or something else."""
    pairs = [(old.tokens[run.low : run.high], new.tokens[run.start : run.end]) for run in runs]
    if all(len(one) == len(other) == 1 for one, other in pairs):
        changed = [encode(token) for one, other in pairs for token in (*one, *other)]
        if all(lexer.is_word(token) and not token.startswith(b"$") for token in changed):
            inside = all(_in_quotes(old.tokens, run.low) for run in runs)
            return ChangeKind.LITERAL if inside else ChangeKind.RENAMING
        if all(lexer.is_number(token) or token.decode() in _VALUES for token in changed):
            return ChangeKind.LITERAL
    return ChangeKind.REPLACEMENT


_VALUES = frozenset("true false True False null nil None undefined".split())


def _in_quotes(tokens: Sequence[str], at: int) -> bool:
    return any(tokens[:at].count(quote) % 2 for quote in ('"', "'", "`"))


def _instead(old: _Side, new: _Side, runs: Sequence[_Run]) -> str:
    if not old.text or not new.text:
        return f"add `{_short(new.text)}`" if new.text else f"drop `{_short(old.text)}`"
    return f"use {_quoted(new, _turned(runs))} instead of {_quoted(old, runs)}"


def _turned(runs: Sequence[_Run]) -> list[_Run]:
    """Return the runs as seen from the other side."""
    return [_Run(run.start, run.end, run.low, run.high) for run in runs]


def _where(word: str, old: _Side, runs: Sequence[_Run]) -> str:
    """Return to what something is added, or from what it is dropped; empty if that is nothing."""
    whole = any(run.high - run.low == len(old.tokens) for run in runs)
    return f" {word} {_quoted(old, runs)}" if old.text and not whole else ""


def _quoted(side: _Side, runs: Sequence[_Run]) -> str:
    """Return a side in quotation marks; of a long one only what changes, with a few tokens around it."""
    if len(side.text) <= _LONGEST or not runs:
        return f"`{_short(side.text)}`"
    low = max(0, min(run.low for run in runs) - _AROUND)
    high = min(len(side.tokens), max(run.high for run in runs) + _AROUND)
    text = side.cut(low, high)
    if low:
        text = "…" + text
    if high < len(side.tokens):
        text += "…"
    return f"`{_short(text)}`"


def _short(text: str) -> str:
    return clipped(text, _LONGEST)
