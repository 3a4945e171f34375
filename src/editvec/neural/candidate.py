"""A candidate: what an editor would write."""

from __future__ import annotations

from typing import NamedTuple

from editvec.core.edit import Tokens


class Candidate(NamedTuple):
    """What an editor would write.

    `score` is its log-probability or, where it was read back, the logarithm of the probability that it is right.
    `complete` is False where it holds a token that the model could not name.
    """

    tokens: Tokens
    score: float
    complete: bool
