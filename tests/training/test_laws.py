"""The law of one definition: a network gives the same on NumPy arrays, for inference, and on torch tensors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from editvec.neural.editors import EDITORS
from editvec.neural.encoders import ENCODERS
from editvec.training.learner import Learner
from tests.neural.edits import random_edits, small_model
from tests.neural.test_laws import PAIRS, SWITCHES

CASES: list[tuple[dict[str, bool | int], str, str]] = [
    *(({}, editor, encoder) for editor, encoder in PAIRS),
    *((switches, editor, "sequence") for switches, editor in product(SWITCHES[1:], EDITORS)),
]


@pytest.mark.parametrize(("switches", "editor", "encoder"), CASES, ids=str)
def test_numpy_and_torch_agree(switches: dict[str, bool | int], editor: str, encoder: str) -> None:
    edits = random_edits(12)
    model = small_model(edits, editor=editor, encoder=encoder, transfer_layer=True, **switches)
    batch = model.collate(model.exampler.all(edits))
    shown = model.collate(model.exampler.all(edits[::-1]))
    is_other = np.arange(12) % 2 == 0
    vectors, own, other = model.network.vectors(batch), model.network(batch), model.network(batch, shown, is_other)
    assert vectors.dtype == own.dtype == other.dtype == np.float32
    learner = Learner(model.network).eval()
    with torch.inference_mode():
        found = learner.network.vectors(batch), learner(batch), learner(batch, shown, is_other)
    for one, array in zip(found, (vectors, own, other), strict=True):
        assert isinstance(one, torch.Tensor)
        np.testing.assert_allclose(array, one.numpy(), rtol=1e-4, atol=1e-4)


def test_every_encoder_is_compared() -> None:
    assert {encoder for _, _, encoder in CASES} == set(ENCODERS)


def test_what_shares_an_embedding_learns_it_once() -> None:
    edits = random_edits(5)
    model = small_model(edits, tied=True, head_size=7)
    before = {name: array.copy() for name, array in model.network.named_arrays().items()}
    learner = Learner(model.network)
    assert list(learner.named) == list(before)
    assert len({parameter.data_ptr() for parameter in learner.parameters()}) == len(before)
    with torch.no_grad():
        for parameter in learner.parameters():
            parameter.add_(1)
    learner.close()
    for name, array in model.network.named_arrays().items():
        np.testing.assert_allclose(array, before[name] + 1, rtol=1e-6)
