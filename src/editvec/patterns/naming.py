"""Quotations, words and file names for a group of edits, from its commit messages and the tokens that it changes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set

from editvec.core.edit import Edit
from editvec.diff.signature import Signature
from editvec.patterns.wording import clipped
from editvec.syntax.lexer import subwords
from editvec.syntax.token import decode, encode

_WORD = re.compile(r"[A-Za-z][\w.]*[A-Za-z0-9]|[A-Za-z]")
_NOISE = re.compile(r"\s*(\(#\d+\)|#\d+|\[[^\]]{1,20}\])\s*|^\w+(\([^)]*\))?!?:\s+|^[A-Z]{2,}-\d+:?\s+")
_EMPTY = frozenset(
    "a an and are as at be by can do for from has have if in into is it its more my no not of on or our so some that "
    "the their then there this to up us was we when which while will with you your merge pull request branch commit "
    "fix fixes fixed update updates updated change changes changed add adds added remove removes removed".split()
)
_NAME = re.compile(r"[^\W\d]\w*$")
_LONGEST = 72


class Messages:
    """The subject lines of the commits of a history, and the frequencies of their words."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._subjects: dict[str, str] = {}
        for edit in edits:
            if edit.source and edit.source.commit:
                self._subjects.setdefault(edit.source.commit, subject_of(edit.source.message))
        self._counts = Counter(word for subject in self._subjects.values() for word in _words(subject))

    def quotation(self, edits: Sequence[Edit], changed: Set[str]) -> str:
        """Return the subject line of the edits' commits that is most characteristic of them; empty if none fits.

        Only a subject that shares a word with the change is quoted; `changed` holds the words of the change in lower
        case. Of these, the one with the most shared words is taken, then the one with the most characteristic words:
        the sum of their weights, divided by sqrt(number of words + 3).
        """
        commits = sorted({edit.source.commit for edit in edits if edit.source and edit.source.commit})
        own = Counter(word for commit in commits for word in _words(self._subjects[commit]))
        best, quotation = (0, 0.0), ""
        for commit in commits:
            words = _words(self._subjects[commit])
            shared = len(changed & {part for word in _WORD.findall(self._subjects[commit]) for part in _parts(word)})
            weight = sum(self._weight(word, own, len(commits)) for word in words) / math.sqrt(len(words) + 3)
            if shared and (shared, weight) > best:
                best, quotation = (shared, weight), self._subjects[commit]
        return quotation

    def telling(self, edits: Sequence[Edit], most: int = 3) -> tuple[str, ...]:
        """Return the words that the edits' commits share and others seldom use, the most characteristic first."""
        commits = sorted({edit.source.commit for edit in edits if edit.source and edit.source.commit})
        own = Counter(word for commit in commits for word in _words(self._subjects[commit]))
        weights = {word: self._weight(word, own, len(commits)) for word, count in own.items() if count > 1}
        return tuple(sorted((word for word in weights if weights[word] > 0), key=lambda w: (-weights[w], w))[:most])

    def _weight(self, word: str, own: Counter[str], size: int) -> float:
        """Return the weight of a word: its share in these commits × log(this share / its share in all commits)."""
        share = own[word] / size
        return share * math.log(share * len(self._subjects) / self._counts[word]) if own[word] else 0.0


def subject_of(message: str) -> str:
    """Return the first line of a commit message, shortened and without ticket numbers and prefixes."""
    line = message.strip().splitlines()[0] if message.strip() else ""
    line = " ".join(_NOISE.sub(" ", line).split())
    return clipped(line, _LONGEST)


def slug_of(signature: Signature, title: str = "") -> str:
    """Return a file name for a pattern: the names that the change adds or removes.

    If only punctuation changes, the name is made from the title.
    """
    removed = [
        token for run in signature.runs for token in run[0] if _NAME.match(token) and not token.startswith("VAR")
    ]
    added = [token for run in signature.runs for token in run[1] if _NAME.match(token) and not token.startswith("VAR")]
    new = [token for token in added if token not in removed and token != "LITERAL"]
    gone = [token for token in removed if token not in added and token != "LITERAL"]
    if new and gone:
        words = [*gone[:2], "to", *new[:2]]
    elif new:
        words = ["add", *new[:3]]
    elif gone:
        words = ["drop", *gone[:3]]
    else:
        words = [title or "rewrite"]
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", " ".join(words))
    return "-".join(part.lower() for part in parts)[:48].strip("-") or "rewrite"


def _words(subject: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(subject)} - _EMPTY


def _parts(word: str) -> set[str]:
    """Return a word and the parts of the names in it, in lower case, with and without the s of a plural."""
    parts = {decode(part).lower() for name in word.split(".") for part in (*subwords(encode(name)), encode(name))}
    return {each for part in parts if len(part) > 1 for each in (part, part.removesuffix("s"))} - _EMPTY
