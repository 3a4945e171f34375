"""A real browser for the pages, where the machine has one."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def browser_page(**options: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page in Chromium, and what went wrong in it: errors, dialogs, requests to the network. Skips without one."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium on this machine (apt-get install chromium)")
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--use-angle=swiftshader"])
        try:
            page = browser.new_page(viewport={"width": 1100, "height": 800}, **options)
            page.set_default_timeout(60_000)
            wrong: list[str] = []
            page.on("pageerror", lambda error: wrong.append(f"error: {error}"))

            def refuse(dialog: Any) -> None:
                wrong.append(f"dialog: {dialog.message}")
                dialog.dismiss()

            page.on("dialog", refuse)
            page.on("console", lambda said: wrong.append(f"console: {said.text}") if said.type == "error" else None)
            yield page, wrong
        finally:
            browser.close()


def wait_until(page: Any, expression: str, *, seconds: float = 60) -> None:
    """Waits until an expression holds in the page. The pages forbid eval, which playwright's own waiting needs."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"{expression} did not come true"
        page.wait_for_timeout(50)
