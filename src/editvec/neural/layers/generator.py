"""The output layer over a large vocabulary, which takes half of the training time.

Choices are ordered by frequency. If the layer has a head, it first scores the frequent choices and one extra choice
that stands for the tail as a whole. The tail is scored only if it is needed: most targets are in the head, and so are
most choices that a search considers (Grave et al., 2017, with a tail of one cluster).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from editvec.neural.arrays import Array, Floats, Ints, affine, chosen_softmax, concat, replace, softmax, take
from editvec.neural.layers.layer import Embedding, Layer, Linear, Weight, nothing, uniform


class Spread(NamedTuple):
    """Probabilities of the head's choices and of the tail as a whole."""

    head: Floats  # [n, head size]
    tail: Floats | None  # [n], the total probability of the tail; None without a tail


class ChoiceScores(Layer):
    """A linear layer that maps states to the scores of choices.

    With `tied_to`, the weights are rows of an embedding, starting at `first_row`.
    """

    def __init__(self, dim: int, num_choices: int, tied_to: Embedding | None, first_row: int) -> None:
        self.num_choices, self.tied_to, self.first_row = num_choices, tied_to, first_row
        if tied_to is None:
            self.own_weight = Weight((num_choices, dim), uniform(dim**-0.5))
        self.bias = Weight((num_choices,), nothing)

    @property
    def weight(self) -> Array:
        """Return the weights: [num_choices, dim]."""
        if self.tied_to is None:
            return self.own_weight.value
        return self.tied_to.weight.value[self.first_row : self.first_row + self.num_choices]


class Generator(Layer):
    """A layer that maps states to a distribution over `num_choices` choices.

    With a `head_size` of 0, there is no tail.
    """

    def __init__(
        self,
        *,
        dim: int,
        num_choices: int,
        head_size: int = 0,
        tail_dim: int = 0,
        tied_to: Embedding | None = None,
        first_row: int = 0,
    ) -> None:
        self.has_tail = 0 < head_size < num_choices
        self.head_size = head_size if self.has_tail else num_choices
        self.head = ChoiceScores(dim, self.head_size, tied_to, first_row)
        if self.has_tail:
            self.any_of_tail = Linear(dim, 1)
            self.project = Linear(dim, dim if tied_to else tail_dim, bias=False)
            self.tail = ChoiceScores(
                self.project.dim, num_choices - self.head_size, tied_to, first_row + self.head_size
            )

    def probability_of(self, states: Array, choices: Ints) -> Array:
        """Return the probability of one choice per state: [n].

        Shapes: `states` [n, dim], `choices` [n].
        """
        weight, bias = self.head.weight, self.head.bias.value
        if not self.has_tail:
            return chosen_softmax(states, weight, bias, choices)
        more = self.any_of_tail
        assert more.bias is not None
        weight, bias = concat(weight, more.weight.value, axis=0), concat(bias, more.bias.value)
        found = chosen_softmax(states, weight, bias, np.minimum(choices, self.head_size))
        rare = np.flatnonzero(choices >= self.head_size)
        projected = self.project(take(states, rare))
        tail = chosen_softmax(projected, self.tail.weight, self.tail.bias.value, choices[rare] - self.head_size)
        return replace(found, rare, take(found, rare) * tail)

    def spread(self, states: Floats) -> Spread:
        """Return the probabilities of all choices of the head, and of the tail as a whole.

        This is for inference only. Shapes: `states` [n, dim]; see `Spread`.
        """
        head = affine(states, self.head.weight, self.head.bias.value)
        if not self.has_tail:
            return Spread(softmax(head), None)
        scores = softmax(concat(head, self.any_of_tail(states)))
        return Spread(scores[:, : self.head_size], scores[:, self.head_size])

    def tail_spread(self, states: Floats) -> Floats:
        """Return the probabilities of the tail's choices, given that the choice is in the tail: [n, tail size].

        Shapes: `states` [n, dim].
        """
        spread: Floats = softmax(affine(self.project(states), self.tail.weight, self.tail.bias.value))
        return spread
