"""The laws of models: what is trained is what is searched, padding and company change nothing, files give it back."""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import editvec.neural.model
from editvec.core.edit import Edit, Version
from editvec.core.errors import UserError
from editvec.neural.batch import collate_source
from editvec.neural.candidate import Candidate
from editvec.neural.editors import EDITORS, Graph2TreeEditor
from editvec.neural.encoders import ENCODERS
from editvec.neural.examples import Example
from editvec.neural.model import MARGIN, EditModel
from editvec.neural.vocab import END, UNKNOWN
from editvec.suggest.edit import edit as edit_snippet
from editvec.suggest.few_shot import FewShotAnswer, FewShotEditor
from editvec.syntax.parse import are_sound
from editvec.training.learner import Learner
from tests.neural import edits as made
from tests.neural.edits import learn_by_heart, random_edits, small_model, ten_edits

PAIRS = list(product(EDITORS, ENCODERS))
SWITCHES: tuple[dict[str, bool | int], ...] = (
    {},
    {"context": False},
    {"context_start": False},
    {"copy": False},
    {"copy": False, "context": False},
    {"shared_reader": False},
    {"changed_only": True},
    {"unknown_slots": 4},
    {"tied": True},
    {"residual": True},
    {"token_skip": 2},
    {"residual": True, "tied": True, "changed_only": True, "head_size": 7, "token_skip": 3},
    {"head_size": 7},
    {"head_size": 7, "vocab_size": 25, "tied": True},
    {"head_size": 3, "vocab_size": 25, "copy": False},
    {"vocab_size": 12},
    {"vocab_size": 12, "unknown_slots": 3, "tied": True, "changed_only": True},
    {"vocab_size": 12, "num_pieces": 20},
    {"vocab_size": 12, "num_pieces": 20, "copy": False, "residual": True},
    {"vocab_size": 12, "num_pieces": 20, "unknown_slots": 3, "tied": True, "token_skip": 2, "head_size": 7},
)


