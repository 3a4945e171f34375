"""Edits of a file as a unified diff that `git apply` and `patch` accept.

The file may contain any bytes and may have any name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from editvec.core.splice import TextEdit, splice

_CONTEXT = 3
_NO_NEWLINE = b"\\ No newline at end of file\n"
_ODD = re.compile(rb'[\x00-\x1f"\\\\\x7f-\xff]')
_ESCAPES = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r", 34: b'"', 92: b"\\"}


class DiffHunk(NamedTuple):
    """A hunk of a diff: lines [start, end) of a file, counted from 0, become `lines`."""

    start: int
    end: int
    lines: tuple[bytes, ...]


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines with their line ends; only a line feed ends a line."""
    found = data.split(b"\n")
    return [line + b"\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])


def hunks(data: bytes, edits: Sequence[TextEdit]) -> list[DiffHunk]:
    """Return the hunks that edits make in the lines of a file, without equal lines at their ends."""
    lines = lines_of(data)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    groups: list[tuple[int, int, list[TextEdit]]] = []
    at = 0
    for edit in edits:
        while at + 1 < len(lines) and starts[at + 1] <= edit.start:
            at += 1
        first = at if edit.start < len(data) or not data.endswith(b"\n") else len(lines)
        last = first
        while last < len(lines) and starts[last] < max(edit.end, edit.start + 1):
            last += 1
        # An edit that ends at the end of a line also touches the next line.
        if edit.end > edit.start and last < len(lines) and starts[last] == edit.end:
            last += 1
        if groups and first < groups[-1][1]:
            low, high, members = groups.pop()
            groups.append((low, max(high, last), [*members, edit]))
        else:
            groups.append((first, max(last, first), [edit]))
    found = []
    for first, last, members in groups:
        base = starts[first]
        moved = [TextEdit(each.start - base, each.end - base, each.text) for each in members]
        after = lines_of(splice(data[base : starts[last]], moved))
        found += _trim(lines, first, last, after)
    return _join(found)


def _join(found: list[DiffHunk]) -> list[DiffHunk]:
    """Return the hunks, with those that touch each other joined."""
    joined: list[DiffHunk] = []
    for hunk in found:
        if joined and joined[-1].end == hunk.start:
            last = joined.pop()
            hunk = DiffHunk(last.start, hunk.end, last.lines + hunk.lines)
        joined.append(hunk)
    return joined


def _trim(lines: list[bytes], first: int, last: int, after: list[bytes]) -> list[DiffHunk]:
    low, high = 0, len(after)
    while first < last and low < high and lines[first] == after[low]:
        first, low = first + 1, low + 1
    while first < last and low < high and lines[last - 1] == after[high - 1]:
        last, high = last - 1, high - 1
    return [DiffHunk(first, last, tuple(after[low:high]))] if first < last or low < high else []


def unified_diff(name: bytes, data: bytes, edits: Sequence[TextEdit]) -> bytes:
    """Return the diff of a file; empty if the edits change nothing."""
    found = hunks(data, edits)
    if not found:
        return b""
    lines = lines_of(data)
    parts = [b"--- " + quote(b"a/" + name) + b"\n", b"+++ " + quote(b"b/" + name) + b"\n"]
    shift = 0
    group: list[DiffHunk] = []
    for number, hunk in enumerate(found):
        group.append(hunk)
        following = found[number + 1] if number + 1 < len(found) else None
        if following is None or following.start - hunk.end > 2 * _CONTEXT:
            parts += _group(lines, group, shift)
            shift += sum(len(each.lines) - (each.end - each.start) for each in group)
            group = []
    return b"".join(parts)


def _group(lines: list[bytes], group: list[DiffHunk], shift: int) -> list[bytes]:
    """Return the lines of hunks that share their context, with one header."""
    low, high = max(0, group[0].start - _CONTEXT), min(len(lines), group[-1].end + _CONTEXT)
    body: list[bytes] = []
    at = low
    removed = added = 0
    for hunk in group:
        body += [_line(b" ", line) for line in lines[at : hunk.start]]
        body += [_line(b"-", line) for line in lines[hunk.start : hunk.end]]
        body += [_line(b"+", line) for line in hunk.lines]
        removed += hunk.end - hunk.start
        added += len(hunk.lines)
        at = hunk.end
    body += [_line(b" ", line) for line in lines[at:high]]
    before = high - low
    after = before - removed + added
    return [b"@@ -%s +%s @@\n" % (_range(low, before), _range(low + shift, after)), *body]


def _range(start: int, count: int) -> bytes:
    # The start of an empty range is the number of the line before it.
    return b"%d,%d" % (start + 1 if count else start, count)


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n" + _NO_NEWLINE


def quote(name: bytes) -> bytes:
    """Return a file name as git writes it in a diff.

    A name with unusual bytes is put in quotes; a name with spaces is followed by a tab.
    """
    if _ODD.search(name):
        return b'"' + _ODD.sub(lambda match: _escape(match[0][0]), name) + b'"'
    return name + b"\t" if b" " in name else name


def _escape(byte: int) -> bytes:
    return b"\\" + _ESCAPES.get(byte, b"%03o" % byte)
