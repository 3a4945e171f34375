"""The rating page: answers only to its own address and token, never names a system, and saves each key in a browser."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from editvec.evaluation.ratings import Query, RatedNeighbour, Ratings, RatingTask, read_all
from editvec.ui.rating import rating_server
from editvec.ui.server import LocalServer
from tests.browser import browser_page, wait_until

HOSTILE = "</script><img src=x onerror=alert(1)>"
TASK = RatingTask(
    1,
    tuple(
        Query(
            RatedNeighbour(f"q{at}", ("a ", HOSTILE), ("b",)),
            1,
            (RatedNeighbour("one", ("c",), (HOSTILE,)), RatedNeighbour("two", ("d",), ("e",))),
            {"secret system": (0,), "other": (1,)},
        )
        for at in range(2)
    ),
)


@contextmanager
def _served(folder: Path) -> Iterator[tuple[LocalServer, Ratings]]:
    ratings = Ratings(folder, "ada")
    server = rating_server(TASK, ratings)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server, ratings
    finally:
        server.stop()
        thread.join()


def _ask(server: LocalServer, method: str, path: str, body: bytes | None = None, **headers: Any) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, named)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_only_its_own_page_is_answered(tmp_path: Path) -> None:
    with _served(tmp_path) as (server, ratings):
        assert server.address.startswith("http://127.0.0.1:")
        good: Any = {"X_Token": server.token, "Content_Type": "application/json"}
        assert _ask(server, "GET", "/data")[0] == 403
        assert _ask(server, "GET", f"/?token={server.token[:-1]}x")[0] == 403
        assert _ask(server, "GET", f"/?token={server.token}")[0] == 200
        assert _ask(server, "GET", "/data", **good, Host="evil.example")[0] == 403
        assert _ask(server, "GET", "/data", **good, Origin="http://evil.example")[0] == 403
        assert _ask(server, "GET", "/../etc/passwd", **good)[0] == 404
        status, content = _ask(server, "GET", "/data", **good)
        assert status == 200
        # Blind: neither the systems nor ids, which may say where an edit came from.
        assert b"secret" not in content
        assert b"q0" not in content
        assert _ask(server, "POST", "/", b"[0, 1, 2]", X_Token="x", Content_Type="application/json")[0] == 403
        assert _ask(server, "POST", "/", b"[0, 1, 2]", X_Token=server.token, Content_Type="text/plain")[0] == 415
        for wrong in (b"[0, 1, 3]", b"[9, 0, 0]", b"{}", b"[", b'["0", 1, 1]', b"[0, true, 1]"):
            assert _ask(server, "POST", "/", wrong, **good)[0] == 400
        assert _ask(server, "POST", "/", b"[" + b" " * 9000 + b"]", **good)[0] == 413
        assert ratings.values == {}
        assert _ask(server, "POST", "/", b"[0, 1, 2]", **good)[0] == 200
        assert json.loads(_ask(server, "GET", "/data", **good)[1])["rated"] == [[0, 1, 2]]
    assert read_all(tmp_path) == {"ada": {(0, 1): 2}}


def test_keys_rate_in_a_browser(tmp_path: Path) -> None:
    with _served(tmp_path) as (server, _), browser_page() as (page, wrong):
        page.goto(server.address)
        page.wait_for_selector("article.now")
        assert HOSTILE in page.inner_text("article.query")
        assert page.locator("main img, main script").count() == 0
        for at, key in enumerate(("2", "0", "1"), 1):
            page.keyboard.press(key)
            wait_until(page, f"document.getElementById('where').textContent.includes('{at} of 4 rated')")
        assert read_all(tmp_path)["ada"] == {(0, 0): 2, (0, 1): 0, (1, 0): 1}
        # One step back, another mind.
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("2")
        page.wait_for_selector("article button.chosen >> text=2")
        page.reload()
        page.wait_for_selector("article.now")
        assert "3 of 4 rated" in page.inner_text("#where")
        page.keyboard.press("1")
        wait_until(page, "document.getElementById('saved').textContent.startsWith('all candidates are rated')")
        assert wrong == []
    assert read_all(tmp_path)["ada"] == {(0, 0): 2, (0, 1): 0, (1, 0): 2, (1, 1): 1}


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    from editvec.core.errors import UserError

    with _served(tmp_path) as (server, _), pytest.raises(UserError, match="Choose another with --port"):
        rating_server(TASK, Ratings(tmp_path, "bob"), port=server.port)
