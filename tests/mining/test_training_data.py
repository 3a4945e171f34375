"""The command that makes the training data: nothing that is measured with, no history on two sides, no copies."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from editvec.data import edit_files
from tests.conftest import Repo
from tests.mining.run import mine
from tests.neural.edits import edit

COMMAND = Path(__file__).parents[2] / "model" / "data.py"
WANTED = """
commits = 50
max_edits = 3
max_repeats = 2
held_out = ["ann/held"]
[python]
"ann/held" = "MIT"
"bob/big" = "MIT"
"bob/gone" = "MIT"
"cid/small" = "ISC"
"""


def _repository(path: Path, names: list[str]) -> Repo:
    """A repository in which one function after the other is changed in the same way."""
    repo = Repo.create(path)
    for name in names:
        lines = [f"def {name}(items):", "    total = 1", "    for item in items:", "        total += old(item)"]
        repo.commit({f"{name}.py": "\n".join([*lines, f"    log('{name}')", "    return total", ""])})
    for name in names:
        text = (repo.path / f"{name}.py").read_text()
        repo.commit({f"{name}.py": text.replace("old(", f"new_{name}(")})
    return repo


def test_training_data_is_made_from_clones(tmp_path: Path) -> None:
    clones, data, out = tmp_path / "clones", tmp_path / "data", tmp_path / "out"
    _repository(clones / "ann" / "held", [f"h{at}" for at in range(8)])
    _repository(clones / "bob+big" / "repo", [f"b{at}" for at in range(6)])
    small = _repository(clones / "cid" / "small", ["c0", "h0", "measured"])
    known = next(each for each in mine(small).edits if "new_measured" in each.after.tokens)
    for side, edits in (("train", [edit("a b", "a c")]), ("dev", [known]), ("test", [edit("x", "y")])):
        (data / "githubedits").mkdir(parents=True, exist_ok=True)
        (data / "prose_edits").mkdir(exist_ok=True)
        edit_files.write(data / "githubedits" / f"{side}.jsonl.gz", edits)
        edit_files.write(data / "prose_edits" / f"{side}.tsv.gz", [edit("a b", "a b c"), edit(side, f"{side} s")])
    (tmp_path / "wanted.toml").write_text(WANTED)
    done = subprocess.run(
        [sys.executable, str(COMMAND), "--clones", str(clones), "--data", str(data), "--out", str(out)]
        + ["--histories", str(tmp_path / "wanted.toml"), "--sources", str(tmp_path / "sources.toml"), "--workers", "1"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "bob/gone: no clone" in done.stdout
    sides = {side: list(edit_files.read(out / f"{side}.jsonl.gz")) for side in ("train", "dev", "test")}
    repositories = {side: {each.source.repository for each in found if each.source} for side, found in sides.items()}
    assert repositories["train"] == {"bob/big", "cid/small"}
    assert repositories["dev"] | repositories["test"] == {"ann/held"}
    assert len(sides["dev"]) + len(sides["test"]) == 3
    assert all(each.before.tree is None for each in sides["train"])
    named = {token for each in sides["train"] for token in each.after.tokens if token.startswith("new_")}
    assert {"new_c0", "new_h0"} <= named
    assert "new_measured" not in named
    # The sentence "a b" is in dev and test as well.
    assert ("train", "train s") in [(each.before.text, each.after.text) for each in sides["train"]]
    assert "a b c" not in [each.after.text for each in sides["train"]]
    counts = tomllib.loads((tmp_path / "sources.toml").read_text())
    rows = {row["address"].removeprefix("https://github.com/"): row for row in counts["history"]}
    assert rows["cid/small"]["commit"] == small.git("rev-parse", "HEAD")
    assert rows["cid/small"]["dropped"] == {"in GitHubEdits": 1}
    assert (rows["bob/big"]["mined"], rows["bob/big"]["train"], rows["cid/small"]["licence"]) == (3, 3, "ISC")
    assert [row["file"] for row in counts["replica"]] == ["githubedits/train.jsonl.gz", "prose_edits/train.tsv.gz"]
