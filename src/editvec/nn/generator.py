"""The last layer over a large vocabulary, where half of the training time goes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Generator(nn.Module):
    """States → a distribution over `num_choices`. With `tied_to` its weights are rows of an embedding, from
    `first_row` on."""

    def __init__(self, *, dim: int, num_choices: int, tied_to: nn.Embedding | None = None, first_row: int = 0) -> None:
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

    def forward(self, states: Tensor) -> Tensor:
        """`states` [n, dim] → probabilities [n, num_choices]."""
        return functional.linear(states, self.weight, self.bias).softmax(-1)

    def probability_of(self, states: Tensor, choices: Tensor) -> Tensor:
        """The probability of one choice a state: [n]. The same numbers as `forward`'s, made in less memory."""
        probability: Tensor = _Chosen.apply(states, self.weight, self.bias, choices)  # type: ignore[no-untyped-call]
        return probability


class _Chosen(torch.autograd.Function):
    """softmax(states · weightᵀ + bias)[choice] with its gradient by hand: the one large array is written in place,
    three times less traffic than torch's own chain of operations."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, choices: Tensor) -> Tensor:
        scores = torch.addmm(bias, states, weight.t())
        exponents = scores.sub_(scores.amax(1, keepdim=True)).exp_()
        inverse = exponents.sum(1).reciprocal_()
        chosen = exponents.gather(1, choices[:, None]).squeeze(1).mul_(inverse)
        ctx.save_for_backward(states, weight, choices, exponents, inverse, chosen)
        return chosen

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        states, weight, choices, exponents, inverse, chosen = ctx.saved_tensors
        # d chosen / d score = chosen · (1[choice] − softmax); the exponents become that in place, so once only.
        slope = gradients[0] * chosen
        scores = exponents.mul_(-(slope * inverse)[:, None])
        scores.scatter_add_(1, choices[:, None], slope[:, None])
        return scores @ weight, scores.t() @ states, scores.sum(0), None
