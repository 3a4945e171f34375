"""Runs: an interrupted one is the whole one, two processes are one, and what is wrong is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

import editvec
from editvec.core.edit import Version
from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.data.digests import TrainingDigests
from editvec.neural.model import SECOND, TRAINING_DIGESTS, WEIGHTS
from editvec.suggest.edit import edit as edit_snippet
from editvec.training import Files, Progress, config, loop, resume, train
from editvec.training.config import Config, TrainingConfig
from editvec.training.products import resolved
from tests.neural.edits import edit, random_edits, small_config, ten_edits

_RUN: dict[str, Any] = {"epochs": 3, "batch_edits": 8, "learning_rate": 5e-3, "vector_swap": 0.5}


def _config(**settings: Any) -> Config:
    made = Config(small_config(dropout=0.3, transfer_layer=True), TrainingConfig(**_RUN))
    return config.with_settings(made, settings)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    # Some of one shape, whose vectors are exchanged.
    alike = [edit(f"call w{at} a ( )", f"call w{at} b ( )", identity=f"a{at}") for at in range(30)]
    edit_files.write(tmp_path / "train.parquet", [*random_edits(60), *alike])
    edit_files.write(tmp_path / "dev.parquet", random_edits(20, seed=1))
    return Files(tmp_path / "train.parquet", tmp_path / "dev.parquet")


def _metrics(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


def test_a_run_learns_and_leaves_a_model(files: Files, tmp_path: Path) -> None:
    seen: list[Progress] = []
    state = train(tmp_path / "run", files, _config(), watch=seen.append)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "config.toml",
        "metrics.jsonl",
        "model.safetensors",
        "training_digests.u64",
        "vocab.json",
    ]
    assert state.finished
    rows = _metrics(tmp_path / "run")
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert rows[-1]["loss"] < rows[0]["loss"]
    assert state.best == min(row["dev_perplexity"] for row in rows)
    assert seen[-1].done == seen[-1].total == 90
    model = editvec.load(tmp_path / "run")
    assert model.encode(random_edits(3)).shape == (3, 32)
    known = TrainingDigests.load(tmp_path / "run" / TRAINING_DIGESTS)
    assert all(each in known for each in random_edits(60))
    assert sum(edit in known for edit in random_edits(20, seed=1)) == 0


class _StopError(Exception):
    pass


def _stopping_at(step: int) -> Any:
    calls = 0

    def watch(progress: Progress) -> None:
        nonlocal calls
        calls += 1
        if calls == step:
            raise _StopError

    return watch


@pytest.mark.parametrize("schedule", ["patience", "linear"])
@pytest.mark.parametrize("steps", [1, 7, 12, 25])
def test_resumed_is_uninterrupted(
    schedule: str, steps: int, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _config(schedule=schedule, patience=1, learning_rate=0.05, warmup_steps=5)
    train(tmp_path / "whole", files, settings)
    monkeypatch.setattr(loop, "_SAVE_EVERY", 0.0)
    with pytest.raises(_StopError):
        train(tmp_path / "cut", files, settings, watch=_stopping_at(steps))
    with pytest.raises(_StopError):
        resume(tmp_path / "cut", watch=_stopping_at(5))
    resume(tmp_path / "cut")
    assert (tmp_path / "cut" / WEIGHTS).read_bytes() == (tmp_path / "whole" / WEIGHTS).read_bytes()
    assert _metrics(tmp_path / "cut") == _metrics(tmp_path / "whole")


_KILLED = """
import os, signal, sys
from pathlib import Path
from editvec.training import config
from editvec.training import Files, loop, train
loop._SAVE_EVERY = 0.0
steps = 0
def watch(progress):
    global steps
    steps += 1
    if steps == 17:
        os.kill(os.getpid(), signal.SIGKILL)
