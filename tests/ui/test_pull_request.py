"""The action on a pull request: its script is run as GitHub runs it, against a small server in place of GitHub."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

import editvec
from tests.conftest import Repo

ROOT = Path(__file__).parents[2]
CALL = "def test_{0}():\n    self.assertEquals(total({0}), {0})\n\n\n"
TESTS = "".join(CALL.format(number) for number in range(8))
OLD = "def f(a):\n    return a == None\n"
LIMITS = "\n\nlimit = 3\nmissing = 4\n"


@pytest.fixture
def pull(prepared: Repo, tmp_path: Path) -> Repo:
    """A branch with one new place of a committed pattern, and with an edit that is half done."""
    return Repo(Path(shutil.copytree(prepared.path, tmp_path / "project")))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """The same for all tests."""
    repo = Repo.create(tmp_path_factory.mktemp("pull") / "project")
    names = "bcdeg"
    for change in ("== None", "is None"):
        for name in names:
            repo.commit({f"m{name}.py": OLD.replace("a", name).replace("== None", change)}, "Use is")
    editvec.learn(repo.path, repo.path / ".patterns", model="none", workers=1)
    repo.commit({"editvec.toml": 'patterns = ".patterns"\n', "old.py": OLD + LIMITS, "test_a.py": TESTS}, "Patterns")
    repo.git("switch", "--quiet", "--create", "feature")
    repo.commit({"old.py": OLD + LIMITS.replace("4", "limit == None"), "test_a.py": half()}, "Begin")
    return repo


def half() -> str:
    """The tests with the first four calls renamed."""
    return TESTS.replace("assertEquals", "assertEqual", 4)


@contextmanager
def github(*comments: dict[str, Any], status: int = 200) -> Iterator[tuple[str, list[tuple[str, str, Any]]]]:
    """A server with some comments; its address, and the requests that it gets."""
    requests: list[tuple[str, str, Any]] = []

    class _GitHub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(list(comments))

        def do_POST(self) -> None:
            self._answer({})

        do_PATCH = do_POST  # noqa: N815

        def _answer(self, value: Any) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append((self.command, self.path, json.loads(body or b"null")))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), _GitHub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def act(repo: Repo, api: str = "", **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs the script of the action with the environment that `action.yml` gives it."""
    head, base = repo.git("rev-parse", "HEAD"), repo.git("rev-parse", "main")
    event = repo.path.parent / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head}}}))
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = (each for each in action["runs"]["steps"] if each.get("id") == "review")
    given = {name: str(each["default"]) for name, each in action["inputs"].items()} | inputs | {"token": "secret"}
    env = {
        key: given[value.split("inputs.")[1].split(" ")[0]] for key, value in step["env"].items() if "inputs." in value
    }
    env |= {name: str(repo.path.parent / name) for name in ("EDITVEC_OUT", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    env |= {"GITHUB_EVENT_PATH": str(event), "GITHUB_API_URL": api, "GITHUB_REPOSITORY": "o/r"}
    command = [sys.executable, str(ROOT / "action/run.py")]
    env |= {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=repo.path, env=os.environ | env, capture_output=True, text=True)


def test_the_summary_the_patch_and_the_comment(pull: Repo) -> None:
    with github() as (address, requests):
        done = act(pull, address, comment="true")
    assert done.returncode == 0, done.stderr
    summary = (pull.path.parent / "GITHUB_STEP_SUMMARY").read_text()
    assert "`old.py:6`" in summary and "`old.py:2`" not in summary, "only changed lines"
    assert all(f"`test_a.py:{line}`" in summary for line in (18, 22, 26, 30))
    (get, post) = requests
    assert (get[0], post[0], post[1]) == ("GET", "POST", "/repos/o/r/pulls/7/comments")
    assert (post[2]["path"], post[2]["side"]) == ("test_a.py", "RIGHT")
    assert post[2]["line"] in (2, 6, 10, 14) and post[2]["body"] in summary
    assert "::notice file=old.py,line=6" in done.stdout and "secret" not in done.stdout + done.stderr + summary
    assert (pull.path.parent / "GITHUB_OUTPUT").read_text() == "places=5\n"
    patch = pull.path.parent / "EDITVEC_OUT" / "editvec.patch"
    pull.git("apply", str(patch))
    assert (pull.path / "test_a.py").read_text() == TESTS.replace("assertEquals", "assertEqual")
    (run,) = json.loads((patch.parent / "editvec.sarif").read_bytes())["runs"]
    assert [each["locations"][0]["physicalLocation"]["region"]["startLine"] for each in run["results"]] == [6]


def test_a_second_run_replaces_the_comment(pull: Repo) -> None:
    with github({"id": 3, "body": "another"}, {"id": 5, "body": "<!-- editvec -->\nold"}) as (address, requests):
        assert act(pull, address, comment="true").returncode == 0
    assert requests[-1][:2] == ("PATCH", "/repos/o/r/pulls/comments/5")


def test_a_pull_request_from_a_fork_gets_its_summary(pull: Repo) -> None:
    with github(status=403) as (address, _):
        done = act(pull, address, comment="true")
    assert done.returncode == 0 and "::warning" in done.stdout


def test_levels_of_failure(pull: Repo) -> None:
    assert [act(pull, **{"fail-level": level}).returncode for level in ("none", "likely", "any")] == [0, 1, 1]


def test_a_shallow_clone_is_said_to_be_one(pull: Repo) -> None:
    shallow = Repo(pull.path.parent / "shallow")
    pull.git("clone", "--quiet", "--depth=1", f"file://{pull.path}", str(shallow.path))
    base = pull.git("rev-parse", "main")
    shallow.git("branch", "main", "HEAD")
    done = act(shallow, base=base)
    assert done.returncode == 2 and "fetch-depth: 0" in done.stdout


def test_the_action_takes_its_inputs_through_the_environment() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = action["runs"]["steps"]
    assert all("${{" not in step.get("run", "") and ("run" not in step or "shell" in step) for step in steps)
    used = " ".join(str(step.get("env", "")) for step in steps)
    assert all(f"inputs.{name} " in used for name in action["inputs"])
