"""Layers against what they stand for: in torch, where they have gradients, and in NumPy, which gives the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from editvec.neural.arrays import Ints
from editvec.neural.layers.attention import Attention
from editvec.neural.layers.generator import Generator
from editvec.neural.layers.layer import Embedding
from editvec.neural.layers.recurrent import LSTM, BiLSTM, States
from editvec.training.learner import parameters_of, release
from tests.neural.layers.trained import in_doubles


def _as_torchs(ours: LSTM, direction: int, theirs: nn.LSTM, ending: str) -> None:
    """Gives torch's LSTM our weights: its gates are in, forget, new, out; ours out, in, forget, new."""

    def ordered(weight: torch.Tensor) -> torch.Tensor:
        return torch.cat([weight[ours.dim :], weight[: ours.dim]])

    with torch.no_grad():
        theirs.get_parameter(f"weight_ih_l0{ending}").copy_(ordered(ours.inputs.value[direction].t()))
        theirs.get_parameter(f"weight_hh_l0{ending}").copy_(ordered(ours.recurrent.value[direction].t()))
        theirs.get_parameter(f"bias_ih_l0{ending}").copy_(ordered(ours.bias.value[direction]))
        theirs.get_parameter(f"bias_hh_l0{ending}").zero_()


def test_the_bilstm_is_torchs_over_packed_sequences() -> None:
    torch.manual_seed(0)
    ours = BiLSTM(input_dim=5, dim=8)
    ours.initialise(0)
    parameters_of(ours)
    theirs = nn.LSTM(5, 4, batch_first=True, bidirectional=True)
    _as_torchs(ours.lstm, 0, theirs, "")
    _as_torchs(ours.lstm, 1, theirs, "_reverse")
    inputs, lengths = torch.randn(4, 7, 5), torch.tensor([7, 1, 4, 6])
    packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    states, (final, _) = theirs(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    found = ours(inputs, lengths.numpy())
    mask = torch.arange(7)[None] < lengths[:, None]
    torch.testing.assert_close(found.all[mask], expected[mask])
    torch.testing.assert_close(found.final, torch.cat([final[0], final[1]], -1))
    release(ours)
    again = ours(inputs.numpy(), lengths.numpy())
    np.testing.assert_allclose(again.all, found.all.detach(), atol=1e-6)
    np.testing.assert_allclose(again.final, found.final.detach(), atol=1e-6)


LENGTHS = np.array([3, 1, 4, 4, 2])


def _given(num_directions: int, looks_back: bool) -> tuple[LSTM, list[torch.Tensor], Ints | None]:
    """A layer, what it reads (inputs, a first state and cell, what is always added) and what its steps look back to."""
    torch.manual_seed(0)
    layer = LSTM(input_dim=3, dim=2, num_directions=num_directions, looks_back=looks_back)
    in_doubles(layer)
    shapes = (5, 4, 3), *((num_directions, 5, each) for each in (2, 2, 8))
    given = [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]
    back_to = np.array([[0, 1, 2, 0], [0, 0, 0, 0], [0, 1, 1, 3], [0, 0, 2, 2], [0, 1, 0, 0]])
    return layer, given, back_to if looks_back else None


@pytest.mark.parametrize("looks_back", [False, True])
@pytest.mark.parametrize("num_directions", [1, 2])
def test_the_lstms_gradient_is_that_of_its_steps(num_directions: int, looks_back: bool) -> None:
    layer, given, back_to = _given(num_directions, looks_back)
    weights = list(layer.weights().values())

    def run(*values: torch.Tensor) -> States:
        inputs, hidden, cell, always, *others = values
        for weight, value in zip(weights, others, strict=True):
            weight.value = value
        return layer(inputs, LENGTHS, (hidden, cell), always, back_to)

    assert torch.autograd.gradcheck(run, (*given, *(weight.value for weight in weights)))


@pytest.mark.parametrize("looks_back", [False, True])
@pytest.mark.parametrize("num_directions", [1, 2])
def test_the_lstm_is_the_plain_recurrence_one_step_at_a_time(num_directions: int, looks_back: bool) -> None:
    layer, (inputs, hidden, cell, always), back_to = _given(num_directions, looks_back)
    found, final = layer(inputs, LENGTHS, (hidden, cell), always, back_to)
    for row, length in enumerate(LENGTHS.tolist()):
        for number in range(num_directions):
            past, kept = [hidden[number, row]], cell[number, row]
            for step in range(length):
                gates = (
                    inputs[row, length - 1 - step if number else step] @ layer.inputs.value[number]
                    + layer.bias.value[number]
                )
                gates = gates + past[-1] @ layer.recurrent.value[number] + always[number, row]
                if layer.back is not None and back_to is not None:
                    gates = gates + past[int(back_to[row, step])] @ layer.back.value[number]
                out, keep_in, forget, new = gates.chunk(4)
                kept = forget.sigmoid() * kept + keep_in.sigmoid() * new.tanh()
                past.append(out.sigmoid() * kept.tanh())
            written = torch.stack(past[1:][::-1] if number else past[1:])
            units = slice(2 * number, 2 * number + 2)
            torch.testing.assert_close(found[row, :length, units], written)
            torch.testing.assert_close(final[row, units], past[-1])
            assert not found[row, length:].any()


def test_what_is_added_in_every_step_is_an_input_of_every_step() -> None:
    torch.manual_seed(0)
    whole, part = LSTM(input_dim=5, dim=4), LSTM(input_dim=3, dim=4)
    parameters = in_doubles(whole)
    part.inputs.value = parameters["inputs"][:, :3]
    part.recurrent.value, part.bias.value = parameters["recurrent"], parameters["bias"]
    inputs, vector, lengths = torch.randn(2, 6, 3).double(), torch.randn(2, 2).double(), np.array([6, 4])
    everywhere = torch.cat([inputs, vector[:, None].expand(-1, 6, -1)], -1)
    always = (vector @ parameters["inputs"][0, 3:])[None]
    torch.testing.assert_close(whole(everywhere, lengths).all, part(inputs, lengths, always=always).all)


def _whole(generator: Generator, states: torch.Tensor) -> torch.Tensor:
    """The generator's distribution, written down plainly."""
    scores: torch.Tensor = states @ generator.head.weight.t() + generator.head.bias.value
    if not generator.has_tail:
        return scores.softmax(-1)
    head = torch.cat([scores, generator.any_of_tail(states)], -1).softmax(-1)
    tail = (generator.project(states) @ generator.tail.weight.t() + generator.tail.bias.value).softmax(-1)
    return torch.cat([head[:, :-1], head[:, -1:] * tail], -1)


@pytest.mark.parametrize("head_size", [0, 4, 10])
def test_the_generators_gradient_is_that_of_its_softmax(head_size: int) -> None:
    torch.manual_seed(0)
    generator = Generator(dim=6, num_choices=11, head_size=head_size, tail_dim=3)
    parameters = in_doubles(generator)
    states = torch.randn(5, 6, dtype=torch.double, requires_grad=True)
    choices = np.array([0, 3, 10, 3, 7])
    weights = torch.randn(5, dtype=torch.double)
    found: list[torch.Tensor] = []
    expected: list[torch.Tensor] = []
    for probability, gradients in (
        (generator.probability_of(states, choices), found),
        (_whole(generator, states)[torch.arange(5), choices], expected),
    ):
        gradients.append(probability.detach())
        gradients += torch.autograd.grad((probability.log() * weights).sum(), [states, *parameters.values()])
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("head_size", [0, 4])
def test_a_generators_spread_is_its_distribution(head_size: int) -> None:
    torch.manual_seed(0)
    generator = Generator(dim=6, num_choices=11, head_size=head_size, tail_dim=3)
    generator.initialise(0)
    states = np.random.default_rng(0).standard_normal((5, 6), np.float32)
    head, tail = generator.spread(states)
    parts = [head] if tail is None else [head, tail[:, None] * generator.tail_spread(states)]
    choices = np.array([0, 3, 10, 3, 7])
    chosen = generator.probability_of(states, choices)
    parameters_of(generator)
    expected = _whole(generator, torch.from_numpy(states)).detach().numpy()
    np.testing.assert_allclose(np.concatenate(parts, -1), expected, rtol=1e-5)
    np.testing.assert_allclose(chosen, expected[np.arange(5), choices], rtol=1e-5)


def test_a_generator_whose_tail_no_target_is_in() -> None:
    generator = Generator(dim=6, num_choices=11, head_size=4, tail_dim=3)
    parameters = in_doubles(generator)
    loss = generator.probability_of(torch.randn(2, 6).double(), np.array([0, 3])).log().sum()
    gradients = torch.autograd.grad(loss, list(parameters.values()))
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


def test_a_tied_generator_learns_its_embedding() -> None:
    torch.manual_seed(0)
    embedding = Embedding(9, 6)
    generator = Generator(dim=6, num_choices=5, tied_to=embedding, first_row=2)
    parameters = in_doubles(generator)
    assert list(parameters) == ["head.tied_to.weight", "head.bias"]
    loss = generator.probability_of(torch.randn(3, 6).double(), np.array([0, 1, 4])).log().sum()
    (gradient,) = torch.autograd.grad(loss, [embedding.weight.value])
    assert gradient[2:7].abs().sum(1).gt(0).all()
    assert not gradient[:2].any()
    assert not gradient[7:].any()


def test_attention_stays_inside_its_mask() -> None:
    chance = np.random.default_rng(0)
    attention = Attention(query_dim=4, key_dim=3)
    attention.initialise(0)
    queries, keys = (chance.standard_normal((3, 2 + more, 4 - more), np.float32) for more in (0, 1))
    mask = np.array([[True, False, True], [True, True, True], [False, False, False]])
    weights = attention(queries, keys, mask)
    assert not weights[0, :, 1].any()
    np.testing.assert_allclose(weights.sum(-1), np.ones((3, 2)), rtol=1e-6)
    assert np.isfinite(weights).all()
    parameters_of(attention)
    again = attention(torch.from_numpy(queries), torch.from_numpy(keys), mask)
    np.testing.assert_allclose(again.detach(), weights, atol=1e-6)
