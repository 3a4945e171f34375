from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.errors import BadInputError
from editvec.mining import sweeps
from editvec.mining.sweeps import (
    Sweep,
    cut_lone_edits,
    cut_sweeps,
    line_signature,
    line_tokens,
    load_sweeps,
    save_sweeps,
)
from editvec.vcs.git import open_repository
from tests.conftest import Repo

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
TEXT = st.text("ab_$1.\"'\\ =+-><?:(){},;\té", max_size=30)


def calls(name: str, names: tuple[str, ...] = NAMES) -> str:
    return "".join(f"x = {name}({each}, 1)\n" for each in names)


MANY = tuple(f"name{number}" for number in range(81))


def spaced(name: str) -> str:
    return calls(name, MANY).replace("\n", "\n\n")


def cut(repo: Repo, *, most: int = 60, seed: int = 7) -> list[Sweep]:
    return cut_sweeps(open_repository(repo.path), ["py"], most=most, seed=seed)


def test_a_sweep_has_the_lines_of_all_files_that_changed_alike(repo: Repo) -> None:
    parent = repo.commit({"a.py": "# top\n" + calls("load"), "b c.py": "y = load(b)\nkept = 1\n"})
    commit = repo.commit({"a.py": "# top\n" + calls("read"), "b c.py": "y = read(b)\nkept = 2\n"})
    [sweep] = cut(repo)
    assert (sweep.commit, sweep.parent) == (commit, parent)
    assert [(site.path, site.line) for site in sweep.sites] == [("a.py", line) for line in range(2, 7)] + [
        ("b c.py", 1)
    ]
    assert sweep.sites[0].before == "x = load(alpha, 1)" and sweep.sites[0].after == "x = read(alpha, 1)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(calls("load", NAMES[:2]), calls("read", NAMES[:2]), id="two places"),
        pytest.param(calls("load", ("a", "a", "b")), calls("read", ("a", "a", "b")), id="two distinct lines"),
        pytest.param(calls("load", NAMES), calls("load", NAMES).replace("1", "2"), id="numbers only"),
        pytest.param(
            "".join(f"import {n}.x\n" for n in NAMES), "".join(f"import {n}.y\n" for n in NAMES), id="imports"
        ),
        pytest.param(calls("f"), calls("f").replace("(", "( "), id="white space"),
        pytest.param(
            calls("load"), re.sub("\n", "\nnew = 1\n", calls("read")), id="hunks that change the number of lines"
        ),
        pytest.param(calls("load", MANY[:41]), calls("read", MANY[:41]), id="more than forty lines on end"),
        pytest.param(spaced("load"), spaced("read"), id="more than eighty places"),
    ],
)
def test_other_commits_have_no_sweep(repo: Repo, before: str, after: str) -> None:
    repo.edit("a.py", before, after)
    assert cut(repo) == []


def test_files_with_other_endings_added_files_and_merges_do_not_count(repo: Repo) -> None:
    repo.commit({"a.txt": calls("load"), "b.py": "y = 1\n"})
    repo.commit({"a.txt": calls("read"), "c.py": calls("read")})
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit({"c.py": calls("parse")})
    repo.git("checkout", "--quiet", "main")
    repo.commit({"b.py": "y = 2\n"})
    repo.git("merge", "--quiet", "--no-edit", "side")
    assert len(cut(repo)) == 1
    assert len(cut_sweeps(open_repository(repo.path), [".txt", "py"])) == 2


def test_a_commit_and_a_signature_are_drawn_twice_at_most(repo: Repo) -> None:
    kinds = ("one", "two", "three")
    texts = ["".join(calls(f"{kind}{version}") for kind in kinds) for version in "abc"]
    for text in texts:
        repo.commit({"a.py": text})
    drawn = cut(repo)
    assert len(drawn) == 4 and len({sweep.commit for sweep in drawn}) == 2
    for version in "xyxyxy":
        repo.commit({"a.py": calls(f"again{version}")})
    signatures = [sweep.signature for sweep in cut(repo)]
    assert max(map(signatures.count, signatures)) == 2
    assert cut(repo, most=3) == cut(repo)[:3]
    assert cut(repo, seed=8) != cut(repo, seed=7)


def test_many_commits_are_read_in_batches(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.history([{"a.py": calls(f"load{number}").encode()} for number in range(8)])
    at_once = cut(repo)
    monkeypatch.setattr(sweeps, "_BATCH", 3)
    assert cut(repo) == at_once and len(at_once) == 7


def test_sweeps_are_saved_as_lines_and_loaded_again(repo: Repo, tmp_path: Path) -> None:
    repo.edit("a.py", calls("load"), calls("réad"))
    found = cut(repo)
    save_sweeps(tmp_path / "sweeps.jsonl", found)
    assert load_sweeps(tmp_path / "sweeps.jsonl") == found != []
    for text in ("{}\n", "[1]\n", "x\n", '{"commit": 1, "parent": 2, "signature": 3, "places": [[1]]}\n'):
        (tmp_path / "other.jsonl").write_text(text)
        with pytest.raises(BadInputError, match="not a sweep"):
            load_sweeps(tmp_path / "other.jsonl")


def test_lone_edits_are_lines_of_commits_without_a_sweep(repo: Repo) -> None:
    repo.commit({"a.py": calls("load"), "b.py": "one = f(x)\ntwo = 1\nthree = f(z)\n"})
    alone = repo.commit({"b.py": "one = g(x)\ntwo = 2\nthree = g(z)\n"})
    repo.commit({"a.py": calls("read"), "b.py": "one = f(x)\ntwo = 2\nthree = g(z)\n"})
    repo.commit({"b.py": "one = f(x)\ntwo = 3\nthree = g(z)\n"})
    other = repo.commit({"b.py": "one = f(x)\ntwo = 3\nthree = h(z)\n"})
    place = open_repository(repo.path)
    drawn = {sweep.commit: sweep.sites for sweep in cut_lone_edits(place, ["py"])}
    assert set(drawn) == {alone, other}
    assert [tuple(site) for site in drawn[other]] == [("b.py", 3, "three = g(z)", "three = h(z)")]
    assert len(drawn[alone]) == 1 and drawn[alone][0].line in (1, 3)
    assert cut_lone_edits(place, ["py"], most=1) == cut_lone_edits(place, ["py"])[:1]


def test_an_empty_repository_has_no_sweeps(repo: Repo) -> None:
    assert cut(repo) == []


@given(TEXT, TEXT)
def test_a_signature_needs_different_tokens_and_a_change_back_has_one_as_well(before: str, after: str) -> None:
    signature = line_signature(before, after)
    assert (signature is None) == (line_signature(after, before) is None)
    if line_tokens(before) == line_tokens(after):
        assert signature is None


def test_names_on_both_sides_are_numbered() -> None:
    one = line_signature("a.get(key)", "read(key, a)")
    assert one is not None and one == line_signature("b.get(name)", "read(name, b)")
    assert one != line_signature("a.get(key)", "read(key, b)")


def test_tokens_are_strings_names_numbers_and_operators() -> None:
    assert line_tokens(r'f("a \" b", $x?.y) ?? 1.5e3 == é') == ["f", "(", r'"a \" b"', ",", "$x", "?.", "y", ")"] + [
        "??",
        "1.5e3",
        "==",
    ]
