"""Work in lanes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from editvec.neural.layers.lanes import in_lanes


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("num_parts", [0, 1, 9])
def test_every_part_is_done_without_gradients(num_parts: int) -> None:
    done: list[int] = []

    def work(part: int) -> None:
        assert torch.is_inference_mode_enabled()
        done.append(part)

    in_lanes(work, range(num_parts))
    assert sorted(done) == list(range(num_parts))
    assert not torch.is_inference_mode_enabled()


def test_lanes_share_the_threads_and_give_them_back() -> None:
    found: list[int] = []
    in_lanes(lambda _: found.append(torch.get_num_threads()), range(4))
    assert found == [1] * 4
    assert torch.get_num_threads() == 2


def test_a_failure_is_the_callers() -> None:
    begun: list[int] = []

    def work(part: int) -> None:
        begun.append(part)
        raise ValueError(part)

    with pytest.raises(ValueError, match="0"):
        in_lanes(work, range(1000))
    assert len(begun) < 1000
    assert torch.get_num_threads() == 2
