"""The large matrix products of training, in the precision that the processor multiplies fastest.

Weights, states and sums stay float32; the factors of a large product are rounded to bfloat16 where that was asked for,
which torch has no switch for on most processors. Products over many rows take a table that was `prepared`: it may have
rows of zeros below, so that few different sizes occur, because oneDNN keeps a program for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

_precision = torch.float32


@contextmanager
def precision(name: str) -> Iterator[None]:
    """How factors are prepared inside: "float32", "bfloat16" or "auto": bfloat16 where the processor has
    instructions for it."""
    global _precision
    before = _precision
    _precision = torch.bfloat16 if name == "bfloat16" or (name == "auto" and has_bfloat16()) else torch.float32
    try:
        yield
    finally:
        _precision = before


def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 by itself."""
    return bool(torch.cpu._is_avx512_bf16_supported())


def prepared(table: Tensor, precision: torch.dtype | None = None) -> Tensor:
    """`table` [..., n, dim] as the factor of large products: [..., at least n, dim]."""
    precision = precision or _precision
    num = table.shape[-2]
    if precision != torch.bfloat16:
        return table
    # Eight sizes between a power of two and the next.
    more = -num % max(16, 1 << max(4, num.bit_length()) - 4)
    if not more:
        return table.to(precision)
    ready = table.new_empty(*table.shape[:-2], num + more, table.shape[-1], dtype=precision)
    ready[..., :num, :] = table
    ready[..., num:, :] = 0
    return ready


def by_rows(ready: Tensor, weight: Tensor, num: int) -> Tensor:
    """A prepared table of `num` rows times `weight` [..., dim, out]: [..., num, out], as precise as the weight."""
    if ready.dtype != torch.bfloat16:
        return ready @ weight
    return (ready @ weight.to(ready.dtype))[..., :num, :].float()


def over_rows(one: Tensor, other: Tensor) -> Tensor:
    """The sum over rows of the outer products of two prepared tables: [..., dim of one, dim of the other]."""
    found = one.transpose(-1, -2) @ other
    return found.float() if found.dtype == torch.bfloat16 else found
