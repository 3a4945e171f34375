"""Dropout keeps what it should of everything, and what it keeps is worth more."""

from __future__ import annotations

import pytest
import torch

from editvec.neural.arrays import dropout
from editvec.training.torch_backend import learning


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("shape", [(1001, 203), (7, 31, 997)])
def test_the_share_that_is_dropped(share: float, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    values = torch.ones(shape, requires_grad=True)
    with learning():
        found = dropout(values, share)
    gone = (found == 0).float()
    assert gone.mean().item() == pytest.approx(share, abs=0.005)
    assert found[found > 0].unique().tolist() == pytest.approx([1 / (1 - share)], rel=1e-4)
    found.sum().backward()
    torch.testing.assert_close(values.grad, found.detach())


def test_a_seed_decides() -> None:
    values = torch.ones(50, 3)
    torch.manual_seed(1)
    with learning():
        one = dropout(values, 0.3)
        torch.manual_seed(1)
        assert torch.equal(one, dropout(values, 0.3))
        assert not torch.equal(one, dropout(values, 0.3))


def test_nothing_is_dropped_when_it_counts() -> None:
    values = torch.randn(5, 3)
    assert dropout(values, 0.4) is values
    with learning():
        assert torch.equal(dropout(values, 0.0), values)
        assert dropout(torch.empty(0, 3), 0.4).shape == (0, 3)
