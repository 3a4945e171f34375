"""Steps as rows of a table: nothing is lost on the way there and back, and nothing is where no row stands."""

from __future__ import annotations

import torch

from editvec.neural.editors.rows import SideBySide
from editvec.neural.vocab import PAD
from tests.neural.edits import edit, small_model, ten_edits


def test_there_and_back() -> None:
    torch.manual_seed(0)
    beside = SideBySide.of(torch.tensor([2, 2, 5, 9, 9, 9]), torch.tensor([2, 4, 5, 9]))
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
    beside = SideBySide(torch.empty(0, dtype=torch.long), 2)
    table = beside.table(torch.empty(0, 4))
    assert table.shape == (2, 1, 4) and not table.any()
    assert beside.rows(table).shape == (0, 4)


def test_edits_that_write_no_token() -> None:
    copies = edit("a b c d e f", "d e f")
    model = small_model([*ten_edits(), copies], editor="graph2tree")
    example = model.exampler(copies)
    assert example.steps is not None and (example.steps.texts == PAD).all()
    others = model.exampler.all(ten_edits())
    with model.network.asked():
        alone = model.network(model.collate([example]))
        together = model.network(model.collate([*others, example]))
    torch.testing.assert_close(together[-1:], alone)
    model.network.train()
    (-model.network(model.collate([example])).sum()).backward()
    assert all(weight.grad.isfinite().all() for weight in model.network.parameters() if weight.grad is not None)
