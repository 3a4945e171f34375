"""The limits of the machine: the speed of torch's matrix multiplication and LSTM.

Benchmarks measure these limits in the same run as the code that they compare, because times vary on a shared machine
and ratios vary less.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn


def seconds(work: Callable[[], object], *, repeats: int = 7) -> float:
    """The least of several timings."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def matmul_gflops() -> float:
    """Of torch's matrix multiplication at the size of the paper's generator."""
    first, second = torch.randn(576, 256), torch.randn(256, 10_000)
    return 2 * 576 * 256 * 10_000 / seconds(lambda: first @ second) / 1e9


def lstm_gflops() -> float:
    """Of torch's LSTM, forward and backward, at the size of the paper's edit encoder."""
    layer, inputs = nn.LSTM(288, 256, batch_first=True), torch.randn(32, 20, 288, requires_grad=True)

    def work() -> None:
        states, _ = layer(inputs)
        torch.autograd.grad(states.sum(), [inputs, *layer.parameters()])

    return 3 * lstm_flops(288, 256) * 32 * 20 / seconds(work) / 1e9


def lstm_flops(input_dim: int, dim: int) -> int:
    """Of one step of one sequence, forward."""
    return 2 * (input_dim + dim) * 4 * dim
