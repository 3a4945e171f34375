"""What is copied for sure does not ask the generator, in training and in search, and nothing comes out otherwise."""

from __future__ import annotations

import pytest
import torch

from editvec.core.edit import Edit
from editvec.neural.arrays import Array, Floats, Ints
from editvec.neural.editors import Seq2SeqEditor, writer
from editvec.neural.layers.generator import Generator, Spread
from editvec.neural.model import EditModel
from editvec.training.learner import Learner
from tests.neural.edits import random_edits, small_model

RARELY = -14.0
"""So much less is a token generated than copied: rarely enough not to matter, where it can be copied."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many states the generator was asked about, each time."""
    found: list[int] = []
    spread, probability_of = Generator.spread, Generator.probability_of

    def counting_spread(generator: Generator, states: Floats) -> Spread:
        found.append(len(states))
        return spread(generator, states)

    def counting_probability_of(generator: Generator, states: Array, choices: Ints) -> Array:
        found.append(len(states))
        return probability_of(generator, states, choices)

    monkeypatch.setattr(Generator, "spread", counting_spread)
    monkeypatch.setattr(Generator, "probability_of", counting_probability_of)
    return found


def _model(edits: list[Edit], head_size: int) -> EditModel:
    model = small_model(edits, head_size=head_size, dropout=0.0, embed_dropout=0.0)
    editor = model.network.editor
    assert isinstance(editor, Seq2SeqEditor)
    assert editor.writer.way.bias is not None
    editor.writer.way.bias.value[0] = RARELY
    return model


def _learned(model: EditModel, edits: list[Edit], *, training: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The log-probability of each edit, and the gradient of all."""
    learner = Learner(model.network).train(training)
    scores = learner(model.collate(model.exampler.all(edits)))
    scores.sum().backward()
    slopes = [weight.grad.flatten() for weight in learner.parameters() if weight.grad is not None]
    learner.close()
    return scores.detach(), torch.cat(slopes)


@pytest.mark.parametrize("head_size", [0, 7])
def test_training_learns_the_same(head_size: int, asked: list[int]) -> None:
    edits = random_edits(40)
    model = _model(edits, head_size)
    exact, exact_slopes = _learned(model, edits, training=False)
    spared, spared_slopes = _learned(model, edits, training=True)
    every, some = asked
    assert some < 0.6 * every
    assert torch.allclose(spared, exact, atol=1e-3)
    assert (spared_slopes - exact_slopes).norm() < 1e-3 * exact_slopes.norm()


@pytest.mark.parametrize("head_size", [0, 7])
def test_a_search_finds_the_same(head_size: int, asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    edits = random_edits(40)
    model = _model(edits, head_size)
    examples, vectors = model.exampler.all(edits), model.encode(edits)
    spared = model.write(examples, vectors)
    some = sum(asked)
    asked.clear()
    monkeypatch.setattr(writer, "_NEGLIGIBLE", 0.0)
    monkeypatch.setattr(writer, "_UNNOTICED", 0.0)
    exact = model.write(examples, vectors)
    assert some < 0.6 * sum(asked)
    for one, other in zip(spared, exact, strict=True):
        assert [each.tokens for each in one] == [each.tokens for each in other]
        assert [each.score for each in one] == pytest.approx([each.score for each in other], abs=0.02)
