"""The verbs of a plain `pip install`: they run where the packages of all extras cannot be imported."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = ("torch", "sklearn", "scipy", "faiss", "pyarrow", "matplotlib", "openTSNE", "pandas")

CHILD = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

blocked, calls = json.loads(sys.stdin.read())
sys.meta_path.insert(0, Blocker())
from editvec import cli
from editvec.ui import server

server.LocalServer.run = lambda self: None
said = []
for call in calls:
    out, err, code = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO(), None
    sys.argv = ["editvec", *call]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            cli.main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException as error:
        code = repr(error)
    out.flush()
    said.append([code, out.buffer.getvalue().decode(), err.getvalue()])

import editvec
from editvec.training.config import Config
assert Config().training.epochs
try:
    editvec.train(out="run", train="edits.jsonl.gz")
except editvec.UserError as error:
    assert "editvec[train]" in str(error)
loaded = sorted({name.partition(".")[0] for name in sys.modules} & set(blocked))
print(json.dumps([said, loaded]))
"""

RUN = (
    "mine SHOP -o edits.jsonl.gz --workers 1",
    "learn SHOP -o learned --workers 1",
    "find -C SHOP --patterns learned",
    "apply -C SHOP --patterns learned 1 --everywhere",
    "apply --like|return a == null ? null : a.B;|return a?.B;|--language|csharp|SHOP/src",
    "finish -C SHOP",
    "finish -C SHOP -U",
    "undo -C SHOP",
    "serve -C SHOP --patterns learned",
    "rule --edits edits.jsonl.gz --json",
    "encode packaged edits.jsonl.gz -o i",
    "encode tfidf edits.jsonl.gz -o words",
    "neighbours i --id #1",
    "neighbours words --id #2 --metric l2",
    "edit packaged --before|i = i + 1;|--like-before|x = x + 1;|--like-after|x++;|--language|csharp",
    "show edits.jsonl.gz #1 --actions",
    "draw edits.jsonl.gz #1 -o edit.svg",
    "stats edits.jsonl.gz",
    "split edits.jsonl.gz -o splits --shares 50,25,25",
    "convert edits.jsonl.gz edits.jsonl",
    "convert edits.jsonl published.jsonl.gz --format githubedits",
    "cache",
)
REFUSED = {
    "cluster i": "vectors",
    "cluster i -k 2": "vectors",
    "map i -o m.html": "vectors",
    "map i -o m.png": "vectors",
    "probe edits.jsonl.gz tfidf --label language": "vectors",
    "encode diff edits.jsonl.gz -o diffs": "vectors",
    "convert edits.jsonl.gz edits.parquet": "data",
    "mine SHOP -o edits.parquet": "data",
    "stats splits/none.parquet": "",
    "train --train edits.jsonl.gz -o run": "train",
}


def parsed(call: str, shop: Path) -> list[str]:
    """The arguments of a call: behind a bar they may have spaces in them."""
    head, *rest = call.split("|")
    return [part.replace("SHOP", str(shop)) for part in (*head.split(), *rest)]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, str, str]]:
    """What each call said, all in one process."""
    folder = tmp_path_factory.mktemp("light")
    shop = folder / "shop"
    subprocess.run([sys.executable, str(ROOT / "examples" / "demo_history.py"), str(shop)], check=True)
    for name in ("Invoices", "Parcels"):  # an edit that was begun
        file = shop / "src" / f"{name}.cs"
        file.write_text(file.read_text().replace('"loaded " + id', '$"loaded {id}"'))
    calls = [*RUN, *REFUSED]
    given = json.dumps([EXTRAS, [parsed(call, shop) for call in calls]])
    done = subprocess.run([sys.executable, "-c", CHILD], input=given, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    said, loaded = json.loads(done.stdout.splitlines()[-1])
    assert loaded == []
    return dict(zip(calls, map(tuple, said), strict=True))


@pytest.mark.parametrize("call", RUN)
def test_a_verb_runs(call: str, answers: dict[str, tuple[Any, str, str]]) -> None:
    code, out, err = answers[call]
    assert code == 0, err
    assert out or err


def test_an_edit_is_finished_and_taken_back(answers: dict[str, tuple[Any, str, str]]) -> None:
    assert "3 places in 3 files written" in answers["finish -C SHOP -U"][1]
    assert "3 places in 3 files taken back" in answers["undo -C SHOP"][1]


@pytest.mark.parametrize("call", REFUSED)
def test_a_verb_says_which_extra_it_needs(call: str, answers: dict[str, tuple[Any, str, str]]) -> None:
    code, _, err = answers[call]
    extra = REFUSED[call]
    assert code == 2, err
    assert err.startswith("editvec: ")
    assert err.count("\n") == 1
    assert not extra or f"Install it with: pip install 'editvec[{extra}]'." in err


def test_the_plain_install_has_none_of_them() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {"scikit-learn": "sklearn", "faiss-cpu": "faiss"}
    plain = {line.partition(">")[0].partition("<")[0] for line in project["dependencies"]}
    assert not {names.get(name, name) for name in plain} & set(EXTRAS)
    assert all(importlib.util.find_spec(name) for name in EXTRAS), "the test says nothing where they are missing"
