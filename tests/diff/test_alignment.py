"""Laws of the alignment."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from editvec.diff import Tag, align, edit_distance, replay

tokens = st.lists(st.sampled_from("abcxyz"), max_size=12)


@given(tokens, tokens)
def test_replay_gives_after(before: list[str], after: list[str]) -> None:
    assert replay(align(before, after), before, after) == tuple(after)


@given(tokens, tokens)
def test_every_token_stands_once_and_in_order(before: list[str], after: list[str]) -> None:
    positions = align(before, after).positions
    assert [p.before for p in positions if p.before is not None] == list(range(len(before)))
    assert [p.after for p in positions if p.after is not None] == list(range(len(after)))
    for tag, old, new in positions:
        assert (old is None) == (tag is Tag.ADDED)
        assert (new is None) == (tag is Tag.REMOVED)
        if old is not None and new is not None:
            assert (before[old] == after[new]) == (tag is Tag.EQUAL)


@given(tokens)
def test_equal_sequences_have_no_change(same: list[str]) -> None:
    assert align(same, same).changed == ()


@given(tokens, tokens)
def test_edit_distance_is_at_most_what_the_alignment_changes(before: list[str], after: list[str]) -> None:
    assert edit_distance(before, after) <= len(align(before, after).changed)
    assert (edit_distance(before, after) == 0) == (before == after)


def test_unequal_replacements_pair_from_the_left() -> None:
    tags = [position.tag.value for position in align(["f", "(", "a", ")"], ["f", "(", "b", ",", "c", ")"]).positions]
    assert tags == ["=", "=", "↔", "+", "+", "="]
