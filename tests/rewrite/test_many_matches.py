"""Work on a file grows with the number of its matches, not with its square."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import editvec
from editvec.core.match import Match
from editvec.core.text import FileText, line_and_column
from editvec.rewrite.occurrences import Occurrences
from editvec.rewrite.precedence import bracketed, sound_matches
from editvec.syntax.languages import Language, get

FEW, MANY = 1_000, 8_000
GROWTH = 4.0
"""Maximum factor by which the time of a match may grow from few to many; with quadratic work it would be 8."""


def _python(count: int) -> bytes:
    return b"".join(b"x%d = log(a, b)\r\n" % number for number in range(count))


def _matches(data: bytes) -> list[Match]:
    found, at = [], data.find(b"log(a, b)")
    while at >= 0:
        found.append(Match("r", at, at + 9, "log(a, b)", "a + b"))
        at = data.find(b"log(a, b)", at + 1)
    return found


def _brackets(count: int) -> None:
    data = b"".join(b"x%d = 2 * log(a, b)\n" % number for number in range(count))
    language = get("python")
    assert isinstance(language, Language)
    made = bracketed(language, data, _matches(data))
    assert len(made) == count and made[0].replacement == "(a + b)"


def _line_ends(count: int) -> None:
    source = FileText(_python(count))
    for match in _matches(source.data):
        source.edit(match.start, match.end, "a\nb")


def _encoded(count: int) -> None:
    source = FileText(_python(count).decode().encode("utf-16"))
    for match in _matches(source.utf8):
        source.edit(match.start, match.end, "a")


def _positions(count: int) -> None:
    data = _python(count)
    for match in _matches(data):
        line_and_column(data, match.start)


def _searches(count: int) -> None:
    data = _python(count)
    searched = Occurrences(data)
    for match in _matches(data):
        assert len(searched.find(data[match.start - 20 : match.end + 20])) == 1 or match.start < 40


@pytest.mark.parametrize("work", [_brackets, _line_ends, _encoded, _positions, _searches])
def test_time_grows_with_the_matches(work: Callable[[int], None]) -> None:
    def seconds(count: int) -> float:
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            work(count)
            best = min(best, time.process_time() - began)
        return best / count

    work(10)
    few = max(seconds(FEW), 2e-6)
    assert seconds(MANY) < GROWTH * few


def test_many_matches_are_written_and_taken_back(tmp_path: Path) -> None:
    file, data = tmp_path / "a.py", _python(3_000)
    file.write_bytes(data)
    done = editvec.apply(like=[("log(a, b)", "log.debug(a, b)")], paths=[file], language="python", update=True)
    assert (done.num_matches, done.problems) == (3_000, [])
    assert file.read_bytes() == data.replace(b"log(", b"log.debug(")
    assert editvec.undo(tmp_path).num_edits == 3_000
    assert file.read_bytes() == data


def test_only_the_matches_that_break_a_file_are_left_out() -> None:
    data = b"".join(b"x%d = 1\n" % number for number in range(40))
    language = get("python")
    assert isinstance(language, Language)
    starts = [at for at in range(len(data)) if data[at : at + 3] == b"= 1"]
    matches = [
        Match("r", at + 2, at + 3, "1", "(" if number in (3, 4, 30) else "2") for number, at in enumerate(starts)
    ]
    kept = sound_matches(language, data, matches)
    assert [match for match in matches if match not in kept] == [matches[3], matches[4], matches[30]]


@given(st.integers(0, 10**6))
def test_occurrences_are_those_of_find(seed: int) -> None:
    random = Random(seed)
    letters = random.choice([b"a", b"ab", b"abc \n"])
    data = bytes(random.choice(letters) for _ in range(random.randrange(400)))
    indexed, plain = Occurrences(data), Occurrences(data)
    for _ in range(240):
        low = random.randrange(len(data) + 1)
        text = data[low : low + random.randrange(32, 60)] if random.random() < 0.8 else bytes(40)
        if len(text) >= 32:
            assert indexed.find(text) == plain.find(text)
            plain = Occurrences(data)
