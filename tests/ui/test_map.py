"""The map: near vectors are near, the page works in a browser without a network, and what edits say is only text."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from editvec.diff.words import Piece, turns, word_diff
from editvec.ui.report.map import map_page, map_picture
from editvec.ui.report.page import embedded_json
from editvec.vectors.projection import choose, project
from tests.browser import browser_page, wait_until
from tests.neural.edits import edit

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>&lt;/*SCRIPT*/'


def test_near_vectors_are_near() -> None:
    chance = np.random.default_rng(0)
    middles = chance.normal(size=(3, 20))
    vectors = np.concatenate([middle + 0.05 * chance.normal(size=(30, 20)) for middle in middles]).astype(np.float32)
    places = project(vectors, perplexity=10)
    np.testing.assert_array_equal(project(vectors[:12]), project(vectors[:12]))
    assert np.abs(places).max() == pytest.approx(1)
    groups = places.reshape(3, 30, 2)
    spread = max(float(np.linalg.norm(group - group.mean(0), axis=1).max()) for group in groups)
    apart = min(float(np.linalg.norm(groups[a].mean(0) - groups[b].mean(0))) for a, b in ((0, 1), (0, 2), (1, 2)))
    assert spread < apart
    for few in (0, 1, 3):
        assert project(vectors[:few]).shape == (few, 2)


def test_the_papers_choice_of_edits() -> None:
    labels = ["a"] * 300 + ["b"] * 50 + ["c"] * 39
    rows = choose(labels, most=100, least=40)
    assert [sum(labels[row] == name for row in rows) for name in "abc"] == [100, 50, 0]
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert len(choose(labels, limit=17)) == 17


def test_pieces_take_turns() -> None:
    before, after = word_diff(edit("x = x + 1 ;", "x ++ ;"))
    assert "".join(piece.text for piece in before) == "x = x + 1 ;"
    assert turns(before)[0::2][0] == "x "
    assert "".join(turns(after)) == "x ++ ;"
    assert turns([Piece("a", True), Piece("b", False)]) == ["", "a", "b"]
    assert turns([Piece("abcdef", False)], longest=3) == ["abc"]


def test_data_cannot_leave_its_script() -> None:
    text = embedded_json([HOSTILE, "\u2028"])
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text) == [HOSTILE, "\u2028"]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures_put_no_name_over_another(ending: str) -> None:
    pytest.importorskip("matplotlib")
    places = np.random.default_rng(0).uniform(-0.2, 0.2, (160, 2)).astype(np.float32)
    content = map_picture(places, [f"RCS{at % 16}" for at in range(160)], ending=ending)
    if ending == "png":
        from matplotlib import image

        assert content.startswith(b"\x89PNG")
        assert image.imread(io.BytesIO(content)).shape[0] > 800
    else:
        assert b"<svg" in content


def test_the_page_in_a_browser(tmp_path: Path) -> None:
    edits = [edit(f"a{at} = 1 ;", f"a{at} ++ ;", identity=f"RCS_{at}") for at in range(50)]
    edits[0] = edit(HOSTILE, f"needle {HOSTILE}", identity=f"id {HOSTILE}")
    places = np.array([[-0.9, 0.9]] + [[0.01 * at, -0.3] for at in range(1, 50)], np.float32)
    schemes = {"label": [HOSTILE] + [f"l{at % 30}" for at in range(1, 50)], "group": ["", *["g"] * 49]}
    page_file = tmp_path / "map.html"
    page_file.write_text(map_page(edits, places, schemes, title=HOSTILE), encoding="utf-8")
    with browser_page() as (page, wrong):
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.as_uri())
        wait_until(page, "window.editMap && window.editMap.size === 50")
        assert page.inner_text("#title") == HOSTILE
        legend = page.locator("#legend li")
        # 20 names of a colour each, and the rest together: no colour twice.
        assert legend.count() == 21
        colours = page.eval_on_selector_all("#legend i", "dots => dots.map(dot => dot.style.background)")
        assert len(set(colours)) == 21
        at = page.evaluate("[editMap.toX(0), editMap.toY(0)]")
        page.mouse.move(*at)
        page.wait_for_selector("#card:not([hidden])")
        assert HOSTILE in page.inner_text("#card")
        assert "needle" in page.inner_text("#card pre.come b")
        assert page.locator("#card img, #card script").count() == 0
        page.fill("#search", "needle")
        wait_until(page, "document.getElementById('count').textContent === '1 of 50'")
        page.fill("#search", "")
        # What is under the pointer stays there when one zooms.
        page.mouse.move(*at)
        page.mouse.wheel(0, -600)
        wait_until(page, "editMap.state().scale > 1.5")
        moved = page.evaluate("[editMap.toX(0), editMap.toY(0)]")
        assert moved == pytest.approx(at, abs=1.5)
        page.select_option("#colour", "group")
        assert page.locator("#legend li").all_inner_texts()[-1].startswith("no group")
        page.keyboard.press("Escape")
        wait_until(page, "editMap.state().scale === 1")
        assert wrong == []
        assert requests == [page_file.as_uri()]
