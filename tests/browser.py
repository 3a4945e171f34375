"""A real browser for the pages."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)
INSTALL = {"darwin": "brew install --cask google-chrome", "win32": "winget install Google.Chrome"}


def _chromium() -> str:
    """Return the path of the browser. Without one, a test is skipped, and fails in CI."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    missing = f"no Chromium on this machine: {INSTALL.get(sys.platform, 'apt-get install chromium')}"
    if path is None and os.environ.get("CI"):
        pytest.fail(missing)
    return path or pytest.skip(missing)


@contextmanager
def browser_page(**options: Any) -> Iterator[tuple[Any, list[str]]]:
    """Give a page in Chromium, and what goes wrong in it: errors, dialogs, requests to the network."""
    from playwright import sync_api

    path = _chromium()
    with sync_api.sync_playwright() as play:
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
    """Wait until an expression holds in the page. The pages forbid eval, which playwright's own waiting needs."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"{expression} did not come true"
        page.wait_for_timeout(50)
