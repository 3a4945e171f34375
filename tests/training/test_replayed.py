"""Replays of a sweep become rows: what is shown, what is refused, and what the commit says of each match."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pytest

from editvec.mining.sweeps import Sweep, cut_lone_edits, cut_sweeps
from editvec.suggest.features import FEATURES
from editvec.suggest.replay import Verdict
from editvec.training.replayed import Replay, ReplayedRows, TreeReader, _rows, _shown, replay_rows, replays_of
from editvec.vcs.git import Repository, open_repository
from tests.conftest import Repo

BEFORE = "import log\n" + "".join(f"def f{n}(x):\n    y = load(x, {n})\n    return y\n\n\n" for n in range(5))
AFTER = BEFORE.replace("import log", "import logs").replace("load(", "read(").replace("read(x, 4)", "load(x, 4)")


@dataclass
class History:
    """A history with one sweep: of five calls, four are changed, and an import beside them."""

    repository: Repository
    sweep: Sweep


@pytest.fixture
def history(repo: Repo) -> History:
    repo.commit({"a.py": BEFORE, "b.py": "z = load(q, 1)\n"})
    repo.commit({"a.py": AFTER})
    repository = open_repository(repo.path)
    (sweep,) = cut_sweeps(repository, ["py"])
    return History(repository, sweep)


def rows_of(history: History) -> list[ReplayedRows]:
    with closing(TreeReader(history.repository, ["py"])) as reader:
        return list(replay_rows(history.repository, reader, history.sweep, random.Random(1)))


def column(rows: ReplayedRows, name: str) -> list[float]:
    values: list[float] = rows.features[:, FEATURES.index(name)].tolist()
    return values


def test_the_commit_labels_every_match(history: History) -> None:
    rows = rows_of(history)
    kinds = replays_of(history.sweep, random.Random(1))
    assert len(rows) == len(kinds) == 5 and all(each.is_sweep for each in rows)
    alone = rows[0]
    assert alone.num_shown == 1 and alone.features.shape == (len(alone.verdicts), len(FEATURES))
    # Three calls are left to do; the one that the commit left alone and that of the other file are wrong.
    assert alone.verdicts.count(Verdict.RIGHT) >= 3 and alone.verdicts.count(Verdict.WRONG) >= 2
    assert np.isfinite(alone.features).all()


def test_replays_show_refusals_other_edits_and_typed_examples(history: History) -> None:
    rows = dict(zip(replays_of(history.sweep, random.Random(1)), rows_of(history), strict=True))
    refused = next(each for replay, each in rows.items() if replay.num_refused)
    assert set(column(refused, "num_refused")) == {1.0}
    others = next(each for replay, each in rows.items() if replay.others)
    assert set(column(others, "num_intents")) == {2.0}
    typed = next(each for replay, each in rows.items() if replay.typed)
    assert set(column(typed, "typed")) == {1.0} and typed.verdicts.count(Verdict.RIGHT) >= 4
    assert all(set(column(each, "typed")) == {0.0} for replay, each in rows.items() if not replay.typed)


def test_other_edits_leave_the_places_of_the_sweep_alone(history: History) -> None:
    from editvec.suggest.replay import commit_hunks
    from editvec.suggest.searched import SearchedFile

    hunks = commit_hunks(history.repository, history.sweep.commit)
    files = {"a.py": SearchedFile("a.py", "python", BEFORE.encode())}
    (shown,), now = _shown(Replay(history.sweep.sites[:1], others=True), history.sweep, files, hunks)
    first = history.sweep.sites[0]
    lines = BEFORE.replace("import log", "import logs").split("\n")
    lines[first.line - 1] = first.after
    assert shown.after == now["a.py"].data == "\n".join(lines).encode()
    assert _rows(Replay(()), history.sweep, files, hunks, random.Random(1)) is None


def test_a_lone_edit_teaches_silence(repo: Repo) -> None:
    repo.commit({"a.py": "one = f(x)\ntwo = f(y)\n"})
    repo.commit({"a.py": "one = g(x)\ntwo = f(y)\n"})
    repository = open_repository(repo.path)
    (lone,) = cut_lone_edits(repository, ["py"])
    (rows,) = rows_of(History(repository, lone))
    assert not rows.is_sweep and set(rows.verdicts) == {Verdict.WRONG}
