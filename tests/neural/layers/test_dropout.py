"""Dropout keeps what it should of everything, and what it keeps is worth more."""

from __future__ import annotations

import pytest
import torch

from editvec.neural.layers.dropout import Dropout


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("shape", [(1001, 203), (7, 31, 997)])
def test_the_share_that_is_dropped(share: float, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    values = torch.ones(shape, requires_grad=True)
    found = Dropout(share)(values)
    gone = (found == 0).float()
    assert gone.mean().item() == pytest.approx(share, abs=0.005)
    assert found[found > 0].unique().tolist() == pytest.approx([1 / (1 - share)], rel=1e-4)
    # Four choices come from one random number: each is as likely as the others, and none knows of the next.
    flat = gone.flatten()[: gone.numel() // 4 * 4].view(-1, 4)
    assert flat.mean(0).tolist() == pytest.approx([share] * 4, abs=0.01)
    assert (flat[:, :-1] * flat[:, 1:]).mean(0).tolist() == pytest.approx([share**2] * 3, abs=0.01)
    found.sum().backward()
    torch.testing.assert_close(values.grad, found.detach())


def test_a_seed_decides() -> None:
    values = torch.ones(50, 3)
    torch.manual_seed(1)
    one = Dropout(0.3)(values)
    torch.manual_seed(1)
    assert torch.equal(one, Dropout(0.3)(values))
    assert not torch.equal(one, Dropout(0.3)(values))


def test_nothing_is_dropped_when_it_counts() -> None:
    values = torch.randn(5, 3)
    assert Dropout(0.4).eval()(values) is values
    assert Dropout(0.0)(values) is values
    assert Dropout(0.4)(torch.empty(0, 3)).shape == (0, 3)
