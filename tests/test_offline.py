"""The main job uses no network: it runs where no socket can be made and no name be looked up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import Repo

LINE = "total = compute({0}) == None\n"
PROGRAM = """
import sys

def refuse(event, arguments):
    # Worker processes talk through pipes; a socket of any kind is refused.
    if event.startswith("socket.") and event != "socket.gethostname":
        raise RuntimeError(f"the network was used: {event} {arguments}")

sys.addaudithook(refuse)
from pathlib import Path
import editvec

editvec.mine(".", Path("edits.jsonl.gz"), workers=1)
assert editvec.learn(min_edits=2, workers=1).patterns
editvec.find()
assert editvec.apply("1", everywhere=True, update=True).num_matches
assert editvec.undo().num_edits
Path("b.py").write_text(Path("b.py").read_text().replace("== None", "is None", 1))
assert editvec.finish().edits
editvec.apply(like=[("a == None", "a is None")], paths=["b.py"])
editvec.edit("count = count + 1;", like=("x = x + 1;", "x++;"))
print("done")
"""


def test_no_socket_is_made(repo: Repo) -> None:
    lines = [LINE.format(number) for number in range(6)]
    repo.commit({"a.py": "".join(lines), "b.py": "".join(lines)})
    for number in range(4):
        lines[number] = lines[number].replace("== None", "is None")
        repo.commit({"a.py": "".join(lines)})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=repo.path, capture_output=True, text=True, env={**os.environ}
    )
    assert done.stdout.strip() == "done", done.stderr


def test_the_refusal_works() -> None:
    program = PROGRAM.partition("from pathlib")[0] + "import socket\nsocket.socket()\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path.cwd())
    assert done.returncode and "the network was used" in done.stderr
