"""What the server remembers of the user: undone texts, own changes, refusals and how often they come."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from editvec.ui.lsp.buffers import OpenBuffer
from editvec.ui.lsp.refusals import RefusedPlaces, SuggestionPace
from editvec.ui.lsp.settings import EditorSettings, read_settings

TEXT = "one = old(1)\ntwo = old(2)\n\n\nthree = old(3)\nfour = old(3)\n"


def opened(text: str = TEXT) -> OpenBuffer:
    return OpenBuffer("file:///a.py", Path("/a.py"), text, 1, "utf-16")


def become(buffer: OpenBuffer, text: str) -> None:
    buffer.change([types.TextDocumentContentChangeWholeDocument(text=text)], buffer.version + 1)


def cut(buffer: OpenBuffer, line: int, start: int, end: int, text: str = "") -> None:
    span = types.Range(types.Position(line, start), types.Position(line, end))
    buffer.change([types.TextDocumentContentChangePartial(range=span, text=text)], buffer.version + 1)


def test_a_text_that_was_there_before_is_an_undo() -> None:
    buffer = opened()
    become(buffer, TEXT.replace("old(1)", "new(1)"))
    assert not buffer.is_undone
    buffer.rest()
    become(buffer, TEXT)
    assert buffer.is_undone
    become(buffer, TEXT.replace("old(1)", "new(1)"))
    assert buffer.is_undone, "a redo"
    become(buffer, TEXT.replace("old", "new"))
    assert not buffer.is_undone


def test_a_backspace_while_typing_is_not_an_undo() -> None:
    buffer = opened()
    cut(buffer, 0, 6, 9, "neww")
    cut(buffer, 0, 10, 10, "x")
    cut(buffer, 0, 10, 11)
    assert not buffer.is_undone
    cut(buffer, 0, 6, 10, "old")
    assert buffer.is_undone, "the text as it was opened"


def test_own_changes_are_those_between_pauses() -> None:
    buffer = opened()
    become(buffer, TEXT.replace("old(1)", "new(1)"))
    buffer.rest()
    become(buffer, TEXT.replace("three = old(3)\n", ""))
    buffer.rest()
    assert ("one = old(1)", "one = new(1)") in buffer.own_changes
    assert ("one = new(1)", "one = old(1)") in buffer.own_changes
    assert ("three = old(3)", "") in buffer.own_changes


def test_the_lines_touched_since_opening_and_last() -> None:
    from editvec.ui.lsp.buffers import new_lines

    buffer = opened()
    become(buffer, TEXT.replace("old(1)", "new(1)"))
    buffer.rest()
    become(buffer, TEXT.replace("old(1)", "new(1)").replace("four = old", "four = new"))
    buffer.rest()
    buffer.rest()
    assert new_lines(buffer.opened, buffer.data) == {1, 6}
    assert new_lines(buffer.paused, buffer.data) == {6}


def test_refusals_are_of_one_rule_and_move() -> None:
    refused = RefusedPlaces()
    refused.add("rule", "a.py", 5, TEXT.encode())
    assert refused.lines("rule", "a.py", TEXT.encode()) == {5}
    assert refused.lines("other", "a.py", TEXT.encode()) == refused.lines("rule", "b.py", TEXT.encode()) == set()
    moved = "zero\n" + TEXT.replace("\n\n\n", "\n")
    refused.move("a.py", TEXT.encode(), moved.encode())
    assert refused.lines("rule", "a.py", moved.encode()) == {4}
    # The line itself is edited: it is still the same place.
    edited = moved.replace("three = old(3)", "three = old(3, 4)")
    refused.move("a.py", moved.encode(), edited.encode())
    assert refused.lines("rule", "a.py", edited.encode()) == {4}
    # The file changed on the disk, unseen.
    assert refused.lines("rule", "a.py", ("\n\n" + edited).encode()) == {6}
    refused.mute("rule")
    assert refused.is_muted("rule") and not refused.is_muted("other")


def test_refusals_slow_the_server_down_for_a_while() -> None:
    now = 0.0
    pace = SuggestionPace(lambda: now)
    assert pace.delay(1.0) == 1.0
    pace.refused()
    assert pace.delay(1.0) == 5.0
    now = 6.0
    assert 1.4 < pace.delay(1.0) < 1.5
    for _ in range(9):
        pace.refused()
    now = 12.0
    assert pace.delay(1.0) == 10.0
    now = 3_600.0
    assert pace.delay(1.0) == pytest.approx(1.0, abs=0.01)
    for _ in range(10):
        pace.accepted()
    assert 0.1 < pace.delay(1.0) < 0.2


def test_settings_come_from_several_sources() -> None:
    settings, problems = read_settings(
        {"settings": {"idleSeconds": 2, "scope": "workspace"}}, None, {"editvec": {"idleSeconds": 0.5, "path": ["x"]}}
    )
    assert (settings.idle_seconds, settings.scope, problems) == (0.5, "workspace", [])
    settings, problems = read_settings({"idelSeconds": 2, "maxPlaces": "many", "hints": "loud", "exclude": ["a/*"]})
    assert settings == EditorSettings(exclude=("a/*",))
    assert len(problems) == 3
    assert "Did you mean idleSeconds?" in problems[0] and "maxPlaces" in problems[1] and "hints" in problems[2]


def test_the_first_answer_loads_no_engine() -> None:
    code = (
        "import sys, editvec.ui.lsp.handlers\n"
        "print([name for name in ('numpy', 'tree_sitter', 'jinja2', 'rich', 'yaml') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
