"""Edits of bytes: splicing them, composing two rounds of them, making them as small as they can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from editvec.core.match import Match


class TextEdit(NamedTuple):
    """The bytes [start, end) become `text`."""

    start: int
    end: int
    text: bytes


def check(edits: Sequence[TextEdit], size: int) -> None:
    """ValueError unless the edits are in order, apart from each other and within a text of that size."""
    at = 0
    for edit in edits:
        if not at <= edit.start <= edit.end <= size:
            raise ValueError(f"the edit of bytes {edit.start} to {edit.end} is out of order or out of the text")
        at = edit.end


def splice(data: bytes, edits: Sequence[TextEdit]) -> bytes:
    """The bytes with the edits made; they must be in order and apart."""
    check(edits, len(data))
    parts: list[bytes] = []
    at = 0
    for edit in edits:
        parts += (data[at : edit.start], edit.text)
        at = edit.end
    parts.append(data[at:])
    return b"".join(parts)


def shrink(data: bytes, edit: TextEdit) -> TextEdit | None:
    """The edit without the bytes at its ends that stay the same; None when nothing changes."""
    old = data[edit.start : edit.end]
    if old == edit.text:
        return None
    limit = min(len(old), len(edit.text))
    left = next((at for at in range(limit) if old[at] != edit.text[at]), limit)
    # Not into the middle of a character, so that both sides stay text.
    while left and left < len(old) and old[left] & 0xC0 == 0x80:
        left -= 1
    limit -= left
    right = next((at for at in range(limit) if old[-1 - at] != edit.text[-1 - at]), limit)
    while right and old[-right] & 0xC0 == 0x80:
        right -= 1
    return TextEdit(edit.start + left, edit.end - right, edit.text[left : len(edit.text) - right])


def compose(data: bytes, first: Sequence[TextEdit], second: Sequence[TextEdit]) -> list[TextEdit]:
    """The edits that do to `data` at once what `first` and then `second` do; `second` counts in what `first` made.

    An edit of the second round that touches one of the first joins it.
    """
    between = splice(data, first)
    check(second, len(between))
    pieces: list[tuple[int, int, int, TextEdit]] = []
    shift = 0
    for edit in first:
        start = edit.start + shift
        shift += len(edit.text) - (edit.end - edit.start)
        pieces.append((start, start + len(edit.text), 0, edit))
    pieces += [(edit.start, edit.end, 1, edit) for edit in second]
    joined: list[tuple[int, int, tuple[list[TextEdit], list[TextEdit]]]] = []
    for start, end, number, edit in sorted(pieces, key=lambda piece: piece[:3]):
        if joined and start <= joined[-1][1]:
            low, high, rounds = joined.pop()
            joined.append((low, max(high, end), rounds))
        else:
            joined.append((start, end, ([], [])))
        joined[-1][2][number].append(edit)
    found = []
    shift = 0
    for start, end, (ones, others) in joined:
        low = start - shift
        shift += sum(len(edit.text) - (edit.end - edit.start) for edit in ones)
        moved = [TextEdit(edit.start - start, edit.end - start, edit.text) for edit in others]
        found.append(TextEdit(low, end - shift, splice(between[start:end], moved)))
    return found


def disjoint(matches: Sequence[Match]) -> list[Match]:
    """The matches that ast-grep would apply: the first of those that overlap."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda each: (each.start, -each.end)):
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def apply_matches(data: bytes, matches: Sequence[Match]) -> bytes:
    """Return a text with what the matches would write; of those that overlap, the first."""
    return splice(
        data, [TextEdit(each.start, each.end, (each.replacement or "").encode()) for each in disjoint(matches)]
    )
