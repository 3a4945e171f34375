"""What a command refuses of the places of learned patterns, and what that teaches."""

from __future__ import annotations

import pytest

import editvec
from editvec.patterns.verify import VERDICTS
from tests.cli.run import run
from tests.conftest import Repo

OLD = "def run{0}(path):\n    log(path, {0})\n    return total(path)\n"
NEW = OLD.replace("log(path, {0})", "log.debug(path, {0})")
COMMAND = "! grep -n log.debug part7.py"


@pytest.fixture
def changed(repo: Repo) -> Repo:
    """A repository in which five of eight files were changed in the same way."""
    repo.commit({f"part{n}.py": OLD.format(n) for n in range(8)})
    for n in range(5):
        repo.commit({f"part{n}.py": NEW.format(n)}, author="AB"[n % 2])
    return repo


def test_what_the_command_refuses_is_left_out_and_teaches(changed: Repo) -> None:
    learned = editvec.learn(changed.path, model="none", workers=1)
    (pattern,) = [each for each in learned.patterns if each.rule]
    name = pattern.name
    found = editvec.find([name], repo=changed.path, verify=COMMAND)
    assert found.verification is not None and len(found.verification.refused) == 1
    assert [each["path"] for each in found.as_json()] == ["part5.py", "part6.py"]
    (again,) = editvec.find([name], repo=changed.path).patterns
    assert again.confidence < pattern.confidence
    assert all("refused 1 of 3 places: 2:    log.debug(path, 7)" in each.why for each in again.suggestions)
    (relearned,) = [each for each in editvec.learn(changed.path, model="none", workers=1).patterns if each.rule]
    assert relearned.confidence == pytest.approx(again.confidence)
    done = editvec.apply(name, repo=changed.path, everywhere=True, update=True, verify=COMMAND)
    assert (done.num_matches, done.refused) == (2, ["part7.py:2: 2:    log.debug(path, 7)"])
    assert [n for n in range(8) if (changed.path / f"part{n}.py").read_text() == NEW.format(n)] == [*range(7)]
    editvec.undo(changed.path)
    (changed.path / ".editvec" / VERDICTS).write_text("{}")
    assert VERDICTS in run("find", cwd=changed.path, code=3).stderr


def test_learn_judges_its_places(changed: Repo) -> None:
    shown = run("learn", "--model", "none", "--verify", COMMAND, cwd=changed.path)
    assert "2 of 3 places pass (2 built, not exercised)" in shown.stderr and "1 refused" in shown.stderr
    (pattern,) = [each for each in editvec.find(repo=changed.path).patterns if each.rule]
    assert pattern.judged is not None and (pattern.judged.kept, pattern.judged.refused) == (2, 1)


def test_examples_are_judged(changed: Repo) -> None:
    like = ("--like", "log(a, 1)", "log.debug(a, 1)", "--like", "log(b, 2)", "log.debug(b, 2)")
    shown = run("apply", *like, ".", "-U", "--verify", COMMAND, cwd=changed.path)
    assert "left out: part7.py:2" in shown.stderr and "log(path, 7)" in (changed.path / "part7.py").read_text()
    run("apply", *like, ".", "-i", "--verify", COMMAND, cwd=changed.path, code=2)
