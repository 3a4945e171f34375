"""Doing as other edits did: what makes one answer of an editor better than another.

The vector of another edit says what to do, not where and with which names, and an editor that was given one is surer
than it should be. But its answer can be read back: `before → answer` is an edit too, and its vector lies near the
vectors of the edits shown when it does the same as they do. And both are changes of trees, which have something in
common or not. How likely the answer was written, how like the edits shown it is and how much of its change they share
tell right answers from wrong ones better than any of the three alone. And an edit that is shown has words
of its own: where an editor only knows that something unknown goes in, it is what went in there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit, Tokens, Version
from editvec.neural.vocab import MARKS, UNKNOWN
from editvec.rules.sites import Site

MOST_TRIED = 5
"""Where many edits are shown, as many of their vectors are written with."""
LEAST_ANSWERS = 10
"""With each vector, as many answers are there to choose from."""
MOST_COMPARED = 3
"""Where many edits are shown, the changes of as many are compared with an answer's."""
_WEIGHT, _TREE_SIMILARITY = 30.0, 1.0
"""What likeness and tree similarity weigh beside the logarithm of the probability."""
_LINE, _LINE_AS_TREES = (0.38, 1.1), (0.31, 1.2)
"""From that to the logit of being right, without tree similarity and with it: slope and offset. All of these were
fitted on edits that share their shapes (`benchmarks/imitation.py`)."""
SETTINGS = (MOST_TRIED, LEAST_ANSWERS, MOST_COMPARED, _WEIGHT, _TREE_SIMILARITY, _LINE, _LINE_AS_TREES)
"""All that decides between answers, for those who keep them."""


_WORD = re.compile(r"\w+")
_QUOTES = frozenset("\"'`")


def is_made_of(token: str, edit: Edit) -> bool:
    """Whether a literal that an edit puts in is made of what it takes away, such as a string with the words of another:
    then it says nothing about any other place."""
    if not _QUOTES & set(token):
        return False
    gone = set(edit.before.tokens).difference(edit.after.tokens)
    return not set(_WORD.findall(token)).isdisjoint(_WORD.findall(" ".join(gone)))


_T = TypeVar("_T")


def _some(values: Sequence[_T], rows: Sequence[int]) -> tuple[_T, ...]:
    return tuple(values[row] for row in rows) if values else ()


class Demonstrations(NamedTuple):
    """Some edits to do as, at least one."""

    vectors: NDArray[np.float32]
    """[edits, edit_dim]."""
    unnamed: tuple[Tokens, ...] = ()
    """For each the tokens that it puts in and that the model has no name for; empty where nobody knows."""
    sites: tuple[Site | None, ...] = ()
    """For each where it changes its tree, where it has one; empty where nobody knows."""
    afters: tuple[Version, ...] = ()
    """What each came to, for its habits; empty where nobody knows."""

    def at(self, rows: Sequence[int]) -> Demonstrations:
        """Some of them."""
        return Demonstrations(
            self.vectors[rows], _some(self.unnamed, rows), _some(self.sites, rows), _some(self.afters, rows)
        )

    def without(self, row: int) -> Demonstrations:
        """All but one."""
        return self.at([at for at in range(len(self.vectors)) if at != row])

    def named(self, row: int, tokens: Tokens) -> Tokens | None:
        """What an editor wrote with one edit's vector, with that edit's own tokens where it had no name; None where it
        cannot be told which."""
        names = self.unnamed[row] if self.unnamed else ()
        unknown = MARKS[UNKNOWN]
        number = tokens.count(unknown)
        if len(set(names)) == 1:
            names = number * names[:1]
        if len(names) != number:
            return None
        left = iter(names)
        return tuple(next(left) if token == unknown else token for token in tokens)


class FewShotAnswer(NamedTuple):
    """What an editor wrote to do as some edits did."""

    tokens: Tokens
    log_prob: float
    """Averaged over the vectors that it wrote with."""
    likeness: float | None
    """The largest cosine between its vector and one of those shown; None where it could not be read back."""
    tree_similarity: float | None = None
    """How much of its change of the tree it shares with one of those shown; None where these change none."""

    @property
    def score(self) -> float:
        """The logarithm of the chance that it is right; where it could not be read back, of its probability."""
        if self.likeness is None:
            return self.log_prob
        slope, offset = _LINE if self.tree_similarity is None else _LINE_AS_TREES
        logit = (
            slope * (self.log_prob + _WEIGHT * (self.likeness - 1) + _TREE_SIMILARITY * (self.tree_similarity or 0.0))
            + offset
        )
        return min(logit, 0.0) - math.log1p(math.exp(-abs(logit)))
