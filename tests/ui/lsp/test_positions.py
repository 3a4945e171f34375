"""Positions in the three encodings, held against Python's own encoders."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from editvec.ui.lsp.buffers import OpenBuffer
from editvec.ui.lsp.positions import Positions

ENCODINGS = ("utf-8", "utf-16", "utf-32")
TEXTS = st.text(st.sampled_from("ab é→😀\n\r\u2028\x0c\x85"), max_size=40)


def units(text: str, encoding: str) -> int:
    return len(text.encode(f"{encoding}-le" if encoding != "utf-8" else encoding)) // (int(encoding[4:]) // 8)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS)
def test_a_position_leads_back_to_its_byte(encoding: str, text: str) -> None:
    data = text.encode()
    positions = Positions(data, encoding)
    for at in range(len(text) + 1):
        if text[at - 1 : at + 1] == "\r\n":
            continue  # Between the two characters of a line end there is no position.
        offset = len(text[:at].encode())
        position = positions.position(offset)
        lines = text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert position == types.Position(len(lines) - 1, units(lines[-1], encoding))
        assert positions.offset(position) == offset


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_column_behind_the_line_is_its_end(encoding: str) -> None:
    positions = Positions("é😀\r\nb".encode(), encoding)
    assert positions.offset(types.Position(0, 99)) == len("é😀".encode())
    assert positions.offset(types.Position(9, 0)) == len("é😀\r\nb".encode())


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=TEXTS, other=TEXTS, data=st.data())
def test_incremental_changes_give_the_text_of_the_editor(
    encoding: str, text: str, other: str, data: st.DataObject
) -> None:
    low = data.draw(st.integers(0, len(text)))
    high = data.draw(st.integers(low, len(text)))
    if any(text[at - 1 : at + 1] == "\r\n" for at in (low, high)):
        return
    positions = Positions(text.encode(), encoding)
    start, end = (positions.position(len(text[:at].encode())) for at in (low, high))
    buffer = OpenBuffer("file:///a", Path("/a"), text, 1, encoding)
    buffer.change([types.TextDocumentContentChangePartial(range=types.Range(start, end), text=other)], 2)
    assert buffer.data.decode() == text[:low] + other + text[high:]
