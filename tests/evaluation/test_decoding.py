"""Evaluation: what is right is counted, in the order of the file, and nothing twice."""

from __future__ import annotations

import dataclasses
import math

import pytest

from editvec.core.edit import Edit, Version
from editvec.data.digests import TrainingDigests
from editvec.evaluation import metrics
from editvec.evaluation.decoding import EvaluationReport, answer_all
from editvec.neural.model import EditModel
from tests.neural.edits import edit, learn_by_heart, random_edits, small_model, ten_edits


def _learned(edits: list[Edit]) -> EditModel:
    model = small_model(edits, scale=1.0)
    learn_by_heart(model, edits, likely=0.7)
    return model


def test_answers_are_counted_on_all_and_on_unseen_edits() -> None:
    edits = ten_edits()
    model = _learned(edits)
    # Learned by heart: right. Its before with another after that nobody can write: wrong, whatever the model says.
    alien = dataclasses.replace(edits[0], id="alien", after=Version("", ("nowhere",)))
    long = dataclasses.replace(edits[0], id="long", before=Version("", ("x",) * 101))
    report = EvaluationReport()
    answers = list(answer_all(model, [*edits, alien, long], report, seen=TrainingDigests.of(edits[:4])))
    assert [answer.edit.id for answer in answers] == [*(e.id for e in edits), "alien"]
    assert [answer.rank for answer in answers] == [1] * 10 + [None]
    assert [answer.writable for answer in answers] == [True] * 10 + [False]
    assert report.too_long == 1
    assert report.all.accuracy.value == pytest.approx(10 / 11)
    assert report.all.ceiling == pytest.approx(10 / 11)
    assert len(report.unseen.ranks) == 7
    assert report.unseen.recall(5).value == pytest.approx(6 / 7)


def test_log_probs_are_the_networks_and_perplexity_is_theirs() -> None:
    edits = [each for each in random_edits(40) if each.after.tokens]
    model = small_model(edits)
    report = EvaluationReport()
    answers = list(answer_all(model, edits, report))
    for answer in answers:
        alone = model.network(model.collate([model.exampler(answer.edit)])).item()
        assert answer.log_prob == pytest.approx(alone, rel=1e-4)
    expected = metrics.perplexity([a.log_prob for a in answers], [len(e.after.tokens) for e in edits])
    assert report.all.perplexity == pytest.approx(expected)


def test_lower_case_is_what_is_asked_for() -> None:
    model = small_model([edit("the cat", "a cat")], lowercase=True)
    report = EvaluationReport()
    (answer,) = answer_all(model, [edit("The Cat", "A Cat")], report)
    assert answer.writable
    assert math.isfinite(answer.log_prob)


def test_a_tree_that_the_grammar_does_not_know_counts_as_wrong() -> None:
    edits = random_edits(12)
    model = small_model(edits, editor="graph2tree")
    strange = dataclasses.replace(edits[0], id="strange", after=dataclasses.replace(edits[0].after, tree=_STRANGE))
    report = EvaluationReport()
    answers = list(answer_all(model, [*edits, strange], report, seen=TrainingDigests.of([])))
    assert len(answers) == 12
    assert report.no_tree == 1
    assert len(report.all.ranks) == len(report.unseen.ranks) == 13
    assert len(report.all.log_probs) == 12


_STRANGE = '["root","",[["never seen","",[]]]]'
