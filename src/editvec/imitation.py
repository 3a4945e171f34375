"""Doing as other edits did: what makes one answer of an editor better than another.

The vector of another edit says what to do, not where and with which names, and an editor that was given one is surer
than it should be. But its answer can be read back: `before → answer` is an edit too, and its vector lies near the
vectors of the edits shown when it does the same as they do. Both together, how likely the answer was written and how
like the edits shown it is, tell right answers from wrong ones better than either.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from editvec.edit import Tokens

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
