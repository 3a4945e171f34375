"""The vocabulary: frequent first, the same every time, in memory that does not grow with the edits."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from editvec.data.digests import TrainingDigests
from editvec.neural import vocab
from editvec.neural.vocab import MARKS, Vocab
from tests.neural.edits import edit, random_edits


@given(st.dictionaries(st.text(), st.integers(1, 5)), st.integers(0, 8), st.integers(1, 3))
def test_the_most_frequent_come_first(counts: dict[str, int], size: int, least: int) -> None:
    built = vocab.build(counts, size=size, min_count=least)
    assert len(built.tokens) == min(size, sum(count >= least for count in counts.values()))
    kept = [counts[token] for token in built.tokens]
    assert kept == sorted(kept, reverse=True)
    left = [count for token, count in counts.items() if token not in built.ids and count >= least]
    assert not left or not kept or max(left) <= min(kept)
    assert all(built.token(built.ids[token]) == token for token in built.tokens)
    assert built.tokens == vocab.build(dict(reversed(counts.items())), size=size, min_count=least).tokens


def test_a_vocabulary_comes_back_from_its_file(tmp_path: Path) -> None:
    odd = Vocab(("a", "", "\n", "ü\u2028", *MARKS))
    odd.save(tmp_path / "v.json")
    assert Vocab.load(tmp_path / "v.json") == odd


def test_lower_case() -> None:
    assert set(vocab.count_tokens([edit("The Cat", "A cat", above="Über")], lowercase=True)) == {
        "the",
        "cat",
        "a",
        "über",
    }


def test_counting_forgets_the_rarest_when_there_are_too_many() -> None:
    edits = [edit(f"often often n{at}", "often", above=f"m{at} k{at}") for at in range(500)]
    counts = vocab.count_tokens(edits, limit=50)
    assert len(counts) <= 50
    assert counts["often"] == 1500
    assert counts.most_common(1)[0][0] == "often"


def test_what_was_seen_is_told_apart(tmp_path: Path) -> None:
    edits = random_edits(50)
    known = TrainingDigests.of(edits[:25])
    known.save(tmp_path / "seen.u64")
    again = TrainingDigests.load(tmp_path / "seen.u64")
    assert len(again) == 25
    assert [each in again for each in edits] == [True] * 25 + [False] * 25
    assert edits[0] not in TrainingDigests.of([])
