"""The contrastive loss: alike is near, the reversed edit is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.diff import Tag
from editvec.neural.examples import NOWHERE, TAGS, Exampler
from editvec.neural.model import load
from editvec.neural.vocab import build
from editvec.training import Files, train
from editvec.training.config import Config, TrainingConfig
from editvec.training.contrast import contrastive_loss, make_contrast, reversed_example
from editvec.vectors.index import unit
from tests.neural.edits import edit, random_edits, small_config, small_model

ALIKE = [edit(f"call w{at} a ( )", f"call w{at} b ( )", identity=f"a{at}") for at in range(20)]
OTHERS = [edit(f"w{at} ; x", f"w{at} ; y z", identity=f"b{at}") for at in range(20)]


@pytest.mark.parametrize("pieces", [0, 20])
def test_a_reversed_example_is_that_of_the_reversed_edit(pieces: int) -> None:
    edits = random_edits(12)
    model = small_model(edits, vocab_size=15, num_pieces=pieces)
    examples = model.exampler.all(edits)
    undone = [reversed_example(example) for example in examples]
    for example, one in zip(examples, undone, strict=True):
        tags = [TAGS[tag] for tag in one.tags]
        assert [tag is Tag.ADDED for tag in tags] == (one.aligned_before == NOWHERE).tolist()
        assert [tag is Tag.REMOVED for tag in tags] == (one.aligned_after == NOWHERE).tolist()
        equal = [tag is Tag.EQUAL for tag in tags]
        assert (one.before[one.aligned_before[equal]] == one.after[one.aligned_after[equal]]).all()
        back = reversed_example(one)
        np.testing.assert_array_equal(back.tags, example.tags)
        np.testing.assert_array_equal(back.before, example.before)
    vectors, others = model.encode_examples(undone), model.encode(edits)
    assert not np.isclose(vectors, others, atol=1e-3).all(1).any()


def test_only_edits_that_another_one_is_shown_for_are_compared() -> None:
    exampler = Exampler(build({"call": 1}, size=9, min_count=1), signatures=True)
    examples = exampler.all([*ALIKE[:3], OTHERS[0]])
    model = small_model(ALIKE)
    assert make_contrast(examples, examples, model.collate) is None
    found = make_contrast(examples, [examples[1], examples[2], examples[0], examples[3]], model.collate)
    assert found is not None
    assert found.rows.tolist() == [True, True, True, False]
    assert found.same.all()
    assert len(found.edits) == len(found.shown) == len(found.undone) == 3


def test_the_loss_tells_what_is_near() -> None:
    own = torch.eye(4)
    same = np.zeros((4, 4), np.bool_)
    np.fill_diagonal(same, True)
    right, mixed = own.clone(), own.flip(0)
    assert contrastive_loss(own, right, -own, same).max() < 0.01
    assert contrastive_loss(own, mixed, -own, same).min() > 5
    assert contrastive_loss(own, right, own, same).min() > 0.6
    # What has the same signature may be as near.
    alike = torch.ones(4, 4)
    assert contrastive_loss(alike, alike, -alike, np.ones((4, 4), np.bool_)).max() < 0.01


def _margin(folder: Path, files: Files, contrast: float) -> float:
    """How much nearer a trained encoder puts an edit to one with its signature than to its own reversed edit."""
    settings = TrainingConfig(
        epochs=12, batch_edits=16, learning_rate=1e-2, schedule="linear", vector_swap=0.9, contrast=contrast
    )
    train(folder, files, Config(small_config(transfer_layer=True), settings))
    model = load(folder)
    undone = [replace(each, before=each.after, after=each.before) for each in ALIKE]
    own, other = unit(model.encode(ALIKE)), unit(model.encode(undone))
    return float((own * np.roll(own, 1, 0)).sum(1).mean() - (own * other).sum(1).mean())


def test_training_brings_the_same_change_together(tmp_path: Path) -> None:
    edit_files.write(tmp_path / "train.jsonl", [*ALIKE, *OTHERS])
    files = Files(tmp_path / "train.jsonl", tmp_path / "train.jsonl")
    assert _margin(tmp_path / "with", files, 1.0) > _margin(tmp_path / "without", files, 0.0) + 0.1


def test_settings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    edit_files.write(tmp_path / "train.jsonl", ALIKE)
    files = Files(tmp_path / "train.jsonl", tmp_path / "train.jsonl")
    for made, given, message in (
        (small_config(encoder="graph"), TrainingConfig(contrast=1.0), "encoder graph"),
        (small_config(), TrainingConfig(forget=0.1), "forget needs pieces"),
        (small_config(editor="graph2tree", num_pieces=9), TrainingConfig(forget=0.1), "forget needs pieces"),
    ):
        with pytest.raises(UserError, match=message):
            train(tmp_path / "other", files, Config(made, given))
