"""A real browser that has come in at the gate, and what is noticed in it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.web.conftest import Served

from recrawl.observe.chromium import browser_found

needs_browser = pytest.mark.skipif(not browser_found()[0], reason=browser_found()[1])
WIDE, NARROW = (1440, 900), (390, 844)
_PATIENCE_S = 60.0


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
    found = next((place for name in names if (place := shutil.which(name))), None)
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=found, chromium_sandbox=os.geteuid() != 0)
        yield browser
        browser.close()


@dataclass
class Visitor:
    """One who has come in; `trouble` is what the browser complained of since it was last asked."""

    page: Any
    served: Served
    trouble: list[str] = field(default_factory=list)

    def go(self, path: str) -> int:
        """To this page, until all its parts have come; the status it had."""
        self.trouble.clear()
        answer = self.page.goto(self.served.base + path)
        self.settle()
        return int(answer.status)

    def settle(self) -> None:
        until = time.monotonic() + _PATIENCE_S
        while self.page.query_selector("[data-part][aria-busy]"):
            assert time.monotonic() < until, self.page.url
            time.sleep(0.1)

    def dismiss(self, box: Any) -> None:
        self.trouble.append(f"dialog: {box.message}")
        box.dismiss()

    @property
    def complaints(self) -> list[str]:
        """Without those about parts that are still being worked out, which are asked for again."""
        return [said for said in self.trouble if "503" not in said]


@contextmanager
def entered(
    browser: Any, served: Served, size: tuple[int, int] = WIDE, scheme: str = "light"
) -> Iterator[Visitor]:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    visitor = Visitor(context.new_page(), served)
    visitor.page.goto(f"{served.base}/api#{served.token}")
    visitor.page.wait_for_url(f"{served.base}/api")
    visitor.page.on(
        "console",
        lambda said: visitor.trouble.append(said.text) if said.type in ("error", "warning") else None,
    )
    visitor.page.on("pageerror", lambda problem: visitor.trouble.append(str(problem)))
    visitor.page.on("dialog", visitor.dismiss)
    try:
        yield visitor
    finally:
        context.close()
