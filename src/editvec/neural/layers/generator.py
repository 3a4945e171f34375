"""The last layer over a large vocabulary, where half of the training time goes.

Choices are in the order of their frequency. With a head, the frequent ones and one more, "something of the tail", are
scored first, and the tail only where it is asked for: most targets are in the head, and so is most of what a search
looks at (Grave et al., 2017, with a tail of one cluster).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from editvec.neural.layers.products import by_rows, over_rows, prepared


class Spread(NamedTuple):
    """Probabilities over choices, the tail left out."""

    head: Tensor  # [n, head size]
    tail: Tensor | None  # [n], of all choices of the tail together; None where there is no tail


class _Scores(nn.Module):
    """States → scores; with `tied_to` the weights are rows of an embedding, from `first_row` on."""

    def __init__(self, dim: int, num_choices: int, tied_to: nn.Embedding | None, first_row: int) -> None:
        super().__init__()
        self.num_choices, self.tied_to, self.first_row = num_choices, tied_to, first_row
        if tied_to is None:
            self.own_weight = nn.Parameter(torch.empty(num_choices, dim))
            nn.init.uniform_(self.own_weight, -(dim**-0.5), dim**-0.5)
        self.bias = nn.Parameter(torch.zeros(num_choices))

    @property
    def weight(self) -> Tensor:
        """[num_choices, dim]"""
        if self.tied_to is None:
            return self.own_weight
        return self.tied_to.weight[self.first_row : self.first_row + self.num_choices]


class Generator(nn.Module):
    """States → a distribution over `num_choices`. `head_size` 0 has no tail."""

    def __init__(
        self,
        *,
        dim: int,
        num_choices: int,
        head_size: int = 0,
        tail_dim: int = 0,
        tied_to: nn.Embedding | None = None,
        first_row: int = 0,
    ) -> None:
        super().__init__()
        self.has_tail = 0 < head_size < num_choices
        self.head_size = head_size if self.has_tail else num_choices
        self.head = _Scores(dim, self.head_size, tied_to, first_row)
        if self.has_tail:
            self.any_of_tail = nn.Linear(dim, 1)
            self.project = nn.Linear(dim, dim if tied_to else tail_dim, bias=False)
            self.tail = _Scores(
                self.project.out_features, num_choices - self.head_size, tied_to, first_row + self.head_size
            )

    def probability_of(self, states: Tensor, choices: Tensor) -> Tensor:
        """The probability of one choice a state: `states` [n, dim], `choices` [n] → [n]."""
        found = _chosen(states, *self._head_weights(), choices.clamp(max=self.head_size))
        if not self.has_tail:
            return found
        rare = (choices >= self.head_size).nonzero().squeeze(1)
        tail = _chosen(self.project(states[rare]), self.tail.weight, self.tail.bias, choices[rare] - self.head_size)
        return found * torch.ones_like(found).index_put((rare,), tail)

    def spread(self, states: Tensor) -> Spread:
        """The probabilities of all choices of the head, and of the tail as a whole. Not for training."""
        weight, bias = self._head_weights()
        scores = _softmax_(torch.addmm(bias, states, weight.t()))
        return Spread(scores[:, : self.head_size], scores[:, self.head_size] if self.has_tail else None)

    def tail_spread(self, states: Tensor) -> Tensor:
        """The probabilities of the tail's choices, given that it is one of them: [n, tail size]."""
        return _softmax_(torch.addmm(self.tail.bias, self.project(states), self.tail.weight.t()))

    def _head_weights(self) -> tuple[Tensor, Tensor]:
        if not self.has_tail:
            return self.head.weight, self.head.bias
        more = self.any_of_tail
        return torch.cat([self.head.weight, more.weight]), torch.cat([self.head.bias, more.bias])


def _softmax_(scores: Tensor) -> Tensor:
    """In place, each row."""
    scores.sub_(scores.amax(1, keepdim=True)).exp_()
    return scores.mul_(scores.sum(1, keepdim=True).reciprocal_())


def _chosen(states: Tensor, weight: Tensor, bias: Tensor, choices: Tensor) -> Tensor:
    probability: Tensor = _Chosen.apply(states, weight, bias, choices)  # type: ignore[no-untyped-call]
    return probability


class _Chosen(torch.autograd.Function):
    """softmax(states · weightᵀ + bias)[choice] with its gradient by hand: the one large array is written in place,
    three times less traffic than torch's own chain of operations."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, choices: Tensor) -> Tensor:
        ready = prepared(states)
        scores = by_rows(ready, weight.t(), len(states)).add_(bias)
        if not len(states):
            ctx.save_for_backward(ready, weight, choices, scores, scores.sum(1), scores.sum(1))
            return scores.sum(1)
        exponents = scores.sub_(scores.amax(1, keepdim=True)).exp_()
        inverse = exponents.sum(1).reciprocal_()
        chosen = exponents.gather(1, choices[:, None]).squeeze(1).mul_(inverse)
        ctx.save_for_backward(ready, weight, choices, exponents, inverse, chosen)
        return chosen

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        ready, weight, choices, exponents, inverse, chosen = ctx.saved_tensors
        # d chosen / d score = chosen · (1[choice] − softmax); the exponents become that in place, so once only.
        slope = gradients[0] * chosen
        scores = exponents.mul_(-(slope * inverse)[:, None])
        scores.scatter_add_(1, choices[:, None], slope[:, None])
        of_scores = prepared(scores, ready.dtype)
        return by_rows(of_scores, weight, len(scores)), over_rows(of_scores, ready), scores.sum(0), None
