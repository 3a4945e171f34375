"""Laws of edits of bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.splice import TextEdit, compose, shrink, splice


@st.composite
def edited(draw: st.DrawFn, data: bytes) -> list[TextEdit]:
    """Some edits of a text, in order and apart."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return [TextEdit(start, end, draw(st.binary(max_size=6))) for start, end in pairs]


@given(st.data(), st.binary(max_size=60))
def test_nothing_outside_the_edits_changes(data: st.DataObject, text: bytes) -> None:
    edits = data.draw(edited(text))
    after = splice(text, edits)
    at = shift = 0
    for edit in edits:
        assert after[at + shift : edit.start + shift] == text[at : edit.start]
        assert after[edit.start + shift : edit.start + shift + len(edit.text)] == edit.text
        shift += len(edit.text) - (edit.end - edit.start)
        at = edit.end
    assert after[at + shift :] == text[at:]


@given(st.data(), st.binary(max_size=60))
def test_two_rounds_are_one(data: st.DataObject, text: bytes) -> None:
    first = data.draw(edited(text))
    between = splice(text, first)
    second = data.draw(edited(between))
    assert splice(text, compose(text, first, second)) == splice(between, second)


@given(st.data(), st.binary(max_size=40))
def test_shrinking_changes_nothing(data: st.DataObject, text: bytes) -> None:
    for edit in data.draw(edited(text)):
        small = shrink(text, edit)
        assert splice(text, [edit]) == (splice(text, [small]) if small else text)


@given(st.text(max_size=20), st.text(max_size=20))
def test_what_is_left_of_text_is_text(before: str, after: str) -> None:
    small = shrink(before.encode(), TextEdit(0, len(before.encode()), after.encode()))
    if small:
        small.text.decode()
        before.encode()[small.start : small.end].decode()


def test_edits_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="out of order"):
        splice(b"abcdef", [TextEdit(3, 4, b""), TextEdit(1, 2, b"")])
