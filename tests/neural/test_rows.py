"""Steps as rows of a table: nothing is lost on the way there and back, and nothing is where no row stands."""

from __future__ import annotations

import numpy as np
import torch

from editvec.neural.editors.rows import SideBySide
from editvec.neural.vocab import PAD
from editvec.training.learner import Learner
from tests.neural.edits import edit, small_model, ten_edits


def test_there_and_back() -> None:
    torch.manual_seed(0)
    beside = SideBySide.of(np.array([2, 2, 5, 9, 9, 9]), np.array([2, 4, 5, 9]))
    values = torch.randn(6, 3, requires_grad=True)
    table = beside.table(values)
    assert table.shape == (4, 3, 3)
    assert beside.lines.tolist() == [0, 0, 2, 3, 3, 3]
    assert (table != 0).any(2).tolist() == [[True, True, False], [False] * 3, [True, False, False], [True] * 3]
    torch.testing.assert_close(beside.rows(table), values)
    slopes = torch.randn(6, 3)
    (found,) = torch.autograd.grad(beside.rows(table), values, slopes)
    torch.testing.assert_close(found, slopes)


def test_no_rows_at_all() -> None:
    beside = SideBySide(np.empty(0, np.int64), 2)
    for nothing in (np.empty((0, 4), np.float32), torch.empty(0, 4)):
        table = beside.table(nothing)
        assert table.shape == (2, 1, 4) and not table.any()
        assert beside.rows(table).shape == (0, 4)


def test_edits_that_write_no_token() -> None:
    copies = edit("a b c d e f", "d e f")
    model = small_model([*ten_edits(), copies], editor="graph2tree")
    example = model.exampler(copies)
    assert example.steps is not None and (example.steps.texts == PAD).all()
    others = model.exampler.all(ten_edits())
    alone = model.network(model.collate([example]))
    together = model.network(model.collate([*others, example]))
    np.testing.assert_allclose(together[-1:], alone, rtol=1e-5)
    learner = Learner(model.network)
    (-learner(model.collate([example])).sum()).backward()
    assert all(weight.grad.isfinite().all() for weight in learner.parameters() if weight.grad is not None)
