"""Edits of texts in any encoding, with any line ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.splice import splice
from editvec.core.text import FileText, line_and_column

CODECS = ["utf-8", "utf-16-le", "utf-16-be", "latin-1"]


@pytest.mark.parametrize("codec", CODECS)
@given(data=st.data())
def test_an_edit_changes_its_characters_and_no_others(codec: str, data: st.DataObject) -> None:
    letters = "ab\n\xe9\xff" if codec == "latin-1" else "ab\n\xe9\u6f22\U0001f600"
    mark = "\ufeff" if codec.startswith("utf-16") else "\xff" if codec == "latin-1" else ""
    text = mark + data.draw(st.text(letters, max_size=30))
    low = data.draw(st.integers(len(mark), len(text)))
    high = data.draw(st.integers(low, len(text)))
    source = FileText(text.encode(codec))
    assert source.codec == codec
    edit = source.edit(len(text[:low].encode()), len(text[:high].encode()), "xy")
    assert splice(source.data, [edit]).decode(codec) == text[:low] + "xy" + text[high:]


@given(st.text("a\n\xe9", max_size=30), st.data())
def test_lines_and_columns_count_from_one(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    before = text[:at]
    expected = (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
    assert line_and_column(text.encode(), len(before.encode())) == expected
