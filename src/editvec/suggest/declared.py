"""Where a name is declared, as far as tokens tell: behind a keyword such as `def`, or in front of a list of parameters.

This needs no parser and works in all languages alike. It is a feature of the scorer, not a fact: a rare declaration may
be missed.
"""

from __future__ import annotations

from collections.abc import Sequence

from editvec.suggest.searched import SearchedFile
from editvec.syntax.lexer import is_word

_DECLARING = frozenset(
    b"class const def define enum fn func function interface let macro_rules mod module namespace protocol record "
    b"static struct trait type typedef union using val var".split()
)
"""Keywords directly in front of the name that they declare."""
_NO_TYPES = frozenset(
    b"and assert await case delete defer do echo elif else except from go if import in is new not of or print raise "
    b"return throw typeof unless until use when while with yield".split()
)
"""Words that can stand in front of a call; any other word in front of `name(` is a type, and the name is declared."""
_MAX_OCCURRENCES = 200


def declares(texts: Sequence[bytes], at: int) -> bool:
    """Return whether the token at an index of a line's tokens is a name that the line declares."""
    previous = texts[at - 1] if at else b""
    following = texts[at + 1] if at + 1 < len(texts) else b""
    if previous in _DECLARING or following == b":=":
        return True
    if following not in (b"(", b"<"):
        return False
    if previous == b")":
        # A method of Go has its receiver in front of its name.
        return texts[0] == b"func"
    return previous in (b">", b"]", b"*", b"&") or (is_word(previous) and previous not in _NO_TYPES)


def num_declarations(name: bytes, files: Sequence[SearchedFile]) -> int:
    """Return how often a name is declared in files, as far as its first occurrences tell."""
    found = left = 0
    left = _MAX_OCCURRENCES
    for file in files:
        at = file.data.find(name)
        while at >= 0 and left:
            line = file.lexed.line(file.lexed.line_of(at))
            for number, token in enumerate(line.texts):
                if token == name and line.starts[number] == at:
                    left -= 1
                    found += declares(line.texts, number)
            at = file.data.find(name, at + len(name))
        if not left:
            break
    return found
