"""Edits of bytes: applying them, composing two rounds of them, and shrinking them to the bytes that change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from editvec.core.match import Match


class TextEdit(NamedTuple):
    """The replacement of the bytes [start, end) by `text`."""

    start: int
    end: int
    text: bytes


def check(edits: Sequence[TextEdit], size: int) -> None:
    """Check that edits are in order, do not overlap and lie within a text of the given size.

    Raises:
        ValueError: An edit is out of order, overlaps another one or lies outside the text.
    """
    at = 0
    for edit in edits:
        if not at <= edit.start <= edit.end <= size:
            raise ValueError(
                f"the edit of bytes {edit.start} to {edit.end} is out of order, overlapping or outside the text"
            )
        at = edit.end


def splice(data: bytes, edits: Sequence[TextEdit]) -> bytes:
    """Return the bytes with the edits applied.

    Raises:
        ValueError: The edits are not in order, overlap or lie outside the data.
    """
    check(edits, len(data))
    parts: list[bytes] = []
    at = 0
    for edit in edits:
        parts += (data[at : edit.start], edit.text)
        at = edit.end
    parts.append(data[at:])
    return b"".join(parts)


def shrink(data: bytes, edit: TextEdit) -> TextEdit | None:
    """Return the edit without the unchanged bytes at its ends, or None if it changes nothing."""
    old = data[edit.start : edit.end]
    if old == edit.text:
        return None
    limit = min(len(old), len(edit.text))
    left = next((at for at in range(limit) if old[at] != edit.text[at]), limit)
    # Never cut inside a UTF-8 character, so that both sides stay valid text.
    while left and left < len(old) and old[left] & 0xC0 == 0x80:
        left -= 1
    limit -= left
    right = next((at for at in range(limit) if old[-1 - at] != edit.text[-1 - at]), limit)
    while right and old[-right] & 0xC0 == 0x80:
        right -= 1
    return TextEdit(edit.start + left, edit.end - right, edit.text[left : len(edit.text) - right])


def compose(data: bytes, first: Sequence[TextEdit], second: Sequence[TextEdit]) -> list[TextEdit]:
    """Return one round of edits on `data` that has the effect of `first` followed by `second`.

    The offsets in `second` refer to the result of `first`. An edit of the second round that touches one of the first
    round is merged with it.
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
    """Return the matches that ast-grep would apply: of overlapping matches, only the first."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda each: (each.start, -each.end)):
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def apply_matches(data: bytes, matches: Sequence[Match]) -> bytes:
    """Return the data with the replacements of the matches applied; of overlapping matches, only the first."""
    return splice(
        data, [TextEdit(each.start, each.end, (each.replacement or "").encode()) for each in disjoint(matches)]
    )
