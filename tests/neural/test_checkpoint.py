"""Weights in files: packed ones are nearly what they were, and what is not sound is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import safetensors.torch
import torch
from torch import nn

from editvec.core.errors import BadInputError
from editvec.neural.checkpoint import load_what_fits, pack_weights, read_weights, save_weights


def test_packed_weights_are_off_by_half_a_step_at_most(tmp_path: Path) -> None:
    torch.manual_seed(0)
    weights = {
        "table": torch.randn(100, 64) * torch.logspace(-4, 4, 100)[:, None],
        "layers": torch.randn(2, 50, 60),
        "nothing": torch.zeros(100, 64),
        "small": torch.randn(7),
    }
    packed = pack_weights(weights)
    (tmp_path / "w").write_bytes(packed)
    found = read_weights(tmp_path / "w")
    assert found.keys() == weights.keys()
    for name in ("table", "layers", "nothing"):
        step = weights[name].abs().amax(-1, keepdim=True) / 127
        assert found[name].dtype == torch.float32
        assert ((found[name] - weights[name]).abs() <= 0.5001 * step).all(), name
    assert torch.equal(found["small"], weights["small"].half())
    assert len(packed) < 0.3 * sum(weight.nbytes for weight in weights.values())


def test_a_scale_of_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(safetensors.torch.save({"a": torch.zeros(2, 2), "a:scale": torch.ones(2)}))
    with pytest.raises(BadInputError, match="a:scale fits no weight"):
        read_weights(tmp_path / "w")


def test_what_fits_is_taken(tmp_path: Path) -> None:
    one, other = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5)), nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 6))
    before = other.get_parameter("1.weight").clone()
    save_weights(tmp_path / "w", one)
    load_what_fits(tmp_path / "w", other)
    assert torch.equal(other.get_parameter("0.weight"), one.get_parameter("0.weight"))
    assert torch.equal(other.get_parameter("1.weight"), before)
