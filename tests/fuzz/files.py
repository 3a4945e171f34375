"""Every kind of file that editvec reads: a whole one, and the function that reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from safetensors.numpy import save as as_safetensors

import editvec
from editvec.core.edit import Edit, Source
from editvec.core.splice import TextEdit
from editvec.data import artifacts, edit_files
from editvec.data.store import DamagedStoreError, MinedCommit, Store
from editvec.evaluation.ratings import Ratings, RatingTask, make_task
from editvec.mining.sweeps import Sweep, SweepSite, load_sweeps, save_sweeps
from editvec.neural.model import load
from editvec.patterns import folder as patterns_folder
from editvec.patterns.pattern import Pattern
from editvec.patterns.wording import ChangeKind
from editvec.rewrite.journal import Journal
from editvec.rewrite.writer import write_file
from editvec.rules.rule import Rule, load_rules
from editvec.suggest.evidence import Evidence
from editvec.suggest.examples import rules_like
from editvec.suggest.scorer import load_scorer
from editvec.syntax.snippet import snippet_edit
from editvec.training.config import RECIPES
from editvec.training.config import dumps as config_text
from editvec.training.config import load as load_config
from editvec.vectors.index import open_index
from tests.neural.edits import random_edits, small_model


class FileKind(NamedTuple):
    """A kind of file: a whole one at `path`, and what reads it. `is_cheap` says that a reading takes under 1 ms."""

    name: str
    path: Path
    read: Callable[[], object]
    is_cheap: bool = True


def file_kinds(folder: Path) -> list[FileKind]:
    """Make a whole file of every kind below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return [*_edit_files(folder), *_patterns(folder), *_models(folder), *_tables(folder), *_others(folder)]


def _edits() -> list[Edit]:
    source = Source("o/r", "0" * 40, "src/a.cs", "Ada", message="use ++", lines_before=(3, 4), lines_after=(3, 4))
    one = snippet_edit("x = x + 1;", "x++;", "csharp", "one")
    two = snippet_edit('if (a == null) b("c");', 'if (a is null) b("c");', "csharp", "two")
    return [replace(each, source=source) for each in (one, two)]


def _edit_files(folder: Path) -> list[FileKind]:
    found = []
    edits = _edits()
    for name, form in (
        ("edits.jsonl", "native"),
        ("edits.jsonl.gz", "native"),
        ("published.jsonl", "githubedits"),
        ("edits.parquet", "native"),
    ):
        path = folder / name
        edit_files.write(path, edits, form=form)
        found.append(FileKind(name, path, partial(_read_edits, path), name != "edits.parquet"))
    sentences = folder / "sentences.tsv"
    sentences.write_bytes(b"a b c\tx\ta x b c\tins\trepo\nthe end\tvery\tthe very end\n")
    found.append(FileKind("sentences.tsv", sentences, lambda: list(edit_files.read(sentences))))
    sweeps = folder / "sweeps.jsonl"
    save_sweeps(sweeps, [Sweep("a" * 40, "b" * 40, "s", (SweepSite("a.py", 3, "x", "y"),))])
    found.append(FileKind("sweeps.jsonl", sweeps, lambda: load_sweeps(sweeps)))
    return found


def _read_edits(path: Path) -> list[Edit]:
    return list(edit_files.read(path))


def _patterns(folder: Path) -> list[FileKind]:
    (rule,) = rules_like([("log(a, b)", "log.debug(a, b)")], ["python"])
    place = folder / "patterns"
    pattern = Pattern(
        name="use-debug",
        title="use debug",
        words=("use",),
        quotation="",
        kind=ChangeKind.RENAMING,
        language="python",
        before="log($A)",
        after="log.debug($A)",
        edits=tuple(_edits()),
        num_edits=2,
        commits=2,
        authors=1,
        rule=Rule("use-debug", "python", rule.yaml),
        support=2,
        evidence=Evidence(3, 3),
    )
    about = {"version": "1", "repository": "r", "head": "", "commits": 3, "hunks": 2, "edits": 1}
    patterns_folder.save(place, [pattern], _edits(), about, "<p>")
    yaml = place / "rules" / "use-debug.yml"
    prose = folder / "prose.yml"
    prose.write_text("id: a\nlanguage: markdown\nprose: {find: old word}\nfix: new word\n")
    return [
        FileKind("patterns.json", place / "patterns.json", lambda: patterns_folder.load(place)),
        FileKind("learn's manifest.json", place / "manifest.json", lambda: patterns_folder.check(place)),
        FileKind("rule.yml", yaml, lambda: load_rules(yaml.read_text(errors="replace"), yaml), False),
        FileKind("rule of patterns", yaml, lambda: patterns_folder.load(place), False),
        FileKind("prose.yml", prose, lambda: load_rules(prose.read_text(errors="replace"), prose), False),
    ]


