"""What learn remembers changes nothing but the time that it takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from editvec.data.store import Store
from editvec.mining import run
from editvec.mining.batch import MiningTask
from editvec.mining.options import pick_languages
from editvec.mining.recipes import get_recipe
from editvec.neural.model import EditModel
from editvec.patterns import memory
from editvec.patterns.document import PatternEntry
from editvec.patterns.pipeline import Learned, LearnRequest, learn_patterns
from editvec.suggest.evidence import RuledEdits
from editvec.vcs.git import open_repository
from tests.neural.edits import small_model

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo_history.py"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("memory") / "shop"
    subprocess.run([sys.executable, str(EXAMPLE), str(place)], check=True, capture_output=True)
    return place


def _request(shop: Path, *, resume: bool = True) -> LearnRequest:
    recipe = get_recipe("default")
    task = MiningTask(open_repository(shop), recipe, pick_languages((), recipe), ())
    return LearnRequest(run.MiningRequest(task, workers=1, resume=resume))


def _said(learned: Learned) -> list[PatternEntry]:
    return [PatternEntry.of(pattern, number, {}) for number, pattern in enumerate(learned.patterns, 1)]


def test_a_second_run_encodes_and_matches_nothing_again(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model([])
    without = learn_patterns(_request(shop, resume=False), model)
    first = learn_patterns(_request(shop), model)

    def refuse(*_: object) -> None:
        raise AssertionError("this was known")

    def only_nothing(files: object, ruled: Sequence[RuledEdits], language: str) -> list[None]:
        assert not ruled, "this was known"
        return []

    monkeypatch.setattr(EditModel, "encode", refuse)
    monkeypatch.setattr(memory, "rules_of", refuse)
    monkeypatch.setattr(memory, "collect_evidence", only_nothing)
    again = learn_patterns(_request(shop), model)
    assert _said(without) == _said(first) == _said(again)
    assert without.vectors is not None and first.vectors is not None and again.vectors is not None
    np.testing.assert_allclose(first.vectors, again.vectors, atol=1e-5)
    np.testing.assert_allclose(without.vectors, first.vectors, atol=1e-5)


def test_another_model_and_another_rule_are_not_mistaken(shop: Path) -> None:
    one, other = small_model([]), small_model([])
    other.network.named_arrays()["encoder.tags.weight"][:] += 1
    assert one.digest != other.digest
    learned = learn_patterns(_request(shop, resume=False))
    pattern = next(each for each in learned.patterns if each.rule)
    assert pattern.rule is not None
    ruled = RuledEdits(pattern.rule, pattern.edits)
    changed = ruled._replace(rule=replace(pattern.rule, yaml=pattern.rule.yaml + "\n"))
    keys = {memory._key(each) for each in (ruled, changed, ruled._replace(edits=pattern.edits[:-1]))}
    assert len(keys) == 3


def test_a_damaged_store_costs_nothing_but_time(shop: Path) -> None:
    wanted = _said(learn_patterns(_request(shop)))
    with Store.of(shop) as store:
        path = store.path
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 3)
        file.write(b"\xff" * (size // 3))
    assert _said(learn_patterns(_request(shop))) == wanted
