"""Finishing an edit in real work trees: what is found, what is written, and what is left alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable

import msgspec
import pytest

import editvec
from editvec.core.errors import UserError
from editvec.core.match import Suggestion
from editvec.suggest.document import FinishDocument
from editvec.suggest.finish import FinishReview
from tests.cli.run import run
from tests.conftest import Repo

ORDERS = "".join(f"def test_{n}():\n    self.assertEquals(total({n}), {n * 10})\n\n\n" for n in range(6))
USERS = "".join(f"def test_user_{n}():\n    self.assertEquals(name({n}), 'u{n}')\n\n\n" for n in range(4))
OTHER = "def run():\n    return compute(1)\n"


REST = {
    *(("tests/test_orders.py", 4 * n + 2) for n in range(2, 6)),
    *(("tests/test_users.py", 4 * n + 2) for n in range(1, 4)),
}
"""The places that are left in the work tree of `begun`."""


@pytest.fixture
def begun(repo: Repo) -> Repo:
    """A work tree in which three of ten calls were renamed by hand, in two files."""
    repo.commit({"tests/test_orders.py": ORDERS, "tests/test_users.py": USERS, "app.py": OTHER})
    begin(repo)
    return repo


def begin(repo: Repo, places: int = 2) -> None:
    """Renames the first calls."""
    repo.write({"tests/test_orders.py": ORDERS.replace("assertEquals", "assertEqual", places)})
    repo.write({"tests/test_users.py": USERS.replace("assertEquals", "assertEqual", places - 1)})


def lines_of(suggestions: Iterable[Suggestion]) -> set[tuple[str, int]]:
    """The paths and lines of suggestions."""
    return {(each.path, each.line) for each in suggestions}


def test_the_other_places_are_found(begun: Repo) -> None:
    found = editvec.finish(repo=begun.path)
    assert lines_of(found.suggestions) == REST
    assert len(found.likely) > len(REST) / 2
    assert all(each.before == "assertEquals" and each.after == "assertEqual" for each in found.suggestions)
    assert (found.num_changed, found.num_files, len(found.edits)) == (2, 3, 1)
    assert begun.git("diff", "--numstat").split() == ["2", "2", "tests/test_orders.py", "1", "1", "tests/test_users.py"]


def test_what_it_says_is_deterministic_and_sorted(begun: Repo) -> None:
    one, other = (json.dumps(editvec.finish(repo=begun.path).as_json()) for _ in range(2))
    assert one == other
    confidences = [each.confidence for each in editvec.finish(repo=begun.path).suggestions]
    assert confidences == sorted(confidences, reverse=True)


def test_a_file_name_that_is_not_utf_8(repo: Repo) -> None:
    name = os.fsdecode(b"tests/caf\xe9.py")
    begun = ORDERS.replace("assertEquals", "assertEqual", 1)
    repo.commit({name: ORDERS, "app.py": OTHER})
    repo.write({name: begun})
    found = json.loads(run("finish", "--json", cwd=repo.path).stdout)
    assert {each["path"] for each in found["suggestions"]} == {name}
    assert r"caf\udce9.py:6" in run("finish", cwd=repo.path).stdout
    diff = run("finish", "--diff", cwd=repo.path).stdout
    assert r"caf\351.py" in diff
    repo.git("apply", "--check", stdin=diff.encode("utf-8", "surrogateescape"))
    run("finish", "--explain", 1, cwd=repo.path)
    run("finish", "-U", cwd=repo.path)
    assert (repo.path / name).read_text() == ORDERS.replace("assertEquals", "assertEqual")
    assert json.loads(run("undo", "--json", cwd=repo.path).stdout)["files"] == [name]
    assert (repo.path / name).read_text() == begun


def test_offsets_are_those_of_the_bytes_of_the_file(repo: Repo) -> None:
    text = ORDERS.replace("\n", "\r\n").replace("self", "sélf")
    repo.commit({"a.py": text.encode("latin-1"), "b.py": text})
    for name in ("a.py", "b.py"):
        file = repo.path / name
        file.write_bytes(file.read_bytes().replace(b"assertEquals", b"assertEqual", 1))
        found = editvec.finish(repo=repo.path).as_json()["suggestions"]
        assert {each["path"] for each in found} == {"a.py", "b.py"}
        for each in found:
            data = (repo.path / each["path"]).read_bytes()
            assert data[each["start"] : each["end"]].decode() == each["before"]
        repo.git("checkout", "--", ".")


def test_likely_places_are_written_and_taken_back(begun: Repo) -> None:
    before = {name: (begun.path / name).read_bytes() for name in ("tests/test_orders.py", "tests/test_users.py")}
    likely = editvec.finish(repo=begun.path).likely
    done = editvec.finish(repo=begun.path, update=True)
    assert (done.num_written, done.written, done.problems) == (len(likely), sorted(before), [])
    for each in likely:
        assert b"assertEqual(" in (begun.path / each.path).read_bytes().splitlines()[each.line - 1]
    assert lines_of(editvec.finish(repo=begun.path).suggestions) == REST - lines_of(likely)
    editvec.undo(begun.path)
    assert before == {name: (begun.path / name).read_bytes() for name in before}


def test_a_refused_place_is_not_suggested(begun: Repo) -> None:
    found = editvec.finish(repo=begun.path, refused=["tests/test_users.py:6"])
    assert ("tests/test_users.py", 6) not in lines_of(found.suggestions)


def test_only_the_given_paths_are_searched(begun: Repo) -> None:
    found = editvec.finish([begun.path / "tests/test_users.py"], repo=begun.path)
    assert {each.path for each in found.suggestions} == {"tests/test_users.py"}


def test_only_the_given_edits_are_finished(begun: Repo) -> None:
    begun.write({"app.py": OTHER.replace("compute(1)", "calculate(1)")})
    assert len(editvec.finish(repo=begun.path).edits) == 2
    (edit,) = editvec.finish(repo=begun.path, edits=["app.py:2"]).edits
    assert edit.demonstrations[0].path == "app.py"


def test_edits_of_the_index_a_branch_and_a_commit(begun: Repo) -> None:
    assert editvec.finish(repo=begun.path, staged=True).num_changed == 0
    begun.git("add", "--all")
    assert len(editvec.finish(repo=begun.path, staged=True).suggestions) == len(REST)
    commit = begun.commit({})
    assert editvec.finish(repo=begun.path).num_changed == 0
    assert len(editvec.finish(repo=begun.path, commit=commit).suggestions) == len(REST)
    assert len(editvec.finish(repo=begun.path, changed_since="HEAD~1").suggestions) == len(REST)


def test_a_commit_of_another_repository(begun: Repo, make_repo: Callable[..., Repo]) -> None:
    commit = begun.commit({})
    other = make_repo("other")
    other.commit({"tests/test_mail.py": ORDERS})
    found = editvec.finish(repo=other.path, commit=commit, origin=begun.path)
    assert len(found.likely) == 6
    with pytest.raises(UserError, match="--commit"):
        editvec.finish(repo=other.path, origin=begun.path)


def test_nothing_changed_and_nothing_alike(repo: Repo) -> None:
    repo.commit({"app.py": OTHER})
    assert editvec.finish(repo=repo.path).num_changed == 0
    repo.write({"app.py": OTHER.replace("compute", "calculate")})
    found = editvec.finish(repo=repo.path)
    assert (found.num_changed, found.suggestions) == (1, [])


def test_a_file_in_no_known_language_and_one_that_does_not_parse(repo: Repo) -> None:
    lines = "".join(f"key{n}: old_name_{n} # (((\n" for n in range(5))
    repo.commit({"a.conf": lines.replace("old_name_", "old_name: "), "b.py": ORDERS + "def ((:\n"})
    repo.write({"a.conf": lines.replace("old_name_", "old_name: ").replace("old_name", "new_name", 1)})
    assert len(editvec.finish(repo=repo.path).suggestions) == 4
    repo.git("checkout", "--", ".")
    repo.write({"b.py": ORDERS.replace("assertEquals", "assertEqual", 1) + "def ((:\n"})
    assert len(editvec.finish(repo=repo.path).likely) == 5


def test_vendored_generated_and_ignored_files_are_left_alone(begun: Repo) -> None:
    begun.write(
        {
            "vendor/test_lib.py": USERS,
            "tests/made_pb2.py": USERS,
            "out/test_x.py": USERS,
            ".gitignore": "out/\n",
            "tests/test_new.py": USERS,
        }
    )
    paths = {each.path for each in editvec.finish(repo=begun.path).suggestions}
    assert paths == {"tests/test_orders.py", "tests/test_users.py", "tests/test_new.py"}


def test_a_wrong_line_is_one_clear_error(begun: Repo) -> None:
    for wrong in ("app.py", "app.py:0", "app.py:x", "../x.py:1"):
        with pytest.raises(UserError, match="Give a file"):
            editvec.finish(repo=begun.path, refused=[wrong])
    with pytest.raises(UserError, match="does not exist"):
        editvec.finish(["nowhere"], repo=begun.path)


def test_every_answer_of_a_review_counts_for_the_rest(begun: Repo) -> None:
    seen: list[Suggestion] = []
    at_first = begun.git("diff")

    def decide(review: FinishReview) -> None:
        first, second, *_ = review.remaining()
        assert review.accept(first) == ""
        assert b"assertEqual(" in (begun.path / first.path).read_bytes()
        review.refuse(second)
        rest = review.remaining()
        assert not lines_of(rest) & lines_of([first, second])
        assert review.back() and review.back() and not review.back()
        assert begun.git("diff") == at_first
        review.mute(first)
        seen.extend(review.remaining())

    done = editvec.finish(repo=begun.path, decide=decide)
    assert seen == [] and done.num_written == 0


def test_the_patch_is_one_that_git_takes(begun: Repo) -> None:
    patch = run("finish", "--diff", cwd=begun.path).stdout.encode()
    begun.git("apply", "--check", "-", stdin=patch)
    likely = lines_of(editvec.finish(repo=begun.path).likely)
    begun.git("apply", "-", stdin=patch)
    assert not lines_of(editvec.finish(repo=begun.path).suggestions) & likely


def test_the_command_line_shows_places_and_says_what_to_do_next(begun: Repo) -> None:
    shown = run("finish", cwd=begun.path).stdout
    assert "7 more places" in shown and "(possible)" in shown
    run("finish", "--check", cwd=begun.path, code=1)
    assert "of 7 matches" in run("finish", "--explain", "1", cwd=begun.path).stdout
    run("finish", "--explain", "99", cwd=begun.path, code=2)
    run("finish", "-U", "--diff", cwd=begun.path, code=2)


def test_a_review_in_the_terminal_writes_what_is_accepted(begun: Repo) -> None:
    assert "1 place in 1 file written" in run("finish", "-i", cwd=begun.path, stdin="?\ny\nn\nb\nd\n").stdout
    likely = len(editvec.finish(repo=begun.path).likely)
    assert f"{likely} places in 2 files written" in run("finish", "-i", cwd=begun.path, stdin="a\n" + 7 * "n\n").stdout
    begun.git("checkout", "--", ".")
    assert "Nothing has changed" in run("finish", cwd=begun.path).stdout


def test_json_is_what_its_schema_says(begun: Repo) -> None:
    printed = run("finish", "-C", begun.path, "--json").stdout.encode()
    document = msgspec.json.decode(printed, type=FinishDocument)
    assert (len(document.edits), len(document.suggestions)) == (1, 7)
    assert msgspec.json.decode(printed) == msgspec.to_builtins(document), "a key that the types do not know"
