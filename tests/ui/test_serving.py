"""The report in a browser: hostile text stays text, the filters filter; live, what is accepted becomes a patch."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from editvec.core.edit import Edit, Source, Version
from editvec.core.files import from_json, to_json
from editvec.core.match import Suggestion
from editvec.patterns.pattern import Pattern
from editvec.patterns.wording import ChangeKind
from editvec.rewrite.review import Decisions
from editvec.rules.rule import Rule
from editvec.suggest.evidence import Evidence
from editvec.ui.report.patterns import Point, render
from editvec.ui.server import LocalServer
from tests.browser import browser_page, wait_until

HOSTILE = "</script><img src=x onerror=alert(1)>"
ABOUT = {"version": "0", "repository": HOSTILE, "head": "", "commits": 3, "hunks": 2, "edits": 1}
TEXT = "a = b == None  # é\nc = d == None\n"


def _places(*patterns: Pattern) -> list[tuple[str, Sequence[Suggestion]]]:
    return [(pattern.id, pattern.suggestions) for pattern in patterns]


def _pattern(name: str, language: str = "python") -> Pattern:
    edit = Edit("1", language, Version(HOSTILE, (HOSTILE,)), Version("x", ("x",)), source=Source("r", "c", HOSTILE))
    suggestions = []
    for line, text in enumerate(("b == None", "d == None"), 1):
        start = TEXT.encode().index(text.encode())
        after = text.replace("==", "is")
        suggestions.append(Suggestion("a.py", line, 5, start, start + len(text), text, after, 0.9, HOSTILE))
    return Pattern(
        name=name,
        title=HOSTILE,
        quotation=HOSTILE,
        kind=ChangeKind.REPLACEMENT,
        words=(),
        language=language,
        before="$X == None",
        after="$X is None",
        edits=(edit,),
        num_edits=1,
        commits=2,
        authors=1,
        rule=Rule(HOSTILE, language, f"id: {HOSTILE}"),
        support=1,
        evidence=Evidence(3, 3),
        suggestions=tuple(suggestions),
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_decisions_are_a_patch_that_git_takes(tree: Path) -> None:
    decisions = Decisions(_places(_pattern("one")), tree, tree / "accepted.patch")
    assert decisions.decide({"suggestion": "1-1", "verdict": "accept"})["accepted"] == 1
    subprocess.run(["git", "apply", "accepted.patch"], cwd=tree, check=True)
    assert (tree / "a.py").read_text(encoding="utf-8") == TEXT.replace("d == None", "d is None")
    nonsense: tuple[Any, ...] = (
        {"suggestion": "7-0", "verdict": "accept"},
        {"suggestion": "1-0", "verdict": "perhaps"},
        [],
        "x",
    )
    for wrong in nonsense:
        with pytest.raises(ValueError):
            decisions.decide(wrong)
    with pytest.raises(ValueError, match="has changed since"):
        decisions.decide({"suggestion": "1-1", "verdict": "accept"})


def test_decisions_are_there_again_and_one_file_that_changed_spoils_no_other(tree: Path) -> None:
    def begin() -> Decisions:
        other = replace(_pattern("two"), suggestions=(replace(_pattern("two").suggestions[0], path="b.py"),))
        return Decisions(_places(_pattern("one"), other), tree, tree / "accepted.patch")

    (tree / "b.py").write_text(TEXT, encoding="utf-8")
    decisions = begin()
    decisions.decide({"suggestion": "1-1", "verdict": "accept"})
    decisions.decide({"suggestion": "2-0", "verdict": "accept"})
    again = begin()
    assert again.state()["said"] == {"1-1": "accept", "2-0": "accept"}
    (tree / "b.py").unlink()
    assert again.decide({"suggestion": "1-0", "verdict": "accept"})["said"] == {"1-1": "accept", "1-0": "accept"}
    with pytest.raises(ValueError, match="has changed since"):
        again.decide({"suggestion": "2-0", "verdict": "accept"})
    assert again.decide({"suggestion": "1-0", "verdict": ""})["accepted"] == 1
    subprocess.run(["git", "apply", "accepted.patch"], cwd=tree, check=True)
    assert (tree / "a.py").read_text(encoding="utf-8") == TEXT.replace("d == None", "d is None")
    lost = begin()
    assert (lost.state()["accepted"], lost.num_lost) == (1, 0)


def test_decisions_about_a_file_whose_name_is_not_utf_8(tree: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    (tree / "a.py").rename(tree / name)
    pattern = _pattern("one")
    pattern = replace(pattern, suggestions=tuple(replace(place, path=name) for place in pattern.suggestions))
    Decisions(_places(pattern), tree, tree / "accepted.patch").decide({"suggestion": "1-1", "verdict": "accept"})
    again = Decisions(_places(pattern), tree, tree / "accepted.patch")
    assert again.state()["said"] == {"1-1": "accept"}
    subprocess.run(["git", "apply", "accepted.patch"], cwd=tree, check=True)
    with pytest.raises(ValueError, match="has changed since") as caught:
        again.decide({"suggestion": "1-1", "verdict": "accept"})
    assert from_json(to_json({"error": str(caught.value)})) == {"error": str(caught.value)}


def test_the_report_shows_hostile_text_as_text(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    points = [Point(0.1 * at, 0.5, at % 2, HOSTILE) for at in range(5)]
    file.write_text(render([_pattern("one"), _pattern("two", "go")], ABOUT, points), encoding="utf-8")
    with browser_page() as (page, wrong):
        page.goto(f"file://{file}")
        assert page.locator("h1").inner_text() == HOSTILE
        assert page.locator("img").count() == 0
        page.fill("#search", "no such words")
        wait_until(page, "document.getElementById('count').textContent === '0 of 2'")
        page.fill("#search", "")
        page.select_option("#language", "go")
        wait_until(page, "document.getElementById('count').textContent === '1 of 2'")
        page.keyboard.press("Escape")
        page.hover("#map", position={"x": 5, "y": 5})
        assert wrong == []


def test_places_are_accepted_in_a_browser(tree: Path) -> None:
    patterns = [_pattern("one")]
    decisions = Decisions(_places(*patterns), tree, tree / "accepted.patch")
    server = LocalServer(render(patterns, ABOUT, live=True), decisions.state, decisions.decide)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with browser_page() as (page, wrong):
            page.goto(server.address)
            page.locator("[data-suggestion='1-0'] [data-say=accept]").click()
            wait_until(page, "document.getElementById('accepted').textContent === '1'")
            page.locator("[data-suggestion='1-1'] [data-say=reject]").click()
            wait_until(page, "document.querySelector(\"[data-suggestion='1-1']\").dataset.said === 'reject'")
            assert wrong == []
    finally:
        server.stop()
        thread.join()
    assert b"+a = b is None" in (tree / "accepted.patch").read_bytes()
    assert b"d is None" not in (tree / "accepted.patch").read_bytes()
