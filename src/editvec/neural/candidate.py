"""A candidate: an `after` that an editor proposes."""

from __future__ import annotations

from typing import NamedTuple

from editvec.core.edit import Tokens


class Candidate(NamedTuple):
    """An `after` that an editor proposes.

    `score` is its log-probability or, after it was read back, the logarithm of the probability that it is correct.
    `complete` is False if it contains a token that the model could not name.
    """

    tokens: Tokens
    score: float
    complete: bool
