"""Weights in files: packed ones are nearly what they were, and what is not sound is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from editvec.core.errors import BadInputError
from editvec.neural.arrays import Floats
from editvec.neural.checkpoint import load_what_fits, pack_weights, read_weights, save_weights
from editvec.neural.layers.layer import Layer, Linear


def test_packed_weights_are_off_by_half_a_step_at_most(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    weights: dict[str, Floats] = {
        "table": chance.standard_normal((100, 64), np.float32) * np.logspace(-4, 4, 100, dtype=np.float32)[:, None],
        "layers": chance.standard_normal((2, 50, 60), np.float32),
        "nothing": np.zeros((100, 64), np.float32),
        "small": chance.standard_normal(7, np.float32),
    }
    packed = pack_weights(weights)
    (tmp_path / "w").write_bytes(packed)
    found = read_weights(tmp_path / "w")
    assert found.keys() == weights.keys()
    for name in ("table", "layers", "nothing"):
        step = np.abs(weights[name]).max(-1, keepdims=True) / 127
        assert found[name].dtype == np.float32
        assert (np.abs(found[name] - weights[name]) <= 0.5001 * step).all(), name
    np.testing.assert_array_equal(found["small"], weights["small"].astype(np.float16))
    assert len(packed) < 0.3 * sum(weight.nbytes for weight in weights.values())


def test_a_scale_of_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(safetensors.numpy.save({"a": np.zeros((2, 2)), "a:scale": np.ones(2)}))
    with pytest.raises(BadInputError, match="a:scale matches no weight"):
        read_weights(tmp_path / "w")


class _Two(Layer):
    def __init__(self, seed: int, last: int) -> None:
        self.layers: list[Layer] = [Linear(3, 4), Linear(4, last)]
        self.initialise(seed)


def test_what_fits_is_taken(tmp_path: Path) -> None:
    one, other = _Two(0, 5), _Two(1, 6)
    before = other.named_arrays()["layers.1.weight"].copy()
    save_weights(tmp_path / "w", one)
    load_what_fits(tmp_path / "w", other)
    np.testing.assert_array_equal(other.named_arrays()["layers.0.weight"], one.named_arrays()["layers.0.weight"])
    np.testing.assert_array_equal(other.named_arrays()["layers.1.weight"], before)
