"""Large products in bfloat16 are those in float32, but for rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from editvec.neural.layers.generator import Generator
from editvec.neural.layers.graph import GraphNetwork
from editvec.neural.layers.layer import Layer
from editvec.neural.layers.packing import Edges, Wiring
from editvec.neural.layers.recurrent import LSTM
from editvec.training.learner import parameters_of
from editvec.training.products import has_bfloat16, padded, precision, product


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 17, 129, 1_000])
def test_rows_are_added_for_the_processor_and_taken_away_again(rows: int) -> None:
    torch.manual_seed(0)
    given = [torch.randn(2, *size, requires_grad=True) for size in ((rows, 5), (5, 3), (3,))]
    slopes = torch.randn(2, rows, 3)
    assert rows <= padded(rows) <= max(rows + 63, rows * 9 // 8)
    with precision("bfloat16"):
        found = product(*given)
    exact = product(*given)
    assert found.dtype == torch.float32
    torch.testing.assert_close(exact, given[0] @ given[1] + given[2][:, None])
    torch.testing.assert_close(found, exact, rtol=0.02, atol=0.05)
    torch.testing.assert_close(product(*(each[0] for each in given)), exact[0])
    near, right = (torch.autograd.grad(each, given, slopes) for each in (found, exact))
    torch.testing.assert_close(near[0], right[0], rtol=0.02, atol=0.05)
    torch.testing.assert_close(near[1:], right[1:], rtol=0.02, atol=0.05 * (1 + rows) ** 0.5)


def test_few_different_sizes_occur() -> None:
    assert len({padded(rows) for rows in range(1, 4_097)}) < 40


def test_precision_holds_inside_only() -> None:
    given = torch.full((3, 2), 1.001), torch.full((2, 1), 1.001), torch.zeros(1)
    exact = product(*given)
    with precision("bfloat16"), precision("float32"):
        assert torch.equal(product(*given), exact)
    assert torch.equal(product(*given), exact)
    with precision("auto"):
        assert torch.equal(product(*given), exact) != has_bfloat16()


def _lstm() -> tuple[Layer, Callable[[], Tensor]]:
    layer = LSTM(input_dim=24, dim=16, num_directions=2)
    inputs, lengths = torch.randn(6, 9, 24), np.array([9, 3, 4, 9, 1, 6])
    return layer, lambda: layer(inputs, lengths).all.square().mean()


def _generator() -> tuple[Layer, Callable[[], Tensor]]:
    layer = Generator(dim=16, num_choices=90, head_size=30, tail_dim=8)
    states, choices = torch.randn(40, 16), np.arange(40) * 2
    return layer, lambda: -layer.probability_of(states, choices).log().mean()


def _graph() -> tuple[Layer, Callable[[], Tensor]]:
    layer = GraphNetwork(dim=16, num_edge_types=2, num_steps=3)
    states = torch.randn(30, 16)
    edges = Edges(np.arange(29), np.arange(1, 30), np.arange(29) % 2)
    wiring = Wiring.of(edges, 30, 2)
    return layer, lambda: layer(states, wiring).square().mean()


@pytest.mark.parametrize("made", [_lstm, _generator, _graph])
def test_a_layer_learns_the_same_in_bfloat16(made: Callable[[], tuple[Layer, Callable[[], Tensor]]]) -> None:
    torch.manual_seed(0)
    layer, loss = made()
    layer.initialise(0)
    parameters = parameters_of(layer).values()
    found: dict[str, tuple[Tensor, list[Tensor]]] = {}
    for name in ("float32", "bfloat16"):
        for parameter in parameters:
            parameter.grad = None
        with precision(name):
            value = loss()
        # What was prepared going forwards decides how it goes back, wherever that is asked for.
        torch.autograd.backward(value)
        found[name] = value.detach(), [weight.grad.clone() for weight in parameters if weight.grad is not None]
    (exact, slopes), (rounded, near) = found["float32"], found["bfloat16"]
    assert not torch.equal(exact, rounded)
    torch.testing.assert_close(rounded, exact, rtol=0.02, atol=1e-3)
    for one, other in zip(slopes, near, strict=True):
        assert (one - other).norm() <= 0.03 * one.norm()
