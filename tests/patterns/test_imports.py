"""Imports that come along with learned patterns and with examples."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import editvec
from editvec.rewrite.review import Decisions
from tests.cli.run import run
from tests.conftest import Repo

OLD = "import time\nimport os\n\n\ndef run{0}(path):\n    start = time.time()\n    return os.stat(path), start\n"
NEW = OLD.replace("time.time()", "clock.now()").replace("import time\nimport os", "import os\n\nimport clock")


@pytest.fixture
def changed(repo: Repo) -> Repo:
    """A repository in which five of eight files were changed in the same way."""
    repo.commit({f"part{n}.py": OLD.format(n) for n in range(8)})
    for n in range(5):
        repo.commit({f"part{n}.py": NEW.format(n)}, author="AB"[n % 2])
    return repo


def test_a_pattern_brings_the_imports_of_its_edits(changed: Repo) -> None:
    learned = editvec.learn(changed.path, model="none", workers=1)
    (pattern,) = [each for each in learned.patterns if "clock" in each.after and each.rule]
    assert [each.imported.module for each in pattern.imports.gained] == ["clock"]
    assert [each.imported.module for each in pattern.imports.lost] == ["time"]
    found = editvec.find([pattern.name], repo=changed.path, min_confidence=0)
    entries = found.as_json()
    assert [each["path"] for each in entries] == ["part5.py", "part6.py", "part7.py"]
    assert orjson.loads(orjson.dumps(entries)) == entries
    for each in entries:
        assert [one["after"].strip() for one in each["imports"]] == ["", "import clock"]
    (log,) = orjson.loads(run("find", "--min-confidence", "0", "--format", "sarif", cwd=changed.path).stdout)["runs"]
    (fix,) = log["results"][0]["fixes"]
    texts = [each["insertedContent"]["text"] for each in fix["artifactChanges"][0]["replacements"]]
    assert [text.strip() for text in texts][1:] == ["", "import clock"]
    (found_pattern,) = found.patterns
    decisions = Decisions([(pattern.id, found_pattern.suggestions)], changed.path, changed.path / "accepted.patch")
    decisions.decide({"suggestion": "1-0", "verdict": "accept"})
    changed.git("apply", "--check", "accepted.patch")
    assert "+import clock" in (changed.path / "accepted.patch").read_text()
    done = editvec.apply(pattern.name, repo=changed.path, everywhere=True, update=True)
    assert (done.num_matches, done.num_files, done.problems) == (3, 3, [])
    assert all((changed.path / f"part{n}.py").read_text() == NEW.format(n) for n in range(8))
    editvec.undo(changed.path)
    assert (changed.path / "part6.py").read_text() == OLD.format(6)
    again = editvec.learn(changed.path, model="none", workers=1)
    assert [each.imports for each in again.patterns] == [each.imports for each in learned.patterns]


def test_examples_may_begin_with_imports(tmp_path: Path) -> None:
    for n in range(2):
        (tmp_path / f"part{n}.py").write_text(OLD.format(n))
    like = ("--like", "import time\ntime.time()", "import clock; clock.now()")
    shown = run("apply", *like, ".", cwd=tmp_path).stdout
    assert "+import clock" in shown and "-import time" in shown
    run("apply", *like, ".", "-i", cwd=tmp_path, stdin="y\nn\n")
    assert [(tmp_path / f"part{n}.py").read_text() for n in range(2)] == [NEW.format(0), OLD.format(1)]
    run("apply", *like, ".", "-U", cwd=tmp_path)
    assert (tmp_path / "part1.py").read_text() == NEW.format(1)
    assert run("apply", *like, "-", "--language", "python", stdin=OLD.format(3)).stdout == NEW.format(3)
