"""The large matrix products of training, in the precision that the processor multiplies fastest.

Where that was asked for, the factors of a large product are rounded to bfloat16, which torch has no switch for on most
processors; it is summed in float32 and rounded again when it is done. Weights, states and all else stay float32.
Products over many rows take a table that was `prepared`: it may have rows of zeros below, so that few different sizes
occur, because oneDNN keeps a program for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

_precision = torch.float32


@contextmanager
def precision(name: str) -> Iterator[None]:
    """How factors are prepared inside: "float32", "bfloat16", or "auto" (see `resolved`)."""
    global _precision
    before = _precision
    _precision = torch.bfloat16 if resolved(name) == "bfloat16" else torch.float32
    try:
        yield
    finally:
        _precision = before


def resolved(name: str) -> str:
    """A precision without "auto": that is bfloat16 where the processor has instructions for it, else float32."""
    if name != "auto":
        return name
    return "bfloat16" if has_bfloat16() else "float32"


def has_bfloat16() -> bool:
    """Whether the processor is known to have instructions for bfloat16 (AVX-512's)."""
    known = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return known is not None and bool(known())


def prepared(table: Tensor, precision: torch.dtype | None = None) -> Tensor:
    """`table` [..., n, dim] as the factor of large products: [..., at least n, dim]."""
    precision = precision or _precision
    num = table.shape[-2]
    if precision != torch.bfloat16:
        return table
    # A few sizes, and from a thousand on eight between a power of two and the next.
    more = -num % max(64, 1 << max(4, num.bit_length()) - 4)
    if not more:
        return table.to(precision)
    ready = table.new_empty(*table.shape[:-2], num + more, table.shape[-1], dtype=precision)
    ready[..., :num, :] = table
    ready[..., num:, :] = 0
    return ready


def by_rows(ready: Tensor, weight: Tensor, num: int) -> Tensor:
    """A prepared table of `num` rows times `weight` [..., dim, out]: [..., num, out]."""
    if ready.dtype != torch.bfloat16:
        return ready @ weight
    return (ready @ weight.to(ready.dtype))[..., :num, :].float()


def affine_by_rows(bias: Tensor, ready: Tensor, weight: Tensor, num: int, out: Tensor) -> Tensor:
    """`bias` [out] + a prepared table of `num` rows times `weight` [dim, out], written to `out` [num, out]."""
    if ready.dtype != torch.bfloat16:
        return torch.addmm(bias, ready, weight, out=out)
    return torch.add(by_rows(ready, weight, num), bias, out=out)


def add_by_rows(total: Tensor, ready: Tensor, weight: Tensor, num: int) -> Tensor:
    """Adds a prepared table of `num` rows times `weight` [dim, out] to `total` [num, out]."""
    if ready.dtype != torch.bfloat16:
        return total.addmm_(ready, weight)
    return total.add_(by_rows(ready, weight, num))


def over_rows(one: Tensor, other: Tensor) -> Tensor:
    """The sum over rows of the outer products of two prepared tables: [..., dim of one, dim of the other]."""
    found = one.transpose(-1, -2) @ other
    return found.float() if found.dtype == torch.bfloat16 else found
