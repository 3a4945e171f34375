"""The example of each function runs as it stands in the documentation, in the repository of the demo."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import editvec
from editvec.data import edit_files
from editvec.syntax.snippet import snippet_edit
from editvec.training import config
from editvec.training.config import Config, TrainingConfig
from tests.neural.edits import small_config

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo_history.py"
ENDLESS = {"lsp", "rate", "serve"}
"""They run until they are stopped; their examples are not run."""
NEEDS_DATA = {"reproduce"}
VERBS = sorted(set(editvec._MODULES) - {"EditModel"})
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's repository with what the examples read: edits, labelled edits, an index, a small model."""
    shop = tmp_path_factory.mktemp("examples") / "shop"
    subprocess.run([sys.executable, str(EXAMPLE), str(shop)], check=True, capture_output=True)
    editvec.mine(shop, shop / "edits.jsonl.gz", workers=1)
    editvec.learn(shop, model="none", workers=1)
    editvec.encode("packaged", shop / "edits.jsonl.gz", shop / "edits.index")
    names = "abcdefgh"
    made = [snippet_edit(f"{a} = {a} + 1;", f"{a}++;", "csharp", f"INCREMENT_{at}") for at, a in enumerate(names)]
    made += [snippet_edit(f"{a} == null", f"{a} is null", "csharp", f"ISNULL_{at}") for at, a in enumerate(names)]
    edit_files.write(shop / "labelled.jsonl.gz", made)
    (shop / "small.toml").write_text(config.dumps(Config(small_config(), TrainingConfig(epochs=1, batch_edits=8))))
    (shop / "sentences.tsv").write_text("a cat\tbig\ta big cat\n")
    return shop


@pytest.mark.parametrize("verb", VERBS)
def test_the_example_runs(verb: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = inspect.getdoc(getattr(editvec, verb)) or ""
    test = doctest.DocTestParser().get_doctest(text, {"Path": Path}, verb, None, None)
    assert test.examples, f"{verb} has no example"
    if verb in ENDLESS | NEEDS_DATA:
        return
    assert any(each.want for each in test.examples), f"the example of {verb} shows no result"
    monkeypatch.chdir(folder)
    found: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test, out=found.append)
    assert runner.failures == 0, "".join(found)
