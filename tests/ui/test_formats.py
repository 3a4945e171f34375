"""The formats of code hosts: what they require, columns in bytes, and fingerprints that outlive moved lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from editvec.core.match import Suggestion
from editvec.data.project import PatternSettings, Project, ProjectSettings
from editvec.patterns.find import SuppressedSuggestion
from editvec.patterns.pattern import Pattern
from editvec.patterns.wording import ChangeKind
from editvec.suggest.suppression import Silence, SuppressionComment
from editvec.ui.report.formats import github, gitlab, rdjson
from editvec.ui.report.sarif import sarif

TEXT = "x = 'é😀'; f(a)\nf(\n  'ü')\nf(a)\n"
SEVERE = Project(ProjectSettings(pattern={"call-g": PatternSettings(severity="error")}))


def place(start: str, text: str, behind: str = "", *, at: int = 0) -> Suggestion:
    """A place of TEXT."""
    offset = len(TEXT[: TEXT.index(start) + at].encode())
    before = TEXT.encode()[:offset].decode()
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Suggestion("a b,c:d%.py", line, column, offset, offset + len(text.encode()), text, behind, 0.9, "why")


PLACES = (place("f(a)", "f(a)", "g(a)"), place("f(\n", "f(\n  'ü')", "g('ü')"), place("\nf(a)", "f(a)", "g(a)", at=1))


def pattern(*places: Suggestion) -> Pattern:
    """A pattern with places."""
    return Pattern(
        "call-g", "Call g", "", ChangeKind.RENAMING, (), "python", "f($X)", "g($X)", (), 3, 2, 1, suggestions=places
    )


def test_rdjson_counts_columns_in_bytes(tmp_path: Path) -> None:
    (tmp_path / PLACES[0].path).write_text(TEXT, encoding="utf-8")
    first, second, _ = rdjson([pattern(*PLACES)], Project(top=tmp_path))["diagnostics"]
    line = TEXT.encode().split(b"\n")[0]
    span: dict[str, Any] = first["location"]["range"]
    assert line[span["start"]["column"] - 1 : span["end"]["column"] - 1] == b"f(a)"
    assert second["location"]["range"] == {"start": {"line": 2, "column": 1}, "end": {"line": 3, "column": 8}}
    assert second["suggestions"] == [{"range": second["location"]["range"], "text": "g('ü')"}]


def test_workflow_commands_are_escaped_and_sorted() -> None:
    hints = pattern(PLACES[0])
    other = Pattern(
        "a,b", "50 %\nx", "", ChangeKind.RENAMING, (), "python", "a", "b", (), 3, 2, 1, suggestions=(PLACES[1],)
    )
    commands = github([other, hints], SEVERE)
    assert commands[0].startswith("::error file=a b%2Cc%3Ad%25.py,line=1,endLine=1,title=editvec%3A call-g::")
    assert commands[1].startswith("::notice ") and "line=2,endLine=3,title=editvec%3A a%2Cb::50 %25%0Ax" in commands[1]


def test_fingerprints_outlive_moved_lines_and_are_unique() -> None:
    report = gitlab([pattern(*PLACES)], SEVERE)
    assert {each["severity"] for each in report} == {"critical"}
    assert len({each["fingerprint"] for each in report}) == 3
    moved = tuple(
        Suggestion(p.path, p.line + 7, p.column, p.start + 70, p.end + 70, p.before, p.after, 0.5, "other")
        for p in PLACES
    )
    assert [each["fingerprint"] for each in gitlab([pattern(*moved)], SEVERE)] == [e["fingerprint"] for e in report]
    for each in report:
        assert isinstance(each["location"]["lines"]["begin"], int) and each["description"] and each["check_name"]


@pytest.mark.parametrize("by_comment", [True, False])
def test_sarif_has_fingerprints_levels_and_suppressed_places(by_comment: bool) -> None:
    silence = Silence(SuppressionComment(3, 4, frozenset())) if by_comment else Silence(reason="old")
    hidden = SuppressedSuggestion("call-g", PLACES[2], silence)
    (run,) = sarif([pattern(*PLACES[:2])], SEVERE, [hidden])["runs"]
    assert [each["level"] for each in run["results"]] == ["error"] * 3
    assert len({each["partialFingerprints"]["editvec/v1"] for each in run["results"][:2]}) == 2
    (suppression,) = run["results"][2]["suppressions"]
    assert suppression["kind"] == ("inSource" if by_comment else "external")
