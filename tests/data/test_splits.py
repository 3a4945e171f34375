"""Splits: nothing torn apart, shares as asked, time in order, and the leak between sides known and removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.edit import Canonical, Edit, Source, Version
from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.data.splits import NAMES, Split, assign_by_group, assign_by_time, mark_leaks, parse_shares
from editvec.data.splits import split as split_file

START = datetime(2020, 1, 1, tzinfo=UTC)


def edit(number: int, *, commit: int = 0, repository: str = "r", text: str | None = None, day: int = 0) -> Edit:
    """An edit that differs from all others, unless a text is given."""
    before, after = (text or f"old{number}").split(), (text or f"new{number}").split()
    return Edit(
        id=f"e{number}",
        language="python",
        before=Version(" ".join(before), tuple(before)),
        after=Version(" ".join(after) + "!", (*after, "!")),
        source=Source(repository, f"{commit:040x}", author_date=START + timedelta(days=day)),
    )


def split(
    tmp_path: Path,
    edits: Sequence[Edit],
    *,
    by: str = "commit",
    shares: str = "80,10,10",
    clean: bool = False,
    seed: int = 0,
) -> Split:
    edit_files.write(tmp_path / "all.parquet", edits)
    return split_file(
        tmp_path / "all.parquet",
        tmp_path / "split",
        by=by,
        shares=shares,
        seed=seed,
        format="parquet",
        remove_leak=clean,
    )


def sides(result: Split) -> list[list[Edit]]:
    return [list(edit_files.read(result.files[name])) for name in NAMES]


def test_no_commit_is_on_two_sides_and_nothing_is_lost(tmp_path: Path) -> None:
    edits = [edit(number, commit=number // 5) for number in range(1500)]
    result = split(tmp_path, edits)
    found = sides(result)
    commits = [{item.source.commit for item in side if item.source} for side in found]
    assert sum(map(len, commits)) == len(set.union(*commits)) == 300
    assert sorted(item.id for side in found for item in side) == sorted(item.id for item in edits)
    assert result.written == {name: len(side) for name, side in zip(NAMES, found, strict=True)}


def test_the_same_commit_of_two_projects_is_two_commits_but_a_project_stays_whole(tmp_path: Path) -> None:
    edits = [edit(n, commit=n, repository=f"owner/{n % 60}") for n in range(600)]
    found = sides(split(tmp_path, edits, by="project", shares="50,25,25"))
    projects = [{item.source.repository for item in side if item.source} for side in found]
    assert all(projects)
    assert sum(map(len, projects)) == len(set.union(*projects)) == 60
    spread = assign_by_group("commit", (50, 25, 25), 0)
    assert {spread(edit(0, commit=1, repository=f"owner/{n}")) for n in range(60)} == {0, 1, 2}


def test_shares_are_roughly_kept(tmp_path: Path) -> None:
    edits = [edit(number, commit=number) for number in range(2000)]
    written = split(tmp_path, edits, shares="8,1,1").written
    assert 1530 < written["train"] < 1670
    assert 150 < written["dev"] < 250
    assert 150 < written["test"] < 250


@pytest.mark.parametrize(
    ("shares", "empty"), [("1,0,0", {"dev", "test"}), ("0,1,1", {"train"}), ("0,0,5", {"train", "dev"})]
)
@pytest.mark.parametrize("by", ["commit", "time"])
def test_a_share_of_nothing_is_an_empty_file(tmp_path: Path, shares: str, empty: set[str], by: str) -> None:
    written = split(tmp_path, [edit(n, commit=n, day=n) for n in range(200)], shares=shares, by=by).written
    assert {name for name, count in written.items() if not count} == empty


def test_a_seed_gives_the_same_split_again_and_another_seed_another(tmp_path: Path) -> None:
    edits = [edit(number, commit=number) for number in range(300)]
    first, again, other = (sides(split(tmp_path, edits, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_time_goes_from_train_to_test(tmp_path: Path) -> None:
    edits = [edit(number, commit=number, day=(number * 37) % 100) for number in range(100)]
    found = sides(split(tmp_path, edits, by="time"))
    train, dev, test = ([date(item) for item in side] for side in found)
    assert (len(train), len(dev), len(test)) == (80, 10, 10)
    assert max(train) < min(dev) <= max(dev) < min(test)


def date(item: Edit) -> datetime:
    assert item.source is not None
    assert item.source.author_date is not None
    return item.source.author_date


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.lists(st.integers(0, 5), min_size=3, max_size=3))
def test_edits_of_one_moment_stay_together_and_in_order(days: list[int], shares: list[int]) -> None:
    if not sum(shares):
        return
    edits = [edit(number, day=day) for number, day in enumerate(days)]
    assign = assign_by_time(edits, shares)
    side_of = {day: {assign(item) for item, other in zip(edits, days, strict=True) if other == day} for day in days}
    assert all(len(found) == 1 for found in side_of.values())
    order = [side for day in sorted(side_of) for side in side_of[day]]
    assert order == sorted(order)


def test_the_leak_is_measured_and_removed(tmp_path: Path) -> None:
    days = range(100)
    edits = [
        edit(n, commit=n, day=n, text="same" if n in {3, 81, 82, 95} else "twice" if n in {85, 97} else None)
        for n in days
    ]
    kept = split(tmp_path, edits, by="time")
    assert kept.leak.leaked == {"dev": 2, "test": 2}
    assert kept.leak.counts == {"train": 80, "dev": 10, "test": 10}
    assert (kept.leak.share("train"), kept.leak.share("dev"), kept.leak.share("test")) == (0, 0.2, 0.2)
    assert kept.written == {"train": 80, "dev": 10, "test": 10}
    clean = split(tmp_path, edits, by="time", clean=True)
    assert clean.leak == kept.leak
    assert clean.written == {"train": 80, "dev": 8, "test": 8}
    again, _ = mark_leaks([(name, lambda file=file: edit_files.read(file)) for name, file in clean.files.items()])  # type: ignore[misc]
    assert again.leaked == Counter()


def test_a_leak_is_what_a_model_sees_twice(tmp_path: Path) -> None:
    """The same canonical form under other names is a leak; the same text in another form is none."""

    def canonical(number: int, day: int, form: str) -> Edit:
        plain = edit(number, day=day, commit=day)
        token_hash = Canonical((form,), (form, "!"), (), (), ("x",), ())
        return Edit(plain.id, plain.language, plain.before, plain.after, canonical=token_hash, source=plain.source)

    result = split(
        tmp_path, [canonical(0, 0, "VAR0"), canonical(1, 1, "VAR0"), canonical(0, 2, "VAR1")], by="time", shares="1,1,1"
    )
    assert result.leak.leaked == {"dev": 1}


def test_what_has_no_source_or_date_is_refused_with_a_way_out(tmp_path: Path) -> None:
    bare = Edit("e0", "python", Version("a", ("a",)), Version("b", ("b",)))
    for by in ("commit", "project"):
        with pytest.raises(UserError, match="--by edit"):
            split(tmp_path, [bare], by=by)
    with pytest.raises(UserError, match="has no date"):
        split(tmp_path, [bare], by="time")
    assert sum(split(tmp_path, [bare], by="edit").written.values()) == 1


def test_a_split_does_not_overwrite_its_source(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    edit_files.write(file, [edit(0)])
    with pytest.raises(UserError, match="would overwrite"):
        split_file(file, tmp_path, shares="1,1,1", format="parquet")
    assert edit_files.count(file) == 1


@pytest.mark.parametrize(
    "shares", ["", "80", "80,20", "80,10,10,5", "a,b,c", "80,,20", "-1,1,1", "0,0,0", "inf,1,1", "nan,1,1", "1,nan,1"]
)
def test_bad_shares_are_refused(shares: str) -> None:
    with pytest.raises(UserError, match="such as 80,10,10"):
        parse_shares(shares)


def test_good_shares() -> None:
    assert parse_shares("80,10,10") == (80, 10, 10)
    assert parse_shares("0.5, 0.5, 0") == (0.5, 0.5, 0)
