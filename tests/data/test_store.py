"""The store: what is put in comes out, whoever else reads, writes, is killed or makes room meanwhile."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from editvec.core.errors import UserError
from editvec.data import cache as caches
from editvec.data import native
from editvec.data.digests import content_digest
from editvec.data.store import DamagedStoreError, LostCommitError, MinedCommit, Store
from tests.data.test_edit_files import sample


def commit(number: int) -> str:
    return f"{number:040x}"


def mined(number: int, edits: int = 2, *, complete: bool = True) -> MinedCommit:
    found = [replace(sample(number), id=f"{number}-{at}") for at in range(edits)]
    return MinedCommit(
        commit(number),
        {"comment": number} if number else {},
        complete,
        tuple((edit.language, "a.cs") for edit in found),
        bytes(range(edits)),
        native.pack(map(native.dump, found)) if found else b"",
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "a.sqlite"


def test_commits_come_back_in_the_order_asked_for(path: Path) -> None:
    given = [mined(number, number % 3) for number in range(700)]
    with Store(path) as store:
        settings = store.settings("one")
        assert store.missing(settings, [commit(3), commit(4)]) == [commit(3), commit(4)]
        store.add(settings, given)
    with Store(path) as store:
        assert store.settings("one") == settings
        asked = [each.commit for each in reversed(given)]
        assert list(store.commits(settings, asked)) == given[::-1]
        assert [edit.id for edit in store.edits(settings, commit(2))] == ["2-0", "2-1"]
        assert store.missing(settings, [commit(3), commit(700)]) == [commit(700)]
        with pytest.raises(LostCommitError):
            store.edits(settings, commit(700))


def test_settings_do_not_mix_and_the_oldest_are_forgotten(path: Path) -> None:
    with Store(path) as store:
        for number in range(6):
            store.add(store.settings(f"s{number}"), [mined(number)])
        # Four are kept; asking for one that is forgotten would make it, and the next oldest would go.
        for number in (5, 4, 3, 2):
            settings = store.settings(f"s{number}")
            assert store.missing(settings, [commit(number)]) == []
            assert store.missing(settings, [commit(0)]) == [commit(0)]
        assert store.missing(store.settings("s1"), [commit(1)]) == [commit(1)]


def test_what_could_be_read_counts(path: Path) -> None:
    with Store(path) as store:
        settings = store.settings("s")
        store.add(settings, [mined(1, 0, complete=False)])
        assert store.missing(settings, [commit(1)]) == [commit(1)]
        store.add(settings, [mined(1)])
        store.add(settings, [mined(1, 0, complete=False)])
        assert store.missing(settings, [commit(1)]) == []
        assert len(store.edits(settings, commit(1))) == 2


def test_vectors_and_evidence_come_back(path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(600, 8)).astype(np.float32)
    digests = [b"%d" % number for number in range(600)]
    with Store(path) as store:
        store.add_vectors("m", digests, vectors)
        store.add_evidence({b"k": {"matched": 3}, b"l": [1.5, None]})
    with Store(path) as store:
        found = store.vectors("m", [*digests, b"none"])
        np.testing.assert_array_equal(np.array([found[digest] for digest in digests]), vectors)
        assert len(found) == 600
        assert store.vectors("other", digests) == {}
        assert store.evidence([b"k", b"none", b"l"]) == {b"k": {"matched": 3}, b"l": [1.5, None]}


def test_the_key_of_a_vector_is_what_a_model_sees() -> None:
    edit = sample()
    moved = replace(edit, id="x", source=None, label="l")
    assert content_digest(edit) == content_digest(moved)
    for other in (
        replace(edit, language="java"),
        replace(edit, context_before=("a",)),
        replace(edit, before=edit.after),
    ):
        assert content_digest(other) != content_digest(edit)


def test_a_transaction_is_whole_or_not_at_all(path: Path) -> None:
    def broken() -> list[MinedCommit]:
        raise RuntimeError

    with Store(path) as store:
        settings = store.settings("s")
        with pytest.raises(RuntimeError):
            store.add(settings, (mined(1) if number else broken()[0] for number in (1, 0)))
        assert store.missing(settings, [commit(1)]) == [commit(1)]


def test_another_version_is_emptied(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Store(path) as store:
        store.add(store.settings("s"), [mined(1)])
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 999")
    with Store(path) as store:
        assert store.missing(store.settings("s"), [commit(1)]) == [commit(1)]
    assert caplog.messages == []


@pytest.mark.parametrize("content", [b"nonsense" * 1000, b"SQLite format 3\0" + b"x" * 5000])
def test_what_is_no_store_is_replaced_with_one_line(
    path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with Store(path) as store:
        store.add(store.settings("s"), [mined(1)])
        assert len(store.edits(store.settings("s"), commit(1))) == 2
    assert len(caplog.messages) == 1
    assert "was damaged" in caplog.messages[0]


def test_damaged_edits_are_said(path: Path) -> None:
    with Store(path) as store:
        settings = store.settings("s")
        store.add(settings, [replace(mined(1), block=mined(1).block[:-3]), replace(mined(2), block=mined(3, 1).block)])
        for number in (1, 2):
            with pytest.raises(DamagedStoreError):
                store.edits(settings, commit(number))


def test_a_cache_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        Store(tmp_path / "file" / "a.sqlite")


def test_the_least_recently_used_make_room(tmp_path: Path, cache: Path) -> None:
    places = [tmp_path / name for name in "abc"]
    for number, place in enumerate(places):
        with Store.of(place) as store:
            store.add(store.settings("s"), [mined(at, 5) for at in range(20)])
        os.utime(caches.place_of(place), (number, number))
    each = caches.size_of(caches.place_of(places[0]))
    with Store.of(places[0], limit=2 * each + each // 2):
        pass
    assert {store.repository for store in caches.describe().stores} == {str(places[0]), str(places[2])}
    with Store.of(places[0], limit=10):
        pass
    assert caches.describe().stores == []


def test_what_is_in_use_stays(tmp_path: Path, cache: Path) -> None:
    with Store.of(tmp_path) as store:
        settings = store.settings("s")
        store.add(settings, [mined(1)])
        _, kept = caches.remove_all()
        assert kept == [store.path]
        assert len(store.edits(settings, commit(1))) == 2
    assert caches.remove_all()[1] == []
    assert not store.path.exists()


WRITER = """
import sys
from pathlib import Path
from tests.data.test_store import mined
from editvec.data.store import Store
first, count, size = map(int, sys.argv[2:])
with Store(Path(sys.argv[1])) as store:
    settings = store.settings("s")
    for start in range(first, first + count, size):
        store.add(settings, [mined(number) for number in range(start, start + size)])
"""


def writer(path: Path, first: int, count: int, size: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(path), str(first), str(count), str(size)]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE)


def test_processes_that_begin_and_write_at_once(path: Path) -> None:
    path.parent.mkdir()
    started = [writer(path, number * 50, 100, 10) for number in range(4)]
    for process in started:
        assert process.communicate(timeout=60)[1] == b""
    with Store(path) as store:
        commits = [commit(number) for number in range(250)]
        assert [len(each.lines) for each in store.commits(store.settings("s"), commits)] == [2] * 250


def test_killed_at_any_moment(path: Path) -> None:
    path.parent.mkdir()
    chance = np.random.default_rng(0)
    for attempt in range(6):
        process = writer(path, 0, 100_000, 7)
        end = time.monotonic() + 20
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(0.3 * chance.random() * (attempt > 0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Store(path) as store:
            settings = store.settings("s")
            known = 100_000 - len(store.missing(settings, [commit(number) for number in range(100_000)]))
            assert known % 7 == 0 or known == 100_000
            commits = [commit(number) for number in range(known)]
            assert all(len(each.lines) == 2 for each in store.commits(settings, commits))
