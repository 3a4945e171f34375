"""Every kind of repository that people have: nothing crashes, nothing is lost in silence, no run spoils another."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from editvec.core.errors import GitError, UserError
from editvec.data import edit_files
from editvec.data.store import LostCommitError, MinedCommit, Store
from editvec.mining.options import locate, pick_paths
from editvec.vcs import git
from tests.conftest import Repo, clean_git_environment
from tests.mining.run import Mined, mine

BEFORE, AFTER = "total = first(items)\n", "total = last(items)\n"
TEXTS = ("total = first(items)", "total = last(items)")


def clone_of(repo: Repo, *options: str) -> Repo:
    target = repo.path.parent / "clone"
    subprocess.run(
        ["git", "clone", "--quiet", *options, f"file://{repo.path}", str(target)],
        check=True,
        capture_output=True,
        env=clean_git_environment(),
    )
    return Repo(target)


def steps(repo: Repo, names: list[str], name: str = "a.py") -> None:
    """A commit for each name: the same statement with another call."""
    for callee in names:
        repo.commit({name: f"total = {callee}(items)\n"})


def callees(mined: Mined) -> list[str]:
    return [edit.after.tokens[2] for edit in mined.edits]


# --- places that are no repository


def test_an_empty_repository_and_a_branch_without_commits(repo: Repo) -> None:
    assert mine(repo).report.commits == 0
    repo.edit("a.py", BEFORE, AFTER)
    repo.git("checkout", "--quiet", "--orphan", "nothing-yet")
    assert mine(repo).report.commits == 0
    assert mine(repo, revisions=("main",)).texts == [TEXTS]


def test_what_is_no_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(GitError, match="is not a git repository"):
        git.open_repository(tmp_path / "folder")
    with pytest.raises(GitError, match="is a file"):
        git.open_repository(tmp_path / "file")
    with pytest.raises(GitError, match="does not exist"):
        git.open_repository(tmp_path / "missing")


def test_a_folder_inside_a_repository_stands_for_it(repo: Repo) -> None:
    repo.edit("sub/a.py", BEFORE, AFTER)
    assert mine(repo.path / "sub").texts == [TEXTS]


def test_a_range_that_names_nothing_is_refused(repo: Repo) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    with pytest.raises(GitError, match=r"nosuch\.\.HEAD names no commits"):
        mine(repo, revisions=("nosuch..HEAD",))


# --- clones of every depth


def test_a_bare_repository_gives_what_its_work_tree_gives(repo: Repo) -> None:
    steps(repo, ["first", "last", "best"])
    bare = clone_of(repo, "--bare")
    assert mine(bare).texts == mine(repo).texts != []


def test_an_address_is_cloned_once_and_kept_up_to_date(repo: Repo, cache: Path) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    address = f"file://{repo.path}"
    first = locate(address)
    assert first.path.is_relative_to(cache)
    assert mine(first.path).texts == [TEXTS]
    steps(repo, ["best"])
    assert locate(address) == first
    assert callees(mine(first.path)) == ["last", "best"]


def test_an_address_that_cannot_be_cloned_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(GitError, match="could not clone"):
        locate(f"file://{tmp_path}/nowhere")
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_shallow_clone_says_which_commits_it_cannot_read_and_grows(repo: Repo) -> None:
    steps(repo, ["one", "two", "three", "four", "five"])
    clone = clone_of(repo, "--depth=3")
    shallow = mine(clone, resume=True)
    assert callees(shallow) == ["four", "five"]
    assert shallow.report.commits == 3
    assert shallow.report.dropped == {"unreadable": 1}
    clone.git("fetch", "--quiet", "--unshallow")
    deep = mine(clone, resume=True)
    assert callees(deep) == ["two", "three", "four", "five"]
    assert deep.report.dropped == {}
    assert deep.report.mined_now == 3


@pytest.fixture
def partial(repo: Repo, tmp_path: Path) -> Repo:
    """A clone without the old blobs, with a commit of its own on top; to contact its origin leaves a mark."""
    steps(repo, ["one", "two", "three", "four"])
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = clone_of(repo, "--filter=blob:none")
    clone.commit({"a.py": "total = five(items)\n"})
    spy = tmp_path / "upload-pack"
    spy.write_text(f"#!/bin/sh\ntouch '{tmp_path}/contacted'\nexec git-upload-pack \"$@\"\n")
    spy.chmod(0o755)
    clone.git("config", "remote.origin.uploadpack", str(spy))
    return clone


def test_a_partial_clone_fetches_nothing(partial: Repo, tmp_path: Path) -> None:
    found = mine(partial, resume=True)
    assert callees(found) == ["five"]
    assert found.report.commits == 5
    assert found.report.dropped == {"unreadable": 3}
    assert not (tmp_path / "contacted").exists()
    missing = partial.git("rev-list", "--objects", "--all", "--missing=print").count("\n?")
    assert missing == 3


def test_a_partial_clone_that_got_its_objects_is_read_again(partial: Repo, tmp_path: Path) -> None:
    assert mine(partial, resume=True).report.dropped == {"unreadable": 3}
    partial.git("log", "-p", "--all")
    assert (tmp_path / "contacted").exists(), "the mark is made when git does fetch"
    again = mine(partial, resume=True)
    assert callees(again) == ["two", "three", "four", "five"]
    assert again.report.dropped == {}
    assert again.report.mined_now == 3
    assert mine(partial, resume=True).report.mined_now == 0


def test_a_clone_without_trees_is_read_as_far_as_it_goes(repo: Repo) -> None:
    steps(repo, ["one", "two", "three"])
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = clone_of(repo, "--filter=tree:0")
    clone.commit({"a.py": "total = four(items)\n"})
    found = mine(clone)
    assert callees(found) == ["four"]
    assert found.report.dropped == {"unreadable": 2}


@pytest.mark.parametrize("damage", [b"", b"not zlib"])
def test_a_damaged_object_costs_only_the_commits_that_need_it(repo: Repo, damage: bytes) -> None:
    steps(repo, ["one", "two", "three", "four", "five", "six"])
    _spoil(repo, "HEAD~3:a.py", damage)
    found = mine(repo)
    assert callees(found) == ["two", "five", "six"]
    assert found.report.dropped == {"unreadable": 2}


def test_a_missing_blob_costs_only_the_commits_that_need_it(repo: Repo) -> None:
    steps(repo, ["one", "two", "three", "four", "five", "six"])
    _spoil(repo, "HEAD~3:a.py", None)
    _spoil(repo, "HEAD~5:a.py", None)
    found = mine(repo)
    assert callees(found) == ["five", "six"]
    assert found.report.dropped == {"unreadable": 3}


def _spoil(repo: Repo, revision: str, damage: bytes | None) -> None:
    identity = repo.git("rev-parse", revision)
    file = repo.path / ".git" / "objects" / identity[:2] / identity[2:]
    file.chmod(0o644)
    file.unlink()
    if damage is not None:
        file.write_bytes(damage)


def test_a_repository_with_long_names(make_repo: Callable[..., Repo]) -> None:
    repo = make_repo("long", "--object-format=sha256")
    identity = repo.edit("a.py", BEFORE, AFTER)
    edit = mine(repo).only
    assert edit.source is not None
    assert len(identity) == 64
    assert edit.source.commit == identity


def test_a_submodule_is_not_entered(repo: Repo, make_repo: Callable[..., Repo]) -> None:
    inner = make_repo("inner")
    inner.edit("b.py", BEFORE, AFTER)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{inner.path}", "lib.py")
    repo.edit("a.py", BEFORE, AFTER)
    inner.commit({"b.py": BEFORE})
    repo.git("-C", "lib.py", "fetch", "--quiet")
    repo.git("-C", "lib.py", "checkout", "--quiet", "FETCH_HEAD")
    repo.commit({"a.py": "total = best(items)\n"})
    found = mine(repo)
    assert {edit.source.path for edit in found.edits if edit.source} == {"a.py"}
    assert callees(found) == ["last", "best"]
    assert "unreadable" not in found.report.dropped


def test_merges_are_not_mined_twice(repo: Repo) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit({"b.py": BEFORE})
    repo.commit({"b.py": "total = best(items)\n"})
    repo.git("checkout", "--quiet", "main")
    steps(repo, ["worst"])
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    found = mine(repo)
    assert sorted(callees(found)) == ["best", "last", "worst"]
    assert found.report.commits == 5


# --- files of every kind


def test_a_pointer_to_a_large_file_is_no_code(repo: Repo) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize = {}\n"
    repo.edit("a.py", pointer.format("0" * 64, "first(1)"), pointer.format("0" * 64, "last(1)"))
    found = mine(repo)
    assert found.edits == []
    assert found.report.dropped == {"lfs-pointer": 1}


def test_a_renamed_and_edited_file_gives_the_edit(repo: Repo) -> None:
    rest = "".join(f"x{number} = {number}\n" for number in range(20))
    repo.commit({"old.py": BEFORE + rest})
    repo.commit({"old.py": None, "sub/new.py": AFTER + rest})
    edit = mine(repo).only
    assert edit.source is not None
    assert edit.source.path == "sub/new.py"
    assert (edit.before.text, edit.after.text) == TEXTS


def test_latin_1(repo: Repo) -> None:
    repo.edit("a.py", "größe = first('é')\n".encode("latin-1"), "größe = last('é')\n".encode("latin-1"))
    assert mine(repo).texts == [("größe = first('é')", "größe = last('é')")]


def test_a_file_that_becomes_utf_8(repo: Repo) -> None:
    repo.edit("a.py", "größe = first('é')\n".encode("latin-1"), "größe = last('é')\n")
    assert mine(repo).texts == [("größe = first('é')", "größe = last('é')")]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("end", [True, False], ids=["newline", "no-newline"])
def test_line_ends_and_marks(repo: Repo, mark: bytes, newline: bytes, end: bool) -> None:
    def file(text: str) -> bytes:
        return mark + text.encode().replace(b"\n", newline) + (newline if end else b"")

    repo.commit({"a.py": file("# head\nx = 1\n" + TEXTS[0]), "b.py": file(TEXTS[0])})
    repo.commit({"a.py": file("# head\nx = 1\n" + TEXTS[1]), "b.py": file(TEXTS[1])})
    found = mine(repo, keep=("near-duplicate",))
    assert found.texts == [TEXTS, TEXTS]
    sources = [edit.source for edit in found.edits if edit.source]
    assert [source.lines_before for source in sources] == [(3, 3), (1, 1)]
    assert found.edits[0].context_before == ("x", "=", "1")


def test_a_change_of_line_ends_is_formatting(repo: Repo) -> None:
    repo.edit("a.py", BEFORE, BEFORE.replace("\n", "\r\n"))
    assert mine(repo).report.dropped == {"formatting": 1}


def test_a_change_of_the_mark_at_the_start_is_formatting(repo: Repo) -> None:
    repo.edit("a.py", BEFORE, b"\xef\xbb\xbf" + BEFORE.encode())
    assert mine(repo).report.dropped == {"formatting": 1}


def test_a_comment_behind_the_mark_at_the_start_is_a_comment(repo: Repo) -> None:
    repo.edit("a.py", "\ufeff# one\n" + BEFORE, "\ufeff# other\n" + BEFORE)
    assert mine(repo).report.dropped == {"comment": 1}


def test_only_the_newline_at_the_end_changed(repo: Repo) -> None:
    repo.edit("a.py", BEFORE, BEFORE.rstrip("\n"))
    assert mine(repo).report.dropped == {"formatting": 1}


@pytest.mark.parametrize("size", [1_100_000, git.MAX_TEXT_BYTES + 1])
def test_a_huge_file_is_left_out_and_counted(repo: Repo, size: int) -> None:
    rest = "x = 1\n" * (size // 6 + 1)
    repo.commit({"a.py": BEFORE + rest, "b.py": BEFORE})
    repo.commit({"a.py": AFTER + rest, "b.py": AFTER})
    found = mine(repo)
    assert [edit.source.path for edit in found.edits if edit.source] == ["b.py"]
    assert found.report.dropped == {"too-large": 1}
    assert found.report.files == 2


@pytest.mark.parametrize("content", ["first\0last", "\ufefftotal = {}"], ids=["zero-bytes", "utf-16"])
def test_a_file_that_is_no_text_is_left_out_and_counted(repo: Repo, content: str) -> None:
    encoding = "utf-8" if "\0" in content else "utf-16-le"
    repo.edit("a.py", (content + "1").encode(encoding), (content + "2").encode(encoding))
    assert mine(repo).report.dropped == {"too-large": 1}


def test_a_file_marked_as_binary_is_left_out_and_counted(repo: Repo) -> None:
    repo.commit({".gitattributes": "*.py -diff\n"})
    repo.edit("a.py", BEFORE, AFTER)
    assert mine(repo).report.dropped == {"too-large": 1}


ODD = ["new\nline.py", 'quo"te.py', "-dash.py", "tab\t.py", "日本語.py", "a b.py", "back\\slash.py", "UPPER.PY", "*.py"]


def test_odd_file_names(repo: Repo) -> None:
    repo.commit(dict.fromkeys(ODD, BEFORE))
    repo.commit(dict.fromkeys(ODD, AFTER))
    found = mine(repo)
    assert {edit.source.path for edit in found.edits if edit.source} == set(ODD)
    assert set(found.texts) == {TEXTS}


def test_a_file_name_that_is_not_utf_8_survives_the_store(repo: Repo, tmp_path: Path) -> None:
    for content in (BEFORE, AFTER):
        (repo.path / os.fsdecode(b"caf\xe9.py")).write_text(content)
        repo.commit({})
    found = mine(repo)
    assert found.only.source is not None
    assert found.only.source.path == r"caf\xe9.py"
    edit_files.write(tmp_path / "e.parquet", found.edits)
    assert list(edit_files.read(tmp_path / "e.parquet")) == found.edits


def test_only_what_lies_below_the_given_paths(repo: Repo) -> None:
    names = ["a[1]/x.py", "a[1]/deep/y.py", "a1/x.py", "b/z.py", "z.py"]
    repo.commit(dict.fromkeys(names, BEFORE))
    repo.commit(dict.fromkeys(names, AFTER))

    def paths(*given: str) -> set[str]:
        found = mine(repo, paths=pick_paths(given), keep=("near-duplicate",))
        return {edit.source.path for edit in found.edits if edit.source}

    assert paths("a[1]/") == {"a[1]/x.py", "a[1]/deep/y.py"}
    assert paths("./b", "z.py") == {"b/z.py", "z.py"}
    assert paths(".") == set(names)
    assert paths("nosuch") == set()
    with pytest.raises(UserError, match="outside the repository"):
        paths("b/../../x")


# --- one run after another


def test_a_repository_that_grew_is_mined_only_where_it_is_new(repo: Repo) -> None:
    steps(repo, ["one", "two", "three"])
    first = mine(repo, resume=True)
    assert (first.report.mined_now, callees(first)) == (3, ["two", "three"])
    steps(repo, ["four", "five"])
    second = mine(repo, resume=True)
    assert second.report.mined_now == 2
    fresh = mine(repo)
    assert fresh.report.mined_now == 5
    assert second.edits == fresh.edits
    assert second.report.dropped == fresh.report.dropped
    assert mine(repo, resume=True).report.mined_now == 0


def test_a_part_of_a_mined_history_is_reported_as_if_mined_alone(repo: Repo) -> None:
    steps(repo, ["one", "two", "three"])
    repo.commit({"a.py": "total = three(items)\nmore = 1\n"})
    repo.commit({"a.py": "total = three(items)\n# less\n"})
    mine(repo, resume=True)
    for revisions in (("HEAD~3..HEAD",), ("HEAD~1",), ("HEAD~4",)):
        part, alone = mine(repo, revisions=revisions, resume=True), mine(repo, revisions=revisions)
        assert part.report.mined_now == 0
        assert part.edits == alone.edits
        alone.report.mined_now = 0
        assert part.report == alone.report


def test_other_settings_give_other_edits(repo: Repo) -> None:
    repo.edit("a.py", "total = 2\n", "total = 3\n")
    assert mine(repo, resume=True).edits == []
    assert len(mine(repo, keep=("literal-only",), resume=True).edits) == 1


def test_other_settings_do_not_lose_what_these_mined(repo: Repo) -> None:
    repo.edit("a.py", "total = 2\n", "total = 3\n")
    for _ in range(2):
        first, second = mine(repo, resume=True), mine(repo, keep=("literal-only",), resume=True)
    assert (first.report.mined_now, second.report.mined_now) == (0, 0)


@pytest.mark.parametrize("where", ["start", "middle", "end", "everywhere"])
def test_a_damaged_store_is_mined_again(repo: Repo, cache: Path, where: str, caplog: pytest.LogCaptureFixture) -> None:
    steps(repo, [f"f{number}" for number in range(40)])
    whole = mine(repo, resume=True)
    (file,) = cache.rglob("*.sqlite")
    data = bytearray(file.read_bytes())
    at = {"start": 0, "middle": len(data) // 2, "end": len(data) - 3000, "everywhere": 0}[where]
    size = len(data) if where == "everywhere" else 2000
    data[at : at + size] = b"\xa5" * size
    file.write_bytes(data)
    again = mine(repo, resume=True)
    assert again.edits == whole.edits
    assert again.report.dropped == whole.report.dropped
    assert len(caplog.messages) <= 1
    assert mine(repo, resume=True).report.mined_now == 0


def test_what_another_process_forgot_meanwhile_is_mined_again(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    steps(repo, [f"f{number}" for number in range(12)])
    fresh = mine(repo)
    read = Store.commits
    forgotten: list[MinedCommit] = []

    def commits(self: Store, settings: int, wanted: Sequence[str]) -> Iterator[MinedCommit]:
        for number, each in enumerate(read(self, settings, wanted)):
            if number == 5 and not forgotten:
                forgotten.append(each)
                with sqlite3.connect(self.path) as database:
                    database.execute("DELETE FROM commits")
                raise LostCommitError(each.commit)
            yield each

    monkeypatch.setattr(Store, "commits", commits)
    found = mine(repo, resume=True)
    assert forgotten
    assert found.edits == fresh.edits
    assert found.report == fresh.report


def test_a_store_that_is_cut_short_is_mined_again(repo: Repo, cache: Path) -> None:
    repo.edit("a.py", BEFORE, AFTER)
    mine(repo, resume=True)
    (file,) = cache.rglob("*.sqlite")
    file.write_bytes(file.read_bytes()[:-5000])
    found = mine(repo, resume=True)
    assert (found.report.mined_now, found.texts) == (2, [TEXTS])


# --- processes that end before their time

COMMITS = 700


@pytest.fixture(scope="module")
def long_history(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A history of several batches."""
    repo = Repo.create(tmp_path_factory.mktemp("long") / "project")
    lines = [f"x{number} = f({number}, y)\n".encode() for number in range(20)]
    commits = []
    for number in range(COMMITS):
        lines[number % 20] = b"x%d = g%d(%d, y)\n" % (number % 20, number, number)
        commits.append({"a.py": b"".join(lines)})
    repo.history(commits)
    return repo


