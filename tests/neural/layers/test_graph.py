"""The graph network against one written plainly, one node and one edge at a time."""

from __future__ import annotations

import torch

from editvec.neural.layers.graph import Edges, GatedSum, GraphNetwork, Wiring


def test_messages_go_along_edges() -> None:
    torch.manual_seed(0)
    layer = GraphNetwork(dim=4, num_edge_types=3, num_steps=2)
    states = torch.randn(6, 4)
    # Many from one in the first type, many to one in the last, and an edge that is there twice in both.
    pairs = [(0, 1, 0), (0, 3, 0), (0, 3, 0), (4, 5, 0), (1, 0, 1), (4, 5, 1), (1, 2, 2), (4, 2, 2), (4, 2, 2)]
    states.requires_grad_()
    edges = Edges(*(torch.tensor(part) for part in zip(*pairs, strict=True)))
    found = layer(states, Wiring.of(edges, 6, 3))
    weight, bias = layer.message.weight.view(3, 4, 4), layer.message.bias.view(3, 4)
    plain = states
    for _ in range(2):
        messages = [torch.zeros(4) for _ in range(6)]
        for source, target, kind in pairs:
            messages[target] = messages[target] + weight[kind] @ plain[source] + bias[kind]
        plain = torch.stack([layer.update(m[None], s[None])[0] for m, s in zip(messages, plain, strict=True)])
    torch.testing.assert_close(found, plain)
    weights = [states, *layer.parameters()]
    slopes = torch.randn(6, 4)
    for mine, theirs in zip(*(torch.autograd.grad(each, weights, slopes) for each in (found, plain)), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_graphs_side_by_side_do_not_know_each_other() -> None:
    torch.manual_seed(0)
    layer, pool = GraphNetwork(dim=4, num_edge_types=2, num_steps=3), GatedSum(dim=4, out_dim=5)
    states = torch.randn(5, 4)
    edges = Edges(torch.tensor([0, 1, 3]), torch.tensor([1, 0, 4]), torch.tensor([0, 1, 1]))
    both = layer(states, Wiring.of(edges, 5, 2))
    first = layer(states[:3], Wiring.of(Edges(*(part[:2] for part in edges)), 3, 2))
    torch.testing.assert_close(both[:3], first)
    pooled = pool(states, both, torch.tensor([0, 0, 0, 1, 1]), 2)
    torch.testing.assert_close(pooled[0], pool(states[:3], first, torch.zeros(3, dtype=torch.long), 1)[0])


def test_no_edges_at_all() -> None:
    layer = GraphNetwork(dim=4, num_edge_types=2, num_steps=1)
    nothing = torch.zeros(0, dtype=torch.long)
    assert layer(torch.randn(2, 4), Wiring.of(Edges(nothing, nothing, nothing), 2, 2)).shape == (2, 4)