def _log_probs(model: EditModel, edits: list[Edit]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = model.network(model.collate(model.exampler.all(edits)))
    return found


def _choices(model: EditModel, example: Example) -> list[int]:
    """What a search would have to choose to write an example's `after` as training does."""

    def named(token: int) -> int:
        return token if model.config.copy or token < len(model.vocab) else UNKNOWN

    if example.steps is None:
        return [named(token) for token in (example.symbols if len(example.symbols) else example.after).tolist()]
    editor = model.network.editor
    assert isinstance(editor, Graph2TreeEditor)
    first: dict[int, int] = {}
    for step, node in zip(example.steps.copy_steps.tolist(), example.steps.copy_nodes.tolist(), strict=True):
        first.setdefault(step, node)
    return [
        editor.text_choice(named(text)) if text else editor.copy_choice(first[step]) if step in first else choice
        for step, (choice, text) in enumerate(
            zip(example.steps.choices.tolist(), example.steps.texts.tolist(), strict=True)
        )
    ]


def test_a_new_model_borrows_vectors_as_they_are() -> None:
    edits = random_edits(6)
    model = small_model(edits, transfer_layer=True, scale=1.0)
    vectors = model.encode(edits)
    np.testing.assert_allclose(model.transfer(vectors), vectors, atol=1e-6)


def test_a_snippet_is_edited_with_a_borrowed_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = random_edits(3)
    model = small_model(edits, transfer_layer=True)
    used: list[np.ndarray] = []

    def write(examples: list[Example], vectors: np.ndarray, k: int) -> list[list[Candidate]]:
        used.append(vectors)
        return [[]]

    monkeypatch.setattr(model, "write", write)
    vectors = model.encode(edits)
    edit_snippet(edits[0], vector=vectors[1], model=model)
    np.testing.assert_allclose(used[0], model.transfer(vectors[1:2]), atol=1e-5)
    assert not np.allclose(used[0], vectors[1])


@pytest.mark.parametrize("editor", EDITORS)
def test_an_edit_is_scored_with_the_vector_of_the_edit_that_is_shown(editor: str) -> None:
    edits = random_edits(6)
    model = small_model(edits, editor=editor, transfer_layer=True)
    batch, reversed_batch = (model.collate(model.exampler.all(each)) for each in (edits, edits[::-1]))
    own, same, other = (model.network(batch, shown) for shown in (None, batch, reversed_batch))
    transfer = model.network(batch, batch, np.array([True, False] * 3))
    assert np.allclose(own, same, atol=1e-5)
    assert np.allclose(own[1::2], transfer[1::2], atol=1e-5)
    assert not np.isclose(own[::2], transfer[::2], atol=1e-3).any()
    assert not np.allclose(own, other, atol=1e-3)


@pytest.mark.parametrize("editor", EDITORS)
@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_the_training_score_is_the_search_score(switches: dict[str, bool | int], editor: str) -> None:
    edits = random_edits(12)
    model = small_model(edits, editor=editor, **switches)
    examples = model.exampler.all(edits)
    batch = model.collate(examples)
    trained = _log_probs(model, edits)
    reading = model.network.reader.read(batch.source, context=model.config.context)
    steps = model.network.editor.steps(batch.source, reading, model.network.vectors(batch))
    for row, example in enumerate(examples):
        state, score = steps.start(), 0.0
        at = np.array([row])
        for choice in _choices(model, example):
            log_probs, choices = (each[at[0]] for each in steps.step(state, 1000))
            assert len(set(choices[log_probs > -math.inf].tolist())) == int((log_probs > -math.inf).sum())
            score += float(log_probs[(choices == choice) & (log_probs > -math.inf)].item())
            if bool(steps.ends(state, at, np.array([choice]))):
                break
            state = steps.advance(state, at, np.array([choice]))
            at = np.array([0])
        assert score == pytest.approx(float(trained[row]), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_a_step_is_a_distribution(switches: dict[str, bool | int]) -> None:
    edits = random_edits(9)
    model = small_model(edits, **switches)
    batch = model.collate(model.exampler.all(edits))
    reading = model.network.reader.read(batch.source, context=model.config.context)
    steps = model.network.editor.steps(batch.source, reading, model.network.vectors(batch))
    state = steps.advance(steps.start(), np.arange(9), np.full(9, 7))
    assert np.exp(steps.step(state, 1000)[0]).sum(1).tolist() == pytest.approx([1.0] * 9, abs=1e-5)


@pytest.mark.parametrize(("editor", "encoder"), PAIRS)
def test_company_and_padding_change_nothing(editor: str, encoder: str) -> None:
    edits = random_edits(17)
    model = small_model(edits, editor=editor, encoder=encoder, vocab_size=20, token_skip=2)
    together = _log_probs(model, edits).tolist()
    alone = [_log_probs(model, [edit]).item() for edit in edits]
    assert together == pytest.approx(alone, rel=1e-5, abs=1e-5)
    vectors = model.encode(edits)
    one_by_one = np.concatenate([model.encode([edit]) for edit in edits])
    np.testing.assert_allclose(vectors, one_by_one, atol=1e-5)
    found = model.write(model.exampler.all(edits), vectors)
    for edit, vector, candidates in zip(edits, vectors, found, strict=True):
        single = model.write(model.exampler.all([edit]), vector[None])[0]
        assert [c.tokens for c in single] == [c.tokens for c in candidates]
        assert [c.score for c in single] == pytest.approx([c.score for c in candidates], abs=1e-4)


def test_beam_of_one_is_greedy() -> None:
    edits = random_edits(20)
    model = small_model(edits)
    examples = model.exampler.all(edits)
    source = collate_source(examples)
    vectors = model.encode(edits)
    found = model.network.search(source, vectors, k=1)
    reading = model.network.reader.read(source, context=True)
    steps = model.network.editor.steps(source, reading, vectors)
    for row, hypotheses in enumerate(found):
        choices: list[int] = []
        state, score = steps.start(), 0.0
        at = np.array([row])
        while len(choices) < model.network.max_steps and (not choices or choices[-1] != END):
            log_probs, chosen = steps.step(state, 1)
            choice = chosen[at[0], :1]
            choices.append(int(choice[0]))
            score += float(log_probs[at[0], 0])
            state = steps.advance(state, at, choice)
            at = np.array([0])
        if choices[-1] != END:
            assert hypotheses == []
        else:
            assert list(hypotheses[0].choices) == choices
            assert hypotheses[0].score == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize(("margin", "head_size"), [(math.inf, 0), (MARGIN, 0), (MARGIN, 7)])
def test_search_scores_are_what_training_gives_the_found(margin: float, head_size: int) -> None:
    edits = random_edits(60)
    model = small_model(edits, vocab_size=20, head_size=head_size)
    vectors = model.encode(edits)
    found = model.write(model.exampler.all(edits), vectors, margin=margin)
    checked = 0
    for edit, vector, candidates in zip(edits, vectors, found, strict=True):
        assert [c.score for c in candidates] == sorted((c.score for c in candidates), reverse=True)
        for candidate in candidates:
            if not candidate.complete:
                continue
            after = Version("", candidate.tokens)
            batch = model.collate([model.exampler(dataclasses.replace(edit, after=after))])
            reading = model.network.reader.read(batch.source, context=True)
            score = model.network.editor(batch.source, reading, vector[None], batch.target)
            assert score.item() == pytest.approx(candidate.score, rel=1e-5, abs=1e-4)
            checked += 1
    assert checked > 20


def test_the_editor_does_not_see_after() -> None:
    edits = random_edits(8)
    model = small_model(edits)
    vectors = model.encode(edits)
    others = [dataclasses.replace(edit, after=Version("", ("w1", "w2", "zzz"))) for edit in edits]
    for edit, other, vector in zip(edits, others, vectors, strict=True):
        assert edit_snippet(edit, vector=vector, model=model) == edit_snippet(other, vector=vector, model=model)


def test_answers_are_read_back() -> None:
    edits = random_edits(9)
    model = small_model(edits, transfer_layer=True, scale=1.0)
    everything = FewShotEditor(model).show(edits)
    checked = 0
    for number, edit in enumerate(edits):
        some = everything.without(number).at([0, 1, 2])
        shown = some.vectors
        (found,) = FewShotEditor(model).answers([edit], [some], k=20)
        example = model.exampler(edit, with_after=False)
        alone = [model.write([example], model.transfer(each[None]), k=20)[0] for each in shown]
        for answer in found:
            said = [math.exp(each.score) for some in alone for each in some if each.tokens == answer.tokens]
            assert math.exp(answer.log_prob) == pytest.approx(sum(said) / len(shown), rel=1e-4)
            as_edit = dataclasses.replace(edit, after=Version("", answer.tokens))
            one, others = model.transfer(model.encode([as_edit]))[0], model.transfer(shown)
            cosines = others @ one / np.linalg.norm(others, axis=1) / np.linalg.norm(one)
            assert answer.likeness == pytest.approx(float(cosines.max()), abs=1e-5)
            checked += 1
        (ranked,) = FewShotEditor(model).write_like([edit], [some], k=20)
        best = sorted((answer.score for answer in found), reverse=True)[:20]
        assert [each.score for each in ranked] == pytest.approx(best)
    assert checked > 20


def test_several_edits_are_followed_each_as_if_alone() -> None:
    edits = random_edits(5)
    model = small_model(edits, transfer_layer=True)
    everything = FewShotEditor(model).show(edits)
    shown = [everything.without(number).at(range(number + 1)) for number in range(4)]
    for together, edit, some in zip(FewShotEditor(model).write_like(edits[:4], shown), edits, shown, strict=False):
        (alone,) = FewShotEditor(model).write_like([edit], [some])
        assert [each.tokens for each in together] == [each.tokens for each in alone]
    assert FewShotEditor(model).write_like([], []) == []


def test_what_would_be_another_edit_is_not_suggested() -> None:
    model = editvec.neural.model.load()
    like = ("x = x + 1;", "x++;")
    assert edit_snippet("total = total + 1;", like=like, model=model)[0].text == "total++;"
    assert edit_snippet("total = total + 2;", like=like, model=model) == []
    assert edit_snippet("total = total + 2;", like=like, anyway=True, model=model)
    assert edit_snippet("total = total + 1;", like=[like, ("y = y + 1;", "y++;")], model=model)[0].text == "total++;"
    with pytest.raises(UserError, match="either examples of the edit"):
        edit_snippet("total = total + 1;", like=[], model=model)


def test_what_cannot_be_read_back_is_taken_by_its_word() -> None:
    edits = ten_edits()
    model = small_model(edits, encoder="graph")
    shown = FewShotEditor(model).show(edits[1:2])
    (found,) = FewShotEditor(model).write_like([edits[0]], [shown])
    example = model.exampler(edits[0], with_after=False)
    written = model.write([example], model.transfer(shown.vectors), k=10)[0]
    sound = are_sound("csharp", " ".join(edits[0].before.tokens), [" ".join(each.tokens) for each in written])
    by_word = [each for each, is_sound in zip(written, sound, strict=True) if each.complete and is_sound]
    assert by_word
    assert [(each.tokens, each.score) for each in found] == [(each.tokens, each.score) for each in by_word[:5]]


@given(log_prob=st.floats(-40, 0), likeness=st.floats(-1, 1), more=st.floats(0, 1))
def test_what_is_likelier_and_more_alike_is_likelier_right(log_prob: float, likeness: float, more: float) -> None:
    answer = FewShotAnswer((), log_prob, likeness)
    assert answer.score < 0
    assert answer._replace(log_prob=log_prob + more).score >= answer.score
    assert answer._replace(likeness=likeness + more).score >= answer.score
    as_trees = answer._replace(tree_similarity=more)
    assert as_trees._replace(tree_similarity=2 * more).score >= as_trees.score


def test_what_is_outside_the_vocabulary_is_copied_and_has_a_loss() -> None:
    edits = ten_edits()
    model = small_model(edits, vocab_size=1)
    example = model.exampler(edits[7])
    assert model.exampler.written(example.after.tolist(), example) == edits[7].after.tokens
    assert all(math.isfinite(value) for value in _log_probs(model, edits).tolist())
    # Nobody can write a token that is nowhere: it is UNKNOWN, and a candidate with it is not complete.
    alien = dataclasses.replace(edits[0], after=Version("", ("nowhere",)))
    assert math.isfinite(_log_probs(model, [alien]).item())


def test_nothing_changed_and_nothing_there_are_edits_too() -> None:
    edits = random_edits(4)
    same = dataclasses.replace(edits[0], after=edits[0].before)
    gone = made.edit(edits[1].before.text, "")
    born = made.edit("", edits[2].after.text)
    for encoder, changed_only in product(ENCODERS, (False, True)):
        model = small_model([*edits, gone, born], encoder=encoder, changed_only=changed_only, token_skip=2)
        assert np.isfinite(model.encode([same, gone, born])).all()
        assert np.isfinite(_log_probs(model, [same, gone, born])).all()


@pytest.mark.parametrize(("editor", "encoder"), PAIRS)
@pytest.mark.parametrize("shared", [True, False])
def test_a_saved_model_is_the_same_model(editor: str, encoder: str, shared: bool, tmp_path: Path) -> None:
    edits = random_edits(6)
    model = small_model(
        edits, editor=editor, encoder=encoder, shared_reader=shared, tied=not shared, token_skip=2, transfer_layer=True
    )
    model.save(tmp_path / "m")
    again = editvec.neural.model.load(tmp_path / "m")
    assert again.config == model.config
    assert again.vocab == model.vocab
    np.testing.assert_array_equal(_log_probs(again, edits), _log_probs(model, edits))
    np.testing.assert_array_equal(again.encode(edits), model.encode(edits))


def test_a_model_that_lowers_case_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    edits = [made.edit("The Cat sat", "The Cat SAT"), made.edit("F ( VAR0 )", "F ( LITERAL )")]
    model = small_model(edits, lowercase=True)
    assert set(model.vocab.tokens) == {"the", "cat", "sat", "f", "(", ")", "VAR0", "LITERAL"}
    answer = Candidate(("the", "cat", "ran"), -1.0, True)
    monkeypatch.setattr(model, "write", lambda *given, **named: [[answer]])
    assert edit_snippet(edits[0], like=edits[0], anyway=True, model=model)[0].tokens == ("The", "Cat", "ran")


@pytest.mark.parametrize(("editor", "encoder"), PAIRS)
def test_a_batch_that_was_only_asked_about_can_be_learned_from(editor: str, encoder: str) -> None:
    edits = ten_edits()
    model = small_model(edits, editor=editor, encoder=encoder)
    batch = model.collate(model.exampler.all(edits))
    before = model.network(batch)
    learner = Learner(model.network).eval()
    loss = -learner(batch).sum()
    loss.backward()
    assert float(loss.detach()) == pytest.approx(-float(before.sum()), rel=1e-5)
    assert any(weight.grad is not None for weight in learner.parameters())
    learner.close()
    np.testing.assert_array_equal(model.network(batch), before)


@pytest.mark.parametrize(("editor", "encoder"), PAIRS)
def test_every_pair_overfits_ten_edits(editor: str, encoder: str) -> None:
    edits = ten_edits()
    model = small_model(edits, editor=editor, encoder=encoder, scale=1.0)
    learn_by_heart(model, edits, likely=0.7)
    vectors = model.encode(edits)
    for edit, vector in zip(edits, vectors, strict=True):
        assert edit_snippet(edit, vector=vector, model=model)[0].tokens == edit.after.tokens
