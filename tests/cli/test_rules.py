"""`editvec rule` and `editvec apply` as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from editvec.data import edit_files
from editvec.rules.astgrep import program
from editvec.syntax.snippet import snippet_edit
from tests.cli.run import run
from tests.conftest import Repo

CODE = "class A {\n\tvoid M() {\n\t\tcount = count + 1; // one\n\t\tthis.b = this.b + 1;\n\t}\n}\n"
INCREMENT = ("--like", "x = x + 1;", "x++;")


@pytest.fixture
def project(tmp_path: Path) -> Repo:
    repo = Repo.create(tmp_path / "project")
    repo.write({"src/A.cs": CODE, "src/B.cs": "class B { }\n", "README.md": "x = x + 1;\n"})
    repo.git("add", ".")
    repo.git("commit", "-qm", "x")
    return repo


def test_a_diff_and_nothing_written(project: Repo) -> None:
    done = run("apply", *INCREMENT, "src", cwd=project.path)
    assert done.stderr == "2 places in 1 file. Nothing was written. Use -U to write, or -i to review each place.\n"
    assert (project.path / "src/A.cs").read_text() == CODE
    subprocess.run(["git", "apply", "-"], input=done.stdout, text=True, cwd=project.path, check=True)
    assert (project.path / "src/A.cs").read_text() == CODE.replace("count = count + 1", "count++").replace(
        "this.b = this.b + 1", "this.b++"
    )


def test_writing(project: Repo) -> None:
    done = run("apply", *INCREMENT, ".", "-U", cwd=project.path)
    assert "They were written." in done.stderr
    assert "count++; // one" in (project.path / "src/A.cs").read_text()
    again = run("apply", *INCREMENT, ".", "-U", "--check", cwd=project.path)
    assert "0 places" in again.stderr
    (project.path / "src/A.cs").write_text(CODE + "// mine\n")
    dirty = run("apply", *INCREMENT, ".", "-U", cwd=project.path)
    assert "uncommitted" in dirty.stderr
    assert (project.path / "src/A.cs").read_text().endswith("// mine\n")


def test_several_examples_say_what_may_differ(project: Repo) -> None:
    code = "class A {\n  void M() {\n    Save(order, later);\n    Load(order, later);\n  }\n}\n"
    (project.path / "src/A.cs").write_text(code)
    one = ("--like", "Save(cart, now);", "Save(cart);")
    assert "0 places" in run("apply", *one, "src", cwd=project.path).stderr
    done = run("apply", *one, "--like", "Save(user, then);", "Save(user);", "src", "-U", cwd=project.path)
    assert "1 place in 1 file" in done.stderr
    assert (project.path / "src/A.cs").read_text() == code.replace("Save(order, later)", "Save(order)")


def test_the_editor_goes_where_the_rule_does_not(project: Repo) -> None:
    code = "class A {\r\n  void M() {\r\n    Log(order);\r\n    Log( first,  second ); // two\r\n  }\r\n}\r\n"
    (project.path / "src/A.cs").write_bytes(code.encode())
    like = ("--like", "Log(a);", "Log.Debug(a);")
    assert "1 place in 1 file" in run("apply", *like, "src", cwd=project.path).stderr
    assert "1 place in 1 file" in run("apply", *like, "--editor", "--sure", "1", "src", cwd=project.path).stderr
    done = run("apply", *like, "--editor", "src", "-U", cwd=project.path)
    assert "2 places in 1 file" in done.stderr
    assert (project.path / "src/A.cs").read_bytes() == code.replace("Log(", "Log.Debug(").encode()


def test_places_as_json_and_an_exit_code(project: Repo) -> None:
    (row,) = json.loads(run("apply", *INCREMENT, "src", "--json", "--check", cwd=project.path, code=1).stdout)
    assert row["path"] == "src/A.cs"
    assert [place["line"] for place in row["matches"]] == [3, 4]
    lines = (project.path / "src/A.cs").read_text().split("\n")
    for place in row["matches"]:
        assert lines[place["line"] - 1][place["column"] - 1 :].startswith(place["before"])


@pytest.mark.parametrize(
    ("answers", "written"), [("n\ny\n", 1), ("a\n", 2), ("q\n", 0), ("what\ny\nq\n", 1), ("y\ny\n", 2), ("y\n", 1)]
)
def test_asking(project: Repo, answers: str, written: int) -> None:
    command = [sys.executable, "-m", "editvec", "apply", *INCREMENT, "src", "-i"]
    done = subprocess.run(command, input=answers, capture_output=True, text=True, cwd=project.path)
    assert "Traceback" not in done.stderr
    assert (project.path / "src/A.cs").read_text().count("++") == written
    # The answers ended before the questions did: what was wanted until then is kept.
    assert done.returncode == (130 if answers == "y\n" else 0)


def test_editing_a_place(project: Repo, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/++/ += 1/" "$1"\n')
    editor.chmod(0o755)
    command = [sys.executable, "-m", "editvec", "apply", *INCREMENT, "src", "-i"]
    done = subprocess.run(
        command,
        input="e\nq\n",
        capture_output=True,
        text=True,
        cwd=project.path,
        env={**os.environ, "EDITOR": str(editor)},
    )
    assert done.returncode == 0, done.stderr
    assert (project.path / "src/A.cs").read_text() == CODE.replace("count = count + 1", "count += 1")


def test_two_places_on_a_line_of_which_one_is_edited(project: Repo, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/b++/b += 7/; s/c++/}}} (/" "$1"\n')
    editor.chmod(0o755)
    code = "class A {\r\n  void M() { a = a + 1; b = b + 1; é(); }\r\n  void N() { c = c + 1; }\r\n}"
    (project.path / "src/A.cs").write_bytes(code.encode("latin-1"))
    command = [sys.executable, "-m", "editvec", "apply", *INCREMENT, "src", "-i"]
    environment = {**os.environ, "EDITOR": str(editor)}
    done = subprocess.run(command, input=b"y\ne\ne\nn\n", capture_output=True, cwd=project.path, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"would add syntax errors" in done.stderr
    assert b"2 places in 1 file were written" in done.stderr
    wanted = code.replace("a = a + 1", "a++").replace("b = b + 1", "b += 7")
    assert (project.path / "src/A.cs").read_bytes() == wanted.encode("latin-1")


def test_a_diff_from_a_subfolder_is_one_that_git_takes(project: Repo) -> None:
    done = run("apply", *INCREMENT, "..", cwd=project.path / "src")
    assert f"git -C {project.path} apply" in done.stderr
    subprocess.run(["git", "apply", "--check"], input=done.stdout, text=True, cwd=project.path, check=True)


def test_options_beside_a_pipe(project: Repo) -> None:
    arguments = ("apply", *INCREMENT, "--language", "csharp", "-")
    command = [sys.executable, "-m", "editvec", *arguments]
    done = subprocess.run([*command, "--check", "--json"], input=CODE, capture_output=True, text=True)
    assert done.returncode == 1
    assert len(json.loads(done.stdout)[0]["matches"]) == 2
    assert "Leave out -U, -i" in subprocess.run([*command, "-U"], input=CODE, capture_output=True, text=True).stderr


def test_a_rule_in_a_pipe(project: Repo) -> None:
    rule = project.path / "rule.yml"
    run("rule", "--text", "--language", "csharp", "--from", "x = x + 1;", "x++;", "-o", str(rule), "--test")
    done = subprocess.run(
        [sys.executable, "-m", "editvec", "apply", str(rule), "-"], input=CODE.encode(), capture_output=True, check=True
    )
    assert done.stdout.decode() == CODE.replace("count = count + 1", "count++").replace(
        "this.b = this.b + 1", "this.b++"
    )
    assert run("apply", str(rule), "src", cwd=project.path).stdout.count("\n+\t") == 2


def test_ast_grep_runs_the_rule_and_its_tests(project: Repo) -> None:
    folder = project.path / "rules"
    folder.mkdir()
    run("rule", "--text", "--language", "csharp", "--from", "x = x + 1;", "x++;", "-o", str(folder / "r.yml"), "--test")
    (test,) = folder.glob("*-test.yml")
    (project.path / "tests").mkdir()
    test.rename(project.path / "tests" / test.name)
    (project.path / "sgconfig.yml").write_text("ruleDirs: [rules]\ntestConfigs: [{testDir: tests}]\n")
    done = subprocess.run(
        [program(), "test", "--skip-snapshot-tests"], cwd=project.path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    subprocess.run(
        [program(), "scan", "-U", "-r", "rules/r.yml", "src"], cwd=project.path, check=True, capture_output=True
    )
    assert (project.path / "src/A.cs").read_text().count("++") == 2


def test_a_rule_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(xs):\n    return len(xs) == 0\n")
    (tmp_path / "b.py").write_text("def f(xs):\n    return not xs\n")
    done = run("rule", "--from", str(tmp_path / "a.py"), str(tmp_path / "b.py"), "--json")
    (found,) = json.loads(done.stdout)
    assert found["summary"] == "len($X) == 0  →  not $X"
    assert found["verification"]["support"] == [str(tmp_path / "a.py")]


def test_a_rule_of_mined_edits(tmp_path: Path) -> None:
    pairs = [("x = x + 1;", "x++;"), ("f(a);", "g(a);"), ("a.b = a.b + 1;", "a.b++;")]
    edits = [snippet_edit(before, after, "csharp", f"e{at}") for at, (before, after) in enumerate(pairs)]
    edit_files.write(tmp_path / "edits.parquet", edits)
    (found,) = json.loads(run("rule", "--edits", str(tmp_path / "edits.parquet"), "#1", "e2", "--json").stdout)
    assert found["verification"]["support"] == ["e0", "e2"]
    assert len(json.loads(run("rule", "--edits", str(tmp_path / "edits.parquet"), "--json").stdout)) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("rule",), 2, "--from"),
        (("rule", "--text", "--from", "a", "b"), 2, "--language"),
        (("rule", "--from", "nowhere.cs", "b.cs"), 2, "not a file"),
        (("rule", "--from", "nowhere", "b"), 2, "--language"),
        (("rule", "--text", "--language", "csharp", "--from", "x", "y"), 1, "no rule"),
        (("rule", "--text", "--language", "csharp", "--from", "f(a);", "f( a );"), 1, "at most in white space"),
        (("rule", "--text", "--language", "csharp", "--from", "f(a);", "f(a);", "--test"), 2, "-o"),
        (("apply", "nowhere.yml", "."), 2, "not a rule file"),
        (("apply", *INCREMENT), 2, "no files to change"),
        (("apply",), 2, "nothing to apply"),
        (("apply", *INCREMENT, "nowhere"), 2, "does not exist"),
        (("apply", "--like", "x", "y", "--language", "csharp", "."), 2, "no rule can be made"),
        (("apply", "use.yml", "--editor", "."), 2, "Give some with --like"),
        (("apply", "--like", "x", "y", "--editor", "--model", "no", "--language", "csharp", "."), 2, "not a folder"),
        (("apply", *INCREMENT, "-"), 2, "--language"),
        (("apply", *INCREMENT, ".", "-i", "-U"), 2, "-i"),
    ],
)
def test_wrong_use_is_one_line(arguments: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    done = run(*arguments, cwd=tmp_path, code=code)
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