def start(repo: Repo, target: Path, workers: int) -> subprocess.Popen[str]:
    """`editvec mine` as a process group of its own, as a terminal would start it."""
    command = [sys.executable, "-m", "editvec", "mine", str(repo.path), "-o", str(target), "--workers", str(workers)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A job in the background of a script ignores Ctrl-C, and so would what it starts; a terminal's does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def num_mined(cache: Path) -> int:
    """How many commits the store holds."""
    for file in cache.rglob("*.sqlite"):
        with suppress(sqlite3.OperationalError), sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True) as database:
            return int(database.execute("SELECT COUNT(*) FROM commits").fetchone()[0])
    return 0


def wait_for_a_batch(cache: Path, process: subprocess.Popen[str]) -> None:
    while process.poll() is None and not num_mined(cache):
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()


def is_running(group: int) -> bool:
    """Whether a process of the group lives, other than as an entry that nobody collected."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, number = entry.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(number) == group and state != "Z":
            return True
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_leaves_nothing_broken_and_the_next_one_goes_on(
    long_history: Repo, tmp_path: Path, cache: Path, workers: int
) -> None:
    target = tmp_path / "out" / "edits.jsonl.gz"
    target.parent.mkdir()
    process = start(long_history, target, workers)
    wait_for_a_batch(cache, process)
    process.kill()
    process.wait()
    assert list(target.parent.iterdir()) == []
    limit = time.monotonic() + 10
    while is_running(process.pid) and time.monotonic() < limit:
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
        assert time.monotonic() < limit, "workers outlived their parent"
    resumed = mine(long_history, resume=True)
    fresh = mine(long_history)
    assert 0 < resumed.report.mined_now < fresh.report.mined_now == COMMITS
    assert resumed.edits == fresh.edits
    assert len(fresh.edits) > COMMITS / 2
    assert resumed.report.dropped == fresh.report.dropped


def test_processes_at_once_give_what_one_gives(long_history: Repo, tmp_path: Path, cache: Path) -> None:
    targets = [tmp_path / f"{number}.jsonl" for number in range(3)]
    started = [start(long_history, target, 1) for target in targets]
    for process in started:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err
    alone = tmp_path / "alone.jsonl"
    assert start(long_history, alone, 1).wait(timeout=120) == 0
    assert {target.read_bytes() for target in targets} == {alone.read_bytes()}
    assert num_mined(cache) == COMMITS


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_is_one_line_and_its_own_exit_code(
    long_history: Repo, tmp_path: Path, cache: Path, workers: int
) -> None:
    target = tmp_path / "out" / "edits.jsonl.gz"
    target.parent.mkdir()
    process = start(long_history, target, workers)
    wait_for_a_batch(cache, process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "editvec: stopped. The mined edits are kept. Run the same command again to continue."
    assert list(target.parent.iterdir()) == []


def test_ctrl_c_while_the_workers_start(long_history: Repo, tmp_path: Path, cache: Path) -> None:
    process = start(long_history, tmp_path / "edits.jsonl.gz", 2)
    while process.poll() is None and not list(cache.rglob("*.sqlite")):
        time.sleep(0.005)
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert len(err.strip().splitlines()) == 1
