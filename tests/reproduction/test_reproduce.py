"""Reproduction: small data made here, every table from nothing, reuse of what is there, going on after a stop."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from editvec import cli
from editvec.core.edit import Edit, Version
from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.evaluation.ratings import Ratings, RatingTask
from editvec.reproduction import TABLES, Artifacts, budget, make, pages
from editvec.reproduction.artifacts import MODELS, describe_time
from editvec.reproduction.tables import Row, Table, named
from editvec.training import config
from tests.browser import browser_page
from tests.neural.edits import edit

SMALL = {"embed_dim": 8, "tag_dim": 4, "hidden_dim": 8, "edit_dim": 8, "min_count": 1, "graph_layers": 1}
SMALL |= {"graph_steps": 1, "warmup_steps": 0}


def _code(kind: str, number: int, identity: str) -> Edit:
    name = f"w{number % 7}"
    if kind == "RCS1":
        return edit(f"{name} = {name} + {number} ;", f"{name} += {number} ;", identity=identity)
    return edit(f"Log ( {name} ) ;", f"Log . Debug ( {name} , {number} ) ;", identity=identity)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in the published layout."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("githubedits", "prose_edits"):
        (folder / name).mkdir()
    for at, (side, number) in enumerate((("train", 24), ("dev", 6), ("test", 6))):
        kinds = [_code(("RCS1", "RCS2")[n % 2], 100 * at + n, f"P|c{at}|{side}_{n}") for n in range(number)]
        edit_files.write(folder / "githubedits" / f"{side}.parquet", kinds)
        sentences = [
            Edit(
                f"{side}{n}",
                "text",
                Version(f"the cat {n}", ("the", "cat", str(n))),
                Version(f"the big cat {n}", ("the", "big", "cat", str(n))),
            )
            for n in range(number)
        ]
        edit_files.write(folder / "prose_edits" / f"{side}.tsv.gz", sentences)
    labelled = [_code(kind, n, f"{kind}_{n}") for kind in ("RCS1", "RCS2") for n in range(5)]
    edit_files.write(folder / "csharp_fixers.parquet", labelled)
    return folder


def _shop(folder: Path, data: Path) -> Artifacts:
    return Artifacts(folder, data, 1.0, 1, 12, SMALL)


@pytest.fixture(scope="module")
def made(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Table]]:
    """Every table, from nothing."""
    folder = tmp_path_factory.mktemp("artifacts")
    artifacts = _shop(folder, data)
    return folder, {name: make(artifacts, name) for name in TABLES}


def test_every_table_is_made(made: tuple[Path, dict[str, Table]]) -> None:
    folder, tables = made
    assert {path.name for path in (folder / "models").iterdir()} >= set(MODELS)
    for name, table in tables.items():
        assert table.rows, name
        if name != "ratings":
            assert all(
                row.ours is not None for row in table.rows if row.name.split()[-1] != "CA2007" and name != "fixers"
            )
    fixers = [row for row in tables["fixers"].rows if "RCS1" in row.name.split() or "RCS2" in row.name.split()]
    assert len(fixers) == 8
    assert all(row.ours is not None and row.paper is None for row in fixers)
    assert (folder / tables["map"].picture).read_bytes().startswith(b"\x89PNG")
    assert any("there are no ratings yet" in note for note in tables["ratings"].notes)


def test_what_is_there_is_not_made_again(made: tuple[Path, dict[str, Table]], data: Path) -> None:
    folder, tables = made
    said: list[str] = []
    artifacts = Artifacts(folder, data, 1.0, 1, 12, SMALL, said.append)
    assert budget(artifacts, TABLES) == []
    assert {name: make(artifacts, name) for name in TABLES} == tables
    assert said == []


def test_ratings_come_in_when_people_have_rated(made: tuple[Path, dict[str, Table]], data: Path) -> None:
    folder, _ = made
    place = folder / "ratings-code"
    task = RatingTask.load(place)
    ratings = Ratings(place, "ada")
    for query, each in enumerate(task.queries):
        for candidate in range(len(each.candidates)):
            ratings.rate(task, query, candidate, 2)
    rows = make(_shop(folder, data), "ratings").rows
    ours = {(row.name, row.metric): row.ours for row in rows}
    assert ours["code tfidf", "NDCG %"] == pytest.approx(100)
    assert ours["code seq2seq-sequence", "Acc@1 %"] == 100
    assert ours["prose tfidf", "DCG"] is None
    ratings.path.unlink()


def test_interrupted_it_goes_on(data: Path, tmp_path: Path) -> None:
    artifacts = _shop(tmp_path / "s", data)
    artifacts.epochs = 3

    def stop(progress: object) -> None:
        raise KeyboardInterrupt

    artifacts.watch = stop
    with pytest.raises(KeyboardInterrupt):
        make(artifacts, "map")
    assert [name for name, _ in budget(artifacts, ["map"])] == ["seq2seq-sequence"]
    artifacts.watch = lambda progress: None
    assert make(artifacts, "map").rows[0].ours is not None
    assert budget(artifacts, ["map"]) == []


def test_a_smoke_run_takes_small_models_one_epoch_and_few_edits(data: Path, tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path, data, 0.04)
    assert artifacts.is_smoke
    assert artifacts.num_epochs == 1
    assert Artifacts(tmp_path, data, 0.5).num_epochs == 12
    assert Artifacts(tmp_path, data, 0.04, epochs=7).num_epochs == 7
    # 0.04 of five edits are none: three of each label are what an edit can be tried with at all.
    assert [edit.id for edit in artifacts.some_labelled(trees=False)] == [
        f"{kind}_{n}" for kind in ("RCS1", "RCS2") for n in range(3)
    ]
    assert len(Artifacts(tmp_path, data).some_labelled(trees=False)) == 10
    made = config.load(artifacts.model("prose-sequence") / "config.toml")
    assert made.model.hidden_dim < config.recipe("iclr19").model.hidden_dim
    assert made.training.epochs == 1


def test_pages_say_paper_ours_difference(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>|x"
    rows = (Row(hostile, "Acc@1 %", 50.0, 60.25), Row("b", "PPL", 1.2792, 1.3, 4), Row("c", "Acc %", None, 3.0))
    table = Table("t", "A title", rows, (hostile,))
    text = pages.markdown([table], head="h")
    assert "| 50.00 | 60.25 | +10.25 |" in text
    assert "| 1.2792 | 1.3000 | +0.0208 |" in text
    assert "| – | 3.00 | – |" in text
    assert "<script" not in text
    page = pages.html([table], head="h", folder=tmp_path)
    assert '<td class="better">+10.25</td>' in page
    assert '<td class="worse">+0.0208</td>' in page
    (tmp_path / "r.html").write_text(page, encoding="utf-8")
    with browser_page() as (browser, wrong):
        browser.goto((tmp_path / "r.html").as_uri())
        assert "alert(1)" in browser.inner_text("table")
        assert browser.locator("svg rect").count() == 5
        assert wrong == []


def test_names_and_times() -> None:
    assert (named("table4"), named("figure4"), named("sizes")) == ("editors", "map", "sizes")
    with pytest.raises(UserError, match="Choose from: statistics"):
        named("table3")
    assert [describe_time(each) for each in (50, 600, 9000)] == ["50 seconds", "10 minutes", "2.5 hours"]


def test_the_command_line(
    made: tuple[Path, dict[str, Table]], data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = made

    def run(*arguments: object) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["editvec", "reproduce", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        said = capsys.readouterr()
        return caught.value.code or 0, said.out, said.err

    monkeypatch.delenv("EDITVEC_DATA", raising=False)
    code, _, err = run("editors")
    assert (code, "$EDITVEC_DATA" in err) == (2, True)
    code, _, err = run("editors", "--data", data, "-o", folder.parent / "new", "--budget")
    assert (code, "to train: graph2tree-graph" in err, (folder.parent / "new").exists()) == (0, True, False)
    monkeypatch.setenv("EDITVEC_DATA", str(data))
    code, out, _ = run("table5", "-o", folder)
    assert code == 0
    assert "38.35" in out
    assert "One-shot transfer" in (folder / "report.md").read_text()
    code, out, _ = run("statistics", "-o", folder, "--json")
    assert json.loads(out)[0]["rows"][0]["paper"] == 16.4
