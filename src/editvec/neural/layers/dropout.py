"""Dropout that makes four choices of each random number: torch draws one for each, which is a fortieth of a step of
training."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_LEVELS = 1 << 16


class Dropout(nn.Module):
    """Zeros a share `p` < 1 of all numbers in training, in steps of 1 / 65,536, and scales the rest up."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self._dropped = min(round(p * _LEVELS), _LEVELS - 1)

    def forward(self, values: Tensor) -> Tensor:
        """`values` of any shape."""
        if not self.training or not self._dropped:
            return values
        drawn = torch.empty(-(-values.numel() // 4), dtype=torch.int64).random_(-(1 << 63), None)
        levels = drawn.view(torch.int16)[: values.numel()].view(values.shape)
        kept = levels >= self._dropped - _LEVELS // 2
        return values * kept.to(values.dtype).mul_(_LEVELS / (_LEVELS - self._dropped))
