"""The torch bodies of `neural.arrays`: importing this module lets the networks run on tensors, with gradients.

Indices and masks stay NumPy arrays in the networks; they become tensors here, over the same memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from editvec.neural import arrays
from editvec.neural.arrays import Ints, Mask
from editvec.training.gradients import Chosen, Recurrence, Rounds

_LEVELS = 1 << 16
_is_learning = False


@contextmanager
def learning(on: bool = True) -> Iterator[None]:
    """Let networks drop out, and spare what a gradient hardly needs, inside."""
    global _is_learning
    before, _is_learning = _is_learning, on
    try:
        yield
    finally:
        _is_learning = before


@arrays.is_learning.register(Tensor)
def _(values: Tensor) -> bool:
    return _is_learning


@arrays.as_numpy.register(Tensor)
def _(values: Tensor) -> NDArray[Any]:
    return values.detach().numpy()


@arrays.of_kind.register(Tensor)
def _(like: Tensor, values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(values)


@arrays.zeros.register(Tensor)
def _(like: Tensor, *shape: int) -> Tensor:
    return like.new_zeros(shape)


@arrays.concat.register(Tensor)
def _(first: Tensor, *others: Tensor, axis: int = -1) -> Tensor:
    return torch.cat([first, *others], axis)


@arrays.where.register(Tensor)
def _(values: Tensor, mask: Mask, other: Tensor | float = 0.0) -> Tensor:
    return torch.where(torch.from_numpy(mask), values, other)


@arrays.take.register(Tensor)
def _(table: Tensor, rows: Ints) -> Tensor:
    numbers = torch.from_numpy(rows)
    # The gradient of an embedding is found faster than that of an index.
    return functional.embedding(numbers, table) if table.dim() == 2 else table.index_select(0, numbers)


@arrays.place.register(Tensor)
def _(values: Tensor, rows: Ints, size: int) -> Tensor:
    return values.new_zeros(size, *values.shape[1:]).index_copy(0, torch.from_numpy(rows), values)


@arrays.replace.register(Tensor)
def _(table: Tensor, rows: Ints, values: Tensor) -> Tensor:
    return table.index_copy(0, torch.from_numpy(rows), values)


@arrays.scatter_add.register(Tensor)
def _(values: Tensor, rows: Ints, size: int) -> Tensor:
    return values.new_zeros(size, *values.shape[1:]).index_add(0, torch.from_numpy(rows), values)


@arrays.softmax.register(Tensor)
def _(scores: Tensor, mask: Mask | None = None) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(torch.from_numpy(~mask), torch.finfo(scores.dtype).min)
    return scores.softmax(-1)


@arrays.dropout.register(Tensor)
def _(values: Tensor, share: float) -> Tensor:
    """Make four choices of each random number, in steps of 1 / 65,536: torch draws one for each, which is a fortieth of
    a step of training."""
    dropped = min(round(share * _LEVELS), _LEVELS - 1)
    if not _is_learning or not dropped:
        return values
    drawn = torch.empty(-(-values.numel() // 4), dtype=torch.int64).random_(-(1 << 63), None)
    levels = drawn.view(torch.int16)[: values.numel()].view(values.shape)
    kept = levels >= dropped - _LEVELS // 2
    return values * kept.to(values.dtype).mul_(_LEVELS / (_LEVELS - dropped))


arrays.affine.register(Tensor, functional.linear)
arrays.tanh.register(Tensor, torch.tanh)
arrays.sigmoid.register(Tensor, torch.sigmoid)
arrays.log.register(Tensor, torch.log)


@arrays.chosen_softmax.register(Tensor)
def _(states: Tensor, weight: Tensor, bias: Tensor, choices: Ints) -> Tensor:
    found: Tensor = Chosen.apply(states, weight, bias, torch.from_numpy(choices))  # type: ignore[no-untyped-call]
    return found


@arrays.lstm.register(Tensor)
def _(*given: Any) -> tuple[Tensor, Tensor]:
    found: tuple[Tensor, Tensor] = Recurrence.apply(*given)  # type: ignore[no-untyped-call]
    return found


@arrays.graph_rounds.register(Tensor)
def _(*given: Any) -> Tensor:
    found: Tensor = Rounds.apply(*given)  # type: ignore[no-untyped-call]
    return found
