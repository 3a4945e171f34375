"""The verbs that learn and apply, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from editvec import cli
from editvec.data import edit_files
from editvec.syntax.snippet import snippet_edit
from editvec.training import config
from editvec.training.config import Config, TrainingConfig
from tests.cli.run import Done
from tests.cli.run import run as in_process
from tests.neural.edits import small_config


def run(*arguments: object, stdin: str = "") -> Done:
    return in_process(*arguments, code=None, stdin=stdin)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned two kinds of edits, through the command line."""
    folder = tmp_path_factory.mktemp("learning")
    pairs = [(f"{a} = {a} + 1;", f"{a}++;") for a in "abcdefghij"]
    pairs += [(f"{a} = {a} - 1;", f"{a}--;") for a in "abcdefghij"]
    edits = [snippet_edit(*pair, "csharp", identity=f"e{at}") for at, pair in enumerate(pairs)]
    edit_files.write(folder / "edits.parquet", edits)
    settings = Config(small_config(), TrainingConfig(epochs=60, batch_edits=5, learning_rate=1e-2))
    (folder / "c.toml").write_text(config.dumps(settings))
    files = ("--train", folder / "edits.parquet", "--dev", folder / "edits.parquet")
    done = run("train", *files, "--config", folder / "c.toml", "-o", folder / "run", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["metrics"]) == 60
    return folder


def test_edit_by_example(trained: Path) -> None:
    like = ("--like-before", "x = x + 1;", "--like-after", "x++;")
    done = run("edit", trained / "run", "--before", "total = total + 1;", *like)
    assert done.returncode == 0, done.stderr
    probability, text = done.stdout.splitlines()[0].split(maxsplit=1)
    assert text == "total++;"
    assert float(probability.rstrip("%")) > 50
    done = run("edit", trained / "run", "--before", "-", *like, "--json", "-k", "2", stdin="n = n + 1;")
    assert json.loads(done.stdout)[0]["text"] == "n++;"
    more = ("--like-before", "y = y + 1;", "--like-after", "y++;")
    done = run("edit", trained / "run", "--before", "n = n + 1;", *like, *more, "--json", "-k", "1")
    assert json.loads(done.stdout)[0]["text"] == "n++;"
    done = run("edit", trained / "run", "--before", "n = n + 1;", *like, *more[:2])
    assert (done.returncode, "Give one --like-after" in done.stderr) == (2, True)


def test_evaluate(trained: Path) -> None:
    done = run("evaluate", trained / "run", trained / "edits.parquet", "--out", trained / "answers.jsonl")
    assert done.returncode == 0, done.stderr
    assert "all (20)" in done.stdout
    assert "unseen (0)" in done.stdout
    assert "Acc@1" in done.stdout
    rows = [json.loads(line) for line in (trained / "answers.jsonl").read_text().splitlines()]
    assert [row["rank"] for row in rows] == [1] * 20
    done = run("evaluate", trained / "run", trained / "edits.parquet", "--json", "-k", "3", "--limit", "7")
    found = json.loads(done.stdout)
    assert found["all"]["edits"] == 7
    assert found["all"]["accuracy"]["value"] == 1.0
    assert "recall@3" in found["all"] and "pruned_accuracy" not in found["all"]
    done = run("evaluate", trained / "run", trained / "edits.parquet", "--json", "--pruned", "--limit", "7")
    found = json.loads(done.stdout)
    assert found["all"]["pruned_accuracy"]["value"] == found["all"]["pruned_recall@5"]["value"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("train", "-o", "r"), 2, "no training edits. Give a file with --train"),
        (("train", "--train", "{}/edits.parquet", "-o", "r", "epoch=3"), 2, "Did you mean epochs?"),
        (("train", "--train", "{}/edits.parquet", "-o", "r", "three"), 2, "Write KEY=VALUE"),
        (("train", "--train", "{}/edits.parquet", "-o", "r", "--recipe", "x"), 2, "Choose one of: iclr19, default"),
        (
            ("train", "--train", "{}/edits.parquet", "-o", "r", "--encoder", "x"),
            2,
            "Choose one of: sequence, graph, bag, none",
        ),
        (("train", "--train", "{}/nothing.parquet", "-o", "r"), 2, "does not exist"),
        (("train", "-o", "{}/run", "--resume"), 2, "training is finished"),
        (("train", "-o", "{}/run", "--resume", "epochs=3"), 2, "Do not give any others"),
        (("train", "--train", "{}/edits.parquet", "-o", "{}/run"), 2, "already holds a trained model"),
        (("evaluate", "{}", "{}/edits.parquet"), 3, "not a trained model: config.toml is missing"),
        (("evaluate", "{}/run", "{}/nothing.tsv"), 2, "does not exist"),
        (("edit", "{}/no", "--before", "a", "--like-before", "b", "--like-after", "c"), 2, "is not a folder"),
        (
            ("edit", "{}/run", "--before", "a", "--like-before", "b", "--like-after", "c", "--language", "c#"),
            2,
            "unknown language",
        ),
        (("edit", "{}/run", "--before", ";" * 200, "--like-before", "b", "--like-after", "c"), 2, "has 200 tokens"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...],
    code: int,
    complaint: str,
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["editvec", *(part.replace("{}", str(trained)) for part in arguments)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    said = capsys.readouterr().err
    assert caught.value.code == code
    assert complaint in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize("verb", ["train", "evaluate", "edit", "encode", "neighbours", "cluster", "probe", "transfer"])
def test_help_has_an_example_and_loads_no_torch(verb: str) -> None:
    code = (
        f"import sys; sys.argv = ['editvec', '{verb}', '--help']\n"
        "import editvec.cli\n"
        "try: editvec.cli.main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('torch', 'numpy', 'pyarrow') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert f"editvec {verb} " in done.stdout
