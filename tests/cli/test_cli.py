"""The command line as a user meets it: real processes, real files."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from editvec.cli import app
from editvec.cli.terminal import printable
from editvec.core.edit import Edit, Source, Version
from editvec.data import edit_files
from tests.cli.run import run, run_process

VERBS = sorted(app.commands)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "shop"
    script = Path(__file__).parents[2] / "examples" / "demo_history.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def mined(shop: Path) -> Path:
    target = shop.parent / "edits.jsonl.gz"
    run("mine", str(shop), "-o", str(target), "--fresh", "--workers", "1")
    return target


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_an_example_in_its_help(verb: str) -> None:
    assert f"editvec {verb} " in run(verb, "--help").stdout


def test_help_is_quick() -> None:
    # Of the processor, not of the clock: the machine may have more to do.
    best = 9.0
    for _ in range(3):
        start = _seconds_of_children()
        run_process("--help")
        best = min(best, _seconds_of_children() - start)
    assert best < 0.5


def test_a_line_feed_in_a_name_does_not_break_the_line() -> None:
    said = run("show", "no\nsuch\x1b[31m.parquet", code=2).stderr
    assert said.startswith("editvec: no\\nsuch\\x1b[31m.parquet does not exist.")
    assert said.count("\n") == 1


def test_no_stdin() -> None:
    command = [sys.executable, "-m", "editvec", "apply", "--like", "x = x + 1;", "x++;", "--language", "csharp", "-"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=lambda: os.close(0))
    assert (done.returncode, done.stderr) == (2, "editvec: there is no stdin to read from.\n")


@pytest.mark.parametrize(
    "arguments",
    [("map", "i", "-o", "m.html", "--perplexity"), ("find", "--min-confidence"), ("apply", "1", "--sure")],
)
def test_nan_is_no_number(arguments: tuple[str, ...]) -> None:
    assert "is not a number" in run(*arguments, "nan", code=2).stderr


def test_a_place_where_nothing_can_be_written(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    run("mine", str(shop), "-o", str(file))
    assert "Choose another folder with -o" in run("split", str(file), "-o", str(file), code=2).stderr
    assert "Choose another path" in run("convert", str(file), "/proc/x.parquet", code=2).stderr


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_mining_as_a_report_and_as_json(shop: Path, tmp_path: Path) -> None:
    shown = run("mine", str(shop), "-o", str(tmp_path / "a.parquet"), "--fresh")
    assert "50 commits" in shown.stdout
    assert shown.stderr == ""
    told = json.loads(run("mine", str(shop), "-o", str(tmp_path / "b.parquet"), "--fresh", "--json").stdout)
    assert told["commits"] == 50
    assert (
        told["edits"] == edit_files.count(tmp_path / "b.parquet") == len(list(edit_files.read(tmp_path / "b.parquet")))
    )
    assert told["edits"] > 15
    assert told["languages"]["csharp"] > told["languages"]["python"] > 0


def test_show_actions_and_draw(mined: Path, tmp_path: Path) -> None:
    shown = run("show", str(mined), "#1", "--actions").stdout
    assert "ExpandR  return_statement" in shown
    assert "GenTerm  " in shown
    told = json.loads(run("show", str(mined), "#1", "--actions", "--json").stdout)
    assert any(line.strip().startswith("ExpandR") for line in told[0]["actions"])
    drawn = run("draw", str(mined), "#1", "-o", str(tmp_path / "edit.svg"))
    assert "actions" in drawn.stdout
    assert (tmp_path / "edit.svg").read_text().startswith("<svg ")


def test_show(mined: Path) -> None:
    shown = run("show", str(mined), "#1").stdout
    assert "- return customer == null ? null : customer.Name;" in shown
    assert "+ return customer?.Name;" in shown
    assert "Use the null-conditional operator" in shown
    told = json.loads(run("show", str(mined), "--like", "ConfigureAwait", "--json").stdout)
    assert {edit["language"] for edit in told} == {"csharp"}
    assert len(told) == 9
    identity = told[0]["id"]
    assert json.loads(run("show", str(mined), identity, "--json").stdout)[0]["id"] == identity
    again = run("show", str(mined), "-n", "3", "--random", "--seed", "5").stdout
    assert again == run("show", str(mined), "-n", "3", "--random", "--seed", "5").stdout


def test_contexts_are_shown_as_people_write(mined: Path, tmp_path: Path) -> None:
    shown = run("show", str(mined), "--like", "ConfigureAwait", "-n", "50").stdout
    assert " . " not in shown and " ;" not in shown
    foreign = tmp_path / "foreign.parquet"
    edit_files.write(foreign, [replace(edit, language="kotlin") for edit in edit_files.read(mined)])
    assert run("show", str(foreign), "#1").stdout.startswith("#1  kotlin")


def test_stats_over_splits(mined: Path, tmp_path: Path) -> None:
    told = json.loads(run("split", str(mined), "-o", str(tmp_path), "--shares", "50,25,25", "--json").stdout)
    assert sum(told["files"].values()) == len(list(edit_files.read(mined)))
    sides = [str(tmp_path / f"{name}.jsonl.gz") for name in ("train", "dev", "test")]
    counted = json.loads(run("stats", *sides, "--json").stdout)
    assert [counted["files"][side]["edits"] for side in sides] == list(told["files"].values())
    assert "occur verbatim" in run("stats", *sides).stdout


def test_convert_there_and_back(mined: Path, tmp_path: Path) -> None:
    names = ("a.jsonl.gz", "b.parquet", "c.jsonl", "d.jsonl.gz")
    for source, target in pairwise([mined, *(tmp_path / name for name in names)]):
        form = ("--format", "githubedits") if target.name == "c.jsonl" else ()
        run("convert", str(source), str(target), *form)
    there = list(edit_files.read(mined))
    for name in names:
        assert list(edit_files.read(tmp_path / name)) == there
    assert "PrevCodeChunk" in (tmp_path / "c.jsonl").read_text()
    assert "ends with .jsonl" in run("convert", str(mined), "x.tsv", "--format", "githubedits", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("mine", "nowhere"), 4, "does not exist"),
        (("mine", "."), 4, "not a git repository"),
        (("mien",), 2, "Did you mean mine?"),
        (("mine", "--language", "cobol"), 2, "unknown language 'cobol'"),
        (("mine", "--language", "pyhton"), 2, "Did you mean python?"),
        (("mine", "--language", "markdown"), 2, "--recipe prose"),
        (("mine", "--keep", "comment"), 2, "this filter cannot be turned off"),
        (("mine", "--max-lines", "0"), 2, "0 is not in the range"),
        (("stats", "none.parquet"), 2, "does not exist"),
        (("stats", "note.csv"), 2, "does not end with a known suffix"),
        (("stats", "bad.jsonl"), 3, "bad.jsonl:1: not JSON"),
        (("show", "empty.parquet", "#4"), 2, "no edit #4"),
        (("show", "empty.parquet", "xyz"), 2, "no edit has the id"),
        (("convert", "bad.jsonl", "out.parquet"), 3, "bad.jsonl:1"),
        (("convert", "empty.parquet", "none/out.parquet"), 2, "not a folder"),
        (("convert", "empty.parquet", "empty.parquet"), 2, "the same file"),
        (("split", "empty.parquet", "--shares", "1,2"), 2, "three numbers"),
    ],
)
def test_what_a_user_can_get_wrong_is_one_line(
    tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    (tmp_path / "bad.jsonl").write_text("{")
    edit_files.write(tmp_path / "empty.parquet", [])
    done = run(*arguments, cwd=tmp_path, code=code)
    assert done.stdout == ""
    assert done.stderr.startswith("editvec: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_skipped_damage_is_counted(tmp_path: Path) -> None:
    (tmp_path / "bad.tsv").write_text("a b\tc\ta b c\nbroken\n")
    done = run("convert", "bad.tsv", "out.parquet", "--skip-bad", cwd=tmp_path)
    assert "1 edits" in done.stdout
    assert "bad.tsv:2: the line has 1 of 3 columns" in done.stderr
    told = json.loads(run("convert", "bad.tsv", "out.parquet", "--skip-bad", "--json", cwd=tmp_path).stdout)
    assert (told["edits"], told["damaged"]) == (1, 1)


def test_the_cache_is_shown_and_cleared(shop: Path, tmp_path: Path) -> None:
    assert json.loads(run("cache", "--json").stdout)["repositories"] == []
    run("cache", "--clear")
    run("mine", str(shop), "-o", str(tmp_path / "e.jsonl.gz"))
    assert str(shop) in run("cache").stdout
    (known,) = json.loads(run("cache", "--json").stdout)["repositories"]
    assert (known["repository"], known["commits"]) == (str(shop), 50)
    cleared = json.loads(run("cache", "--clear", "--json").stdout)
    assert cleared["freed"] > 0
    assert (cleared["repositories"], cleared["in_use"], cleared["bytes"]) == ([], [], 0)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    assert "_EDITVEC_COMPLETE" in run("completion", shell).stdout


def test_untrusted_text_never_reaches_the_terminal_raw(tmp_path: Path) -> None:
    evil = "\x1b[31mred\x1b]0;title\x07\x9b1m\u202e\r"
    edit = Edit(
        id=evil,
        language=evil,
        before=Version(evil, (evil,)),
        after=Version("x" + evil, ("x", evil)),
        context_before=(evil,),
        source=Source(evil, evil, evil, evil, message=evil),
        label=evil,
    )
    path = tmp_path / "e.parquet"
    edit_files.write(path, [edit])
    for arguments in (
        ("show", str(path)),
        ("stats", str(path)),
        ("show", str(path), evil),
        ("show", str(path), "\x1b"),
    ):
        done = subprocess.run([sys.executable, "-m", "editvec", *arguments], capture_output=True)
        assert not {0x1B, 0x07, 0x0D} & set(done.stdout + done.stderr)
        assert "\u202e" not in (done.stdout + done.stderr).decode()


def test_printable_keeps_what_is_harmless() -> None:
    assert printable("a\tb\nc é 漢 →") == "a\tb\nc é 漢 →"
    assert printable("\x1b[0m\ud800") == "\\x1b[0m\\ud800"


def test_a_closed_pipe_is_no_error(mined: Path) -> None:
    command = f"{sys.executable} -m editvec show {mined} -n 18 | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""
