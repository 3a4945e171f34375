"""The verbs around vectors, as a user runs them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from editvec import cli
from editvec.core.edit import Edit
from editvec.data import edit_files
from editvec.syntax.snippet import snippet_edit
from tests.neural.edits import small_model


def _edits() -> list[Edit]:
    pairs = [(f"{a} = {a} + 1;", f"{a}++;", "inc") for a in ("i", "row.At", "Next", "this.n", "A.B", "Count")]
    pairs += [(f"Assert.Equal(0, {a}.Count);", f"Assert.Empty({a});", "empty") for a in ("X", "Y", "Z.W", "V", "U.T")]
    pairs += [(f"await {a}();", f"await {a}().ConfigureAwait(false);", "await") for a in ("F", "G", "H.K", "M", "N.O")]
    edits = [snippet_edit(before, after, "csharp", f"{label}_{at}") for at, (before, after, label) in enumerate(pairs)]
    # By the last digit, so that the first ones are of all kinds.
    return sorted(edits, key=lambda edit: edit.id[::-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Edits, a model with random weights, and an index."""
    made = tmp_path_factory.mktemp("vectors")
    edits = _edits()
    edit_files.write(made / "edits.parquet", edits)
    small_model(edits, scale=1.0).save(made / "model")
    return made


class Ran:
    """What a call of the command line said."""

    def __init__(self, code: object, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> object:
    """Calls the command line in this process."""

    def call(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["editvec", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            cli.main()
        said = capsys.readouterr()
        return Ran(caught.value.code or 0, said.out, said.err)

    return call


@pytest.mark.parametrize("model", ["tfidf", "diff", "{}/model"])
def test_encode_neighbours_cluster(model: str, folder: Path, tmp_path: Path, run: object) -> None:
    assert callable(run)
    model, edits, index = model.replace("{}", str(folder)), folder / "edits.parquet", tmp_path / "i"
    done = run("encode", model, edits, "-o", index, "--limit", 9)
    assert (done.code, done.out.startswith(f"{index}: 9 edits")) == (0, True), done.err
    done = run("encode", model, edits, "-o", index, "--append", "--json")
    assert json.loads(done.out)["edits"] == 16
    done = run("neighbours", index, "--id", "#2", "-k", 3)
    assert done.out.count("cosine ") == 3
    done = run("neighbours", index, "--before", "K = K + 1;", "--after", "K++;", "-k", 1, "--json", "--metric", "l2")
    found = json.loads(done.out)
    if model == "tfidf":
        assert found["neighbours"][0]["id"].startswith("inc_")
    done = run("cluster", index, "-k", 3, "-o", tmp_path / "g.json")
    assert "3 clusters of 16 edits" in done.out
    groups = json.loads((tmp_path / "g.json").read_text())["groups"]
    assert sorted(name for group in groups for name in group["members"]) == sorted(edit.id for edit in _edits())
    assert "use --min-size" in run("cluster", index, "--method", "hdbscan", "-k", 3).err


def test_probe(folder: Path, run: object) -> None:
    assert callable(run)
    done = run("probe", folder / "edits.parquet", "tfidf", folder / "model", "--json")
    first, second = json.loads(done.out)
    assert first["all"]["accuracy"]["value"] == 1.0
    assert first["all"]["adjusted_rand"] == 1.0
    assert second["distinct"]["edits"] == 16
    done = run("probe", folder / "edits.parquet", "tfidf", "--by-label")
    assert "all (16)" in done.out
    assert all(len(line.rstrip()) <= 80 for line in done.out.splitlines())
    assert "await" in done.out


def test_transfer(folder: Path, tmp_path: Path, run: object) -> None:
    assert callable(run)
    done = run("transfer", folder / "model", folder / "edits.parquet", "--seeds", 2, "-k", 2)
    assert done.code == 0, done.err
    assert "macro, gold" in done.out
    journal = tmp_path / "j.jsonl"
    call = ("transfer", folder / "model", folder / "edits.parquet", "--protocol", "all-pairs", "--pairs", 4)
    done = run(*call, "-k", 2, "--json", "--journal", journal)
    found = json.loads(done.out)
    assert [each["pairs"] for each in found["labels"]] == [4, 4, 4]
    size = journal.stat().st_size
    assert json.loads(run(*call, "-k", 2, "--json", "--journal", journal).out) == found
    assert journal.stat().st_size == size


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("encode", "nothing", "{}/edits.parquet", "-o", "i"), 2, "is not a folder"),
        (("encode", "tfidf", "{}/edits.parquet", "-o", "{}/model"), 2, "contains files but no index"),
        (("encode", "tfidf", "{}/no.parquet", "-o", "i"), 2, "does not exist"),
        (("neighbours", "{}/model", "--id", "x"), 2, "contains no index"),
        (("neighbours", "{}/i"), 2, "is not a folder"),
        (("cluster", "{}/no"), 2, "is not a folder"),
        (("probe", "{}/edits.parquet", "tfidf", "--label", "project"), 2, "has a label (--label project)"),
        (("transfer", "{}/model", "{}/edits.parquet", "--label", "label"), 2, "has a label (--label label)"),
        (("transfer", "{}", "{}/edits.parquet"), 3, "not a trained model"),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[str, ...],
    code: int,
    complaint: str,
    folder: Path,
    tmp_path: Path,
    run: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert callable(run)
    monkeypatch.chdir(tmp_path)
    done = run(*(part.replace("{}", str(folder)) for part in arguments))
    assert done.code == code
    assert complaint in done.err
    assert len(done.err.strip().splitlines()) == 1
