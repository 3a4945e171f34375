"""The large matrix products of training, in the precision that the processor multiplies fastest.

Where that was asked for, the factors of a large product are rounded to bfloat16, which torch has no switch for on most
processors; it is summed in float32 and rounded again when it is done. Weights, states and all else stay float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import functional

_precision = torch.float32


@contextmanager
def precision(name: str) -> Iterator[None]:
    """Multiply in a precision inside: "float32", "bfloat16", or "auto" (see `resolved`)."""
    global _precision
    before = _precision
    _precision = torch.bfloat16 if resolved(name) == "bfloat16" else torch.float32
    try:
        yield
    finally:
        _precision = before


def resolved(name: str) -> str:
    """Return a precision without "auto": bfloat16 where the processor has instructions for it, else float32."""
    if name != "auto":
        return name
    return "bfloat16" if has_bfloat16() else "float32"


def has_bfloat16() -> bool:
    """Return whether the processor is known to have instructions for bfloat16 (AVX-512's)."""
    known = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return known is not None and bool(known())


def padded(rows: int) -> int:
    """Return how many rows a table of some rows has as a factor in bfloat16.

    oneDNN keeps a program for each number, so there are a few: from a thousand on eight between a power of two and the
    next.
    """
    return rows + -rows % max(64, 1 << max(4, rows.bit_length()) - 4)


def product(table: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return `table` · `weight` + `bias`, multiplied in the precision that was asked for: [..., rows, out].

    `table` [..., rows, dim], `weight` [..., dim, out], `bias` [..., out]. The gradient is found in the same precision.
    """
    if _precision != torch.bfloat16:
        if table.dim() == 2:
            return torch.addmm(bias, table, weight)
        return torch.baddbmm(bias[:, None], table, weight)
    rows = table.shape[-2]
    ready = functional.pad(table.to(_precision), (0, 0, 0, padded(rows) - rows))
    return (ready @ weight.to(_precision))[..., :rows, :].float() + bias[..., None, :]