def _models(folder: Path) -> list[FileKind]:
    model = folder / "model"
    edits = random_edits(3)
    small_model(edits).save(model)
    trees = folder / "trees"
    small_model(edits, encoder="graph", editor="graph2tree").save(trees)
    scorer = folder / "scorer.safetensors"
    scorer.write_bytes((artifacts.ARTIFACTS / "scorer" / "scorer.safetensors").read_bytes())
    packed = folder / "artifact"
    packed.mkdir()
    (packed / "data").write_bytes(as_safetensors({}))
    artifacts.write_manifest(packed, "1", "make")
    config = folder / "run.toml"
    config.write_text(config_text(RECIPES["default"]))
    return [
        FileKind("model's config.toml", model / "config.toml", lambda: load(model), False),
        FileKind("model's vocab.json", model / "vocab.json", lambda: load(model), False),
        FileKind("model.safetensors", model / "model.safetensors", lambda: load(model), False),
        FileKind("model's grammar.json", trees / "grammar.json", lambda: load(trees), False),
        FileKind("scorer.safetensors", scorer, lambda: load_scorer(scorer)),
        FileKind("artifact's manifest.json", packed / "manifest.json", lambda: artifacts.read_manifest(packed)),
        FileKind("training config", config, lambda: load_config(config)),
    ]


def _tables(folder: Path) -> list[FileKind]:
    edits = folder / "for-index.jsonl"
    edit_files.write(edits, _edits())
    index = folder / "edits.index"
    editvec.encode("tfidf", edits, index)
    store = folder / "store.sqlite"
    _fill_store(store)
    task = folder / "task"
    make_task({"a": open_index(index)}, num_queries=1, k=1).save(task)
    Ratings(task, "ada").rate(RatingTask.load(task), 0, 0, 2)
    ratings = task / "ada.ratings.jsonl"
    return [
        *(
            FileKind(f"index's {each.name}", each, lambda: _search(index), False)
            for each in sorted(index.iterdir())
            if each.is_file()
        ),
        *(
            FileKind(f"vectoriser's {each.name}", each, lambda: _search(index), False)
            for each in sorted((index / "vectoriser").glob("*"))
        ),
        FileKind("store.sqlite", store, lambda: _read_store(store), False),
        FileKind("task.json", task / "task.json", lambda: RatingTask.load(task)),
        FileKind("ratings.jsonl", ratings, lambda: Ratings(task, "ada")),
    ]


def _search(folder: Path) -> None:
    found = open_index(folder)
    found.neighbours(found.vectors[0], 1)
    found.vectoriser()
    assert found.row_of("#1") == 0
    list(found.all_edits())
    _ = found.ids, found.token_hashes


def _fill_store(path: Path) -> None:
    with Store(path, "r") as store:
        number = store.settings("s")
        store.add(number, [MinedCommit("ab" * 20, {"filter": 1}, True)])
        store.add_evidence({b"k": [1, 2]})


def _read_store(path: Path) -> None:
    """Read a store as mining does: damage empties it."""
    with Store(path, "r") as store:
        try:
            number = store.settings("s")
            if not store.missing(number, ["ab" * 20]):
                list(store.commits(number, ["ab" * 20]))
            store.evidence([b"k"])
        except DamagedStoreError:
            store.begin_anew()
            assert store.missing(store.settings("s"), ["ab" * 20])


def _others(folder: Path) -> list[FileKind]:
    top = folder / "written"
    top.mkdir()
    file = top / "a.txt"
    file.write_bytes(b"one\n")
    with Journal("apply", [top]) as journal:
        write_file(file, b"one\n", b"two\n", journal, [TextEdit(0, 3, b"two")])
    (run,) = (top / ".editvec" / "undo").glob("*.jsonl")

    def undo() -> None:
        file.write_bytes(b"two\n")
        editvec.undo(top)
        assert file.read_bytes() in (b"one\n", b"two\n")

    return [FileKind("journal", run, undo)]
