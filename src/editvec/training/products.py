"""The large matrix products of training, in the precision that is fastest on the processor.

In bfloat16, the factors of a large product are rounded to bfloat16, and the product is summed in float32 and then
rounded. On most processors, torch has no setting for this. Weights, states and everything else stay in float32.
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
    """Compute products inside the context in a precision: "float32", "bfloat16" or "auto" (see `resolved`)."""
    global _precision
    before = _precision
    _precision = torch.bfloat16 if resolved(name) == "bfloat16" else torch.float32
    try:
        yield
    finally:
        _precision = before


def resolved(name: str) -> str:
    """Return a precision other than "auto".

    "auto" becomes bfloat16 if the processor has instructions for it, else float32.
    """
    if name != "auto":
        return name
    return "bfloat16" if has_bfloat16() else "float32"


def has_bfloat16() -> bool:
    """Return whether the processor is known to have AVX-512 instructions for bfloat16."""
    known = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return known is not None and bool(known())


def padded(rows: int) -> int:
    """Return the number of rows to which a factor in bfloat16 is padded.

    oneDNN compiles and caches a program for each number of rows. Padding limits these to a few different numbers: from
    a thousand rows on, eight between each power of two and the next.
    """
    return rows + -rows % max(64, 1 << max(4, rows.bit_length()) - 4)


def product(table: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return table · weight + bias, computed in the current precision.

    The gradient is computed in the same precision. Shapes: `table` [..., rows, dim], `weight` [..., dim, out], `bias`
    [..., out]; the result has [..., rows, out].
    """
    if _precision != torch.bfloat16:
        if table.dim() == 2:
            return torch.addmm(bias, table, weight)
        return torch.baddbmm(bias[:, None], table, weight)
    rows = table.shape[-2]
    ready = functional.pad(table.to(_precision), (0, 0, 0, padded(rows) - rows))
    return (ready @ weight.to(_precision))[..., :rows, :].float() + bias[..., None, :]
