"""Writing a token piece by piece.

A token begins with a piece, whose probability is a share of that of all tokens; from there, only pieces and CLOSE can
follow until the token is closed. The number of pieces of the token so far is called its progress; it is 0 outside of
spelled tokens.
"""

from __future__ import annotations

import numpy as np

from editvec.neural.arrays import Array, Floats, Ints, affine, chosen_softmax, place, sigmoid, softmax, take, where
from editvec.neural.layers.generator import ChoiceScores
from editvec.neural.layers.layer import Embedding, Layer, Linear, Weight, filled
from editvec.neural.pieces import CLOSE

_FIRST_BIAS = -2.0


class Speller(Layer):
    """A layer that maps states to distributions over pieces and CLOSE.

    With `tied_to`, the embeddings of the pieces are the weights.
    """

    def __init__(self, *, dim: int, num_pieces: int, tied_to: Embedding | None) -> None:
        self.begin = Linear(dim, 1)
        # Few tokens are spelled, and a trained model that gets pieces should write the others as before.
        self.begin.bias = Weight((1,), filled(_FIRST_BIAS))
        self.scores = ChoiceScores(dim, num_pieces, tied_to, 0)

    def share(self, states: Array, progress: Ints) -> Array:
        """Return the probability that the next choice is a piece or CLOSE: [batch, n].

        Shapes: `states` [batch, n, dim], `progress` [batch, n].
        """
        return where(sigmoid(self.begin(states))[..., 0], progress == 0, 1.0)

    def probability_of(self, states: Array, progress: Ints, pieces: Ints) -> Array:
        """Return the probability of one piece per state, given that it is a piece: [n].

        Shapes: `states` [n, dim], `progress` and `pieces` [n].
        """
        weight, bias = self.scores.weight, self.scores.bias.value
        first, later = np.flatnonzero(progress == 0), np.flatnonzero(progress > 0)
        # A token has at least one piece, so CLOSE, which is the first row, is not among the choices at its start.
        begun = chosen_softmax(take(states, first), weight[1:], bias[1:], pieces[first] - 1)
        followed = chosen_softmax(take(states, later), weight, bias, pieces[later])
        return place(begun, first, len(pieces)) + place(followed, later, len(pieces))

    def spread(self, states: Floats, progress: Ints) -> Floats:
        """Return the probabilities of all pieces, given that the next choice is a piece: [n, pieces].

        Shapes: `states` [n, dim], `progress` [n].
        """
        allowed = np.ones((len(states), self.scores.num_choices), np.bool_)
        allowed[progress == 0, CLOSE] = False
        scores: Floats = softmax(affine(states, self.scores.weight, self.scores.bias.value), allowed)
        return scores * allowed


def rolled(values: Array, shifts: Ints) -> Array:
    """Return rows whose columns are moved to the right by a number of places, and from the end to the front.

    Moved by different numbers of places, the same values hardly resemble each other, so a sum of moved embeddings
    tells not only which pieces there are, but also where. Shapes: `values` [n, dim], `shifts` [n].
    """
    num, dim = values.shape
    cells = dim * np.arange(num)[:, None] + (np.arange(dim) - shifts[:, None]) % dim
    return take(values.reshape(num * dim), cells.reshape(-1)).reshape(num, dim)
