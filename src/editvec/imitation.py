"""Doing as other edits did: what makes one answer of an editor better than another.

The vector of another edit says what to do, not where and with which names, and an editor that was given one is surer
than it should be. But its answer can be read back: `before → answer` is an edit too, and its vector lies near the
vectors of the edits shown when it does the same as they do. Both together, how likely the answer was written and how
like the edits shown it is, tell right answers from wrong ones better than either. And an edit that is shown has words
of its own: where an editor only knows that something unknown goes in, it is what went in there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from editvec.edit import Tokens
from editvec.vocab import MARKS, UNKNOWN

MOST_TRIED = 5
"""Where many edits are shown, as many of their vectors are written with."""
LEAST_ANSWERS = 10
"""With each vector, as many answers are there to choose from."""
_WEIGHT = 30.0
"""What likeness weighs beside the logarithm of the probability."""
_SLOPE, _OFFSET = 0.45, 2.3
"""Of the line from both to the logit of being right. All three were fitted on edits that share their shapes
(`benchmarks/imitation.py`)."""
SETTINGS = (MOST_TRIED, LEAST_ANSWERS, _WEIGHT, _SLOPE, _OFFSET)
"""All that decides between answers, for those who keep them."""


class Shown(NamedTuple):
    """Some edits to do as, at least one."""

    vectors: NDArray[np.float32]
    """[edits, edit_dim]."""
    unnamed: tuple[Tokens, ...] = ()
    """For each the tokens that it puts in and that the model has no name for; empty where nobody knows."""

    def at(self, rows: Sequence[int]) -> Shown:
        """Some of them."""
        return Shown(self.vectors[rows], tuple(self.unnamed[row] for row in rows) if self.unnamed else ())

    def without(self, row: int) -> Shown:
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


class Imitation(NamedTuple):
    """What an editor wrote to do as some edits did."""

    tokens: Tokens
    log_prob: float
    """Averaged over the vectors that it wrote with."""
    likeness: float | None
    """The largest cosine between its vector and one of those shown; None where it could not be read back."""

    @property
    def score(self) -> float:
        """The logarithm of the chance that it is right; where it could not be read back, of its probability."""
        if self.likeness is None:
            return self.log_prob
        logit = _SLOPE * (self.log_prob + _WEIGHT * (self.likeness - 1)) + _OFFSET
        return min(logit, 0.0) - math.log1p(math.exp(-abs(logit)))