folder = Path(sys.argv[1])
files = Files(folder / "train.parquet", folder / "dev.parquet")
train(folder / "cut", files, config.load(folder / "c.toml"), watch=watch)
"""


def test_killed_and_resumed_is_uninterrupted(files: Files, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(config.dumps(_config()))
    done = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    train(tmp_path / "whole", files, _config())
    state = resume(tmp_path / "cut")
    assert state.finished
    assert (tmp_path / "cut" / WEIGHTS).read_bytes() == (tmp_path / "whole" / WEIGHTS).read_bytes()
    assert _metrics(tmp_path / "cut") == _metrics(tmp_path / "whole")


def _command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "editvec", "train", *map(str, arguments)]


def test_ctrl_c_saves_and_says_how_to_go_on(files: Files, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(config.dumps(_config(epochs=2000)))
    process = subprocess.Popen(
        _command("--train", files.train, "--config", tmp_path / "c.toml", "-o", tmp_path / "run"),
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = tmp_path / "run" / "metrics.jsonl"
    deadline = time.monotonic() + 60
    while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert "stopped and saved. Use --resume to continue." in complaint
    assert "Traceback" not in complaint
    with pytest.raises(_StopError):
        resume(tmp_path / "run", watch=_stopping_at(2))


def test_two_processes_follow_one(files: Files, tmp_path: Path) -> None:
    settings = _config(dropout=0.0, learning_rate=1e-3, precision="float32", vocab_size=12, num_pieces=20)
    (tmp_path / "c.toml").write_text(config.dumps(settings))
    arguments = _command("--train", files.train, "--dev", files.dev, "--config", tmp_path / "c.toml", "-o")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run([*arguments, str(tmp_path / "one")], check=True, capture_output=True, env=environment)
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *arguments[1:]]
    done = subprocess.run([*launch, str(tmp_path / "two")], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    for one, two in zip(_metrics(tmp_path / "one"), _metrics(tmp_path / "two"), strict=True):
        assert one["step"] == two["step"]
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-3)
        assert two["perplexity"] == pytest.approx(one["perplexity"], rel=1e-3)
        assert two["dev_perplexity"] == pytest.approx(one["dev_perplexity"], rel=1e-3)
    weights = [
        np.concatenate([each.ravel() for each in editvec.load(tmp_path / name).network.named_arrays().values()])
        for name in ("one", "two")
    ]
    assert np.abs(weights[0] - weights[1]).max() < 1e-3


@pytest.mark.parametrize(
    ("asked", "kept"), [("auto", resolved("auto")), ("bfloat16", "bfloat16"), ("float32", "float32")]
)
def test_a_run_keeps_the_precision_it_began_with(asked: str, kept: str, files: Files, tmp_path: Path) -> None:
    train(tmp_path / "run", files, _config(epochs=2, precision=asked))
    assert config.load(tmp_path / "run" / "config.toml").training.precision == kept
    assert _metrics(tmp_path / "run")[1]["perplexity"] < _metrics(tmp_path / "run")[0]["perplexity"]


def test_patience_goes_back_to_the_best_and_halves(files: Files, tmp_path: Path) -> None:
    settings = _config(epochs=40, patience=1, halvings=2, learning_rate=0.05)
    state = train(tmp_path / "run", files, settings)
    rows = _metrics(tmp_path / "run")
    assert state.halvings == 2
    assert len(rows) < 40
    assert {row["learning_rate"] for row in rows} == {0.05, 0.025, 0.0125}
    assert state.best == min(row["dev_perplexity"] for row in rows)


def test_a_smaller_share_is_part_of_a_larger_one(files: Files, tmp_path: Path) -> None:
    sizes = {}
    known = {}
    for share in (0.3, 0.6):
        folder = tmp_path / str(share)
        train(folder, files, _config(epochs=1, fraction=share))
        known[share] = TrainingDigests.load(folder / TRAINING_DIGESTS)
        sizes[share] = len(known[share])
    assert 0 < sizes[0.3] < sizes[0.6] < 90
    edits = random_edits(90)
    assert all(edit in known[0.6] for edit in edits if edit in known[0.3])


def test_without_dev_a_part_is_held_out(files: Files, tmp_path: Path) -> None:
    notes: list[str] = []
    train(tmp_path / "run", Files(files.train), _config(epochs=1), notice=notes.append)
    counts = [int(note.split()[1]) for note in notes]
    assert sum(counts) == 90
    assert 0 < counts[1] < 20


@pytest.mark.parametrize(("editor", "encoder"), [("seq2seq", "graph"), ("graph2tree", "sequence")])
def test_a_model_that_reads_trees_learns_from_files(editor: str, encoder: str, files: Files, tmp_path: Path) -> None:
    bare = [replace(each, before=Version(") (", (")", "(")), id=f"b{at}") for at, each in enumerate(random_edits(7, 3))]
    edit_files.write(tmp_path / "some.parquet", [*random_edits(60), *bare])
    notes: list[str] = []
    state = train(
        tmp_path / "run",
        Files(tmp_path / "some.parquet", files.dev),
        _config(editor=editor, encoder=encoder),
        notice=notes.append,
    )
    assert "7 edits of train have no tree and are left out" in notes
    assert state.metrics[-1]["loss"] < state.metrics[0]["loss"]
    model = editvec.load(tmp_path / "run")
    assert model.grammar is not None
    assert model.encode(random_edits(3)).shape == (3, 32)
    (tmp_path / "run" / "grammar.json").unlink()
    with pytest.raises(UserError, match=r"grammar\.json is missing"):
        editvec.load(tmp_path / "run")


def test_trees_are_parsed_where_the_config_says_so(tmp_path: Path) -> None:
    edit_files.write(tmp_path / "ten.parquet", ten_edits())
    files = Files(tmp_path / "ten.parquet", tmp_path / "ten.parquet")
    train(tmp_path / "run", files, _config(editor="graph2tree", encoder="graph", trees="parsed"))
    model = editvec.load(tmp_path / "run")
    assert model.grammar is not None
    # The trees that the edits came with are made of pairs and groups.
    assert "invocation_expression" in model.grammar.kind_numbers
    assert "pair" not in model.grammar.kind_numbers
    for example in model.exampler.all(ten_edits()):
        assert example.trees is not None
        assert example.trees.before_kinds.all()


def test_vectors_are_exchanged_between_edits_of_one_shape(files: Files, tmp_path: Path) -> None:
    train(tmp_path / "run", files, _config())
    transfer = editvec.load(tmp_path / "run").network.transfer_map.weight.value
    assert not np.array_equal(transfer, np.eye(len(transfer)))
    train(tmp_path / "own", files, _config(vector_swap=0))
    transfer = editvec.load(tmp_path / "own").network.transfer_map.weight.value
    assert np.array_equal(transfer, np.eye(len(transfer)))


def test_long_edits_are_left_out_and_counted(files: Files, tmp_path: Path) -> None:
    notes: list[str] = []
    train(tmp_path / "run", files, _config(epochs=1, max_tokens=8), notice=notes.append)
    assert "longer than 8 tokens and are left out" in notes[0]


def test_bad_starts_are_refused(files: Files, tmp_path: Path) -> None:
    edit_files.write(tmp_path / "none.parquet", [])
    with pytest.raises(UserError, match=r"none\.parquet has no edit to train on"):
        train(tmp_path / "a", Files(tmp_path / "none.parquet", files.dev), _config())
    with pytest.raises(UserError, match=r"none\.parquet has no edit to measure progress with"):
        train(tmp_path / "b", Files(files.train, tmp_path / "none.parquet"), _config())
    with pytest.raises(UserError, match="no encoder 'sequnce'"):
        train(tmp_path / "c", files, _config(encoder="sequnce"))
    with pytest.raises(UserError, match="holds no run to resume"):
        resume(tmp_path / "nowhere")
    train(tmp_path / "d", files, _config(epochs=1))
    with pytest.raises(UserError, match="already holds a trained model"):
        train(tmp_path / "d", files, _config(epochs=1))
    with pytest.raises(UserError, match="training is finished"):
        resume(tmp_path / "d")


def test_a_damaged_checkpoint_is_refused(files: Files, tmp_path: Path) -> None:
    with pytest.raises(_StopError):
        train(tmp_path / "run", files, _config(), watch=_stopping_at(3))
    with pytest.raises(UserError, match="already holds a run"):
        train(tmp_path / "run", files, _config())
    file = tmp_path / "run" / loop.CHECKPOINT
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(UserError, match="not a checkpoint of this run"):
        resume(tmp_path / "run")


def test_a_damaged_corpus_is_refused(files: Files, tmp_path: Path) -> None:
    with pytest.raises(_StopError):
        train(tmp_path / "run", files, _config(), watch=_stopping_at(3))
    file = tmp_path / "run" / "train.arrow"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(UserError, match="the corpus is missing or damaged"):
        resume(tmp_path / "run")
    file.unlink()
    with pytest.raises(UserError, match="the corpus is missing or damaged"):
        resume(tmp_path / "run")


def test_a_run_whose_order_was_changed_is_refused(files: Files, tmp_path: Path) -> None:
    with pytest.raises(_StopError):
        train(tmp_path / "run", files, _config(), watch=_stopping_at(3))
    (tmp_path / "run" / "config.toml").write_text(config.dumps(_config(batch_edits=9)))
    with pytest.raises(UserError, match="other batches than"):
        resume(tmp_path / "run")
    (tmp_path / "run" / "config.toml").write_text(config.dumps(_config(epochs=4, learning_rate=1e-3)))
    assert resume(tmp_path / "run").epoch == 4


def test_what_a_kill_left_behind_is_removed(files: Files, tmp_path: Path) -> None:
    with pytest.raises(_StopError):
        train(tmp_path / "run", files, _config(), watch=_stopping_at(3))
    (tmp_path / "run" / ".checkpoint.safetensors.abc.partial").write_bytes(b"x")
    resume(tmp_path / "run")
    assert not list((tmp_path / "run").glob(".*"))


def test_the_failure_of_one_process_is_said_once(files: Files, tmp_path: Path) -> None:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "editvec"]
    arguments = ["train", "--train", str(tmp_path / "no.parquet"), "-o", str(tmp_path / "run")]
    done = subprocess.run([*launch, *arguments], capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stderr.count("no.parquet does not exist") == 1
    assert "editvec/training" not in done.stderr


def test_divergence_is_said(files: Files, tmp_path: Path) -> None:
    made = _config(epochs=5)
    made = structs.replace(made, training=structs.replace(made.training, learning_rate=1e38))
    with pytest.raises(UserError, match="training diverged"):
        train(tmp_path / "run", files, made)


def test_ten_edits_are_learned_by_a_run(tmp_path: Path) -> None:
    edit_files.write(tmp_path / "ten.parquet", ten_edits())
    files = Files(tmp_path / "ten.parquet", tmp_path / "ten.parquet")
    train(tmp_path / "run", files, _config(epochs=120, learning_rate=1e-2, dropout=0.0))
    model = editvec.load(tmp_path / "run")
    for each in ten_edits():
        assert edit_snippet(each, like=each, model=model)[0].tokens == each.after.tokens


def test_a_run_can_begin_as_another_model(files: Files, tmp_path: Path) -> None:
    train(tmp_path / "first", files, _config())
    first = editvec.load(tmp_path / "first")
    train(tmp_path / "on", files, _config(epochs=1, learning_rate=1e-9, hidden_dim=8), init=first)
    on = editvec.load(tmp_path / "on")
    assert on.vocab.ids == first.vocab.ids
    assert on.config == first.config
    before, others = first.network.named_arrays(), on.network.named_arrays()
    for name, one in before.items():
        np.testing.assert_allclose(one, others[name], atol=1e-5, err_msg=name)
    assert _metrics(tmp_path / "on")[0]["loss"] < _metrics(tmp_path / "first")[0]["loss"]
    assert not (tmp_path / "on" / "init.safetensors").exists()
    train(tmp_path / "open", files, _config(epochs=1, learning_rate=1e-9, num_pieces=20), init=first)
    opened = editvec.load(tmp_path / "open")
    assert opened.vocab.tokens == first.vocab.tokens
    assert opened.vocab.pieces is not None
    others = opened.network.named_arrays()
    assert {name for name in others if "pieces" in name or "speller" in name} == others.keys() - before.keys()
    for name, one in before.items():
        np.testing.assert_allclose(one, others[name], atol=1e-5, err_msg=name)


def test_another_editor_learns_from_vectors_that_stay(files: Files, tmp_path: Path) -> None:
    train(tmp_path / "first", files, _config())
    first = editvec.load(tmp_path / "first")
    made = _config(epochs=2, editor_only=True)
    folder = tmp_path / "first" / SECOND
    train(folder, files, made, init=first, editor="graph2tree")
    second = editvec.load(folder)
    assert second.config == structs.replace(first.config, editor="graph2tree")
    before, after = first.network.named_arrays(), second.network.named_arrays()
    shared = [name for name in after if name in before]
    same = {name for name in shared if np.array_equal(after[name], before[name])}
    assert same == {name for name in shared if not name.startswith("editor.")} < set(shared)
    losses = [row["loss"] for row in _metrics(folder)]
    assert losses[1] < losses[0]
    assert editvec.load(tmp_path / "first").second is not None
