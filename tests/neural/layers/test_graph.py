"""The graph network against one written plainly, one node and one edge at a time."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import linear

from editvec.neural.layers.graph import GatedSum, GraphNetwork
from editvec.neural.layers.packing import Edges, Wiring
from editvec.training.learner import release
from tests.neural.layers.trained import in_doubles


def _updated(layer: GraphNetwork, message: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    update = layer.update
    asked = linear(message, update.weight_ih.value, update.bias_ih.value).chunk(3)
    kept = linear(state, update.weight_hh.value, update.bias_hh.value).chunk(3)
    reset, gate = ((one + other).sigmoid() for one, other in zip(asked[:2], kept[:2], strict=True))
    new = (asked[2] + reset * kept[2]).tanh()
    return (1 - gate) * new + gate * state


def test_messages_go_along_edges() -> None:
    torch.manual_seed(0)
    layer = GraphNetwork(dim=4, num_edge_types=3, num_steps=2)
    parameters = in_doubles(layer)
    states = torch.randn(6, 4, dtype=torch.double, requires_grad=True)
    # Many from one in the first type, many to one in the last, and an edge that is there twice in both.
    pairs = [(0, 1, 0), (0, 3, 0), (0, 3, 0), (4, 5, 0), (1, 0, 1), (4, 5, 1), (1, 2, 2), (4, 2, 2), (4, 2, 2)]
    wiring = Wiring.of(Edges(*(np.array(part) for part in zip(*pairs, strict=True))), 6, 3)
    found = layer(states, wiring)
    weight, bias = (parameters[f"message.{name}"].view(3, 4, *more) for name, more in (("weight", (4,)), ("bias", ())))
    plain = states
    for _ in range(2):
        messages = [torch.zeros(4).double() for _ in range(6)]
        for source, target, kind in pairs:
            messages[target] = messages[target] + weight[kind] @ plain[source] + bias[kind]
        plain = torch.stack([_updated(layer, m, s) for m, s in zip(messages, plain, strict=True)])
    torch.testing.assert_close(found, plain)
    weights = [states, *parameters.values()]
    slopes = torch.randn(6, 4).double()
    for mine, theirs in zip(*(torch.autograd.grad(each, weights, slopes) for each in (found, plain)), strict=True):
        torch.testing.assert_close(mine, theirs)
    release(layer)
    np.testing.assert_allclose(layer(states.detach().numpy(), wiring), found.detach())


def test_graphs_side_by_side_do_not_know_each_other() -> None:
    layer, pool = GraphNetwork(dim=4, num_edge_types=2, num_steps=3), GatedSum(dim=4, out_dim=5)
    layer.initialise(0)
    pool.initialise(1)
    states = np.random.default_rng(0).standard_normal((5, 4), np.float32)
    edges = Edges(np.array([0, 1, 3]), np.array([1, 0, 4]), np.array([0, 1, 1]))
    both = layer(states, Wiring.of(edges, 5, 2))
    first = layer(states[:3], Wiring.of(Edges(*(part[:2] for part in edges)), 3, 2))
    np.testing.assert_allclose(both[:3], first, atol=1e-6)
    pooled = pool(states, both, np.array([0, 0, 0, 1, 1]), 2)
    np.testing.assert_allclose(pooled[0], pool(states[:3], first, np.zeros(3, np.int64), 1)[0], atol=1e-6)


def test_no_edges_at_all() -> None:
    layer = GraphNetwork(dim=4, num_edge_types=2, num_steps=1)
    layer.initialise(0)
    nothing = np.zeros(0, np.int64)
    wiring = Wiring.of(Edges(nothing, nothing, nothing), 2, 2)
    assert layer(np.ones((2, 4), np.float32), wiring).shape == (2, 4)
