"""Every page in a real browser: on a desk and on a phone, in the light and in the dark, full and empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.web.chromium import NARROW, WIDE, Visitor, chromium, entered, needs_browser
from tests.web.conftest import Served

pytestmark = needs_browser

PATHS = ("/", "/resources", "/changes", "/plan", "/hosts", "/health", "/notices", "/add", "/api")
MOST_BYTES = 300_000
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def grave(page: Any) -> list[str]:
    """What an accessibility checker finds serious or worse."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def sound(visitor: Visitor, path: str) -> None:
    assert visitor.go(path) == 200, path
    assert visitor.complaints == [], path
    assert visitor.page.evaluate(WIDER) <= 0, f"{path} is wider than the window"
    assert grave(visitor.page) == [], path
    assert visitor.page.title().endswith("recrawl")
    assert len(visitor.page.query_selector_all("h1")) == 1


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desk", "phone"])
def test_every_page_is_sound_with_a_year_of_history(
    browser: Any, year: Served, size: tuple[int, int]
) -> None:
    with entered(browser, year, size) as visitor:
        for path in (*PATHS, "/resources/1", "/resources/2", "/hosts/gazette.example"):
            sound(visitor, path)


def test_every_page_is_sound_in_the_dark(browser: Any, year: Served) -> None:
    with entered(browser, year, WIDE, "dark") as visitor:
        for path in (*PATHS, "/resources/3"):
            sound(visitor, path)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desk", "phone"])
def test_every_page_is_sound_with_nothing_in_it(browser: Any, served: Served, size: tuple[int, int]) -> None:
    with entered(browser, served, size) as visitor:
        for path in PATHS:
            sound(visitor, path)
        visitor.go("/")
        assert visitor.page.query_selector("main a[href='/add']") is not None  # what to do first


def test_pages_are_light(year: Served) -> None:
    with year.client() as client:
        for path in (*PATHS, "/resources/1"):
            answer = client.get(path)
            assert answer.status_code == 200, path
            assert len(answer.content) < MOST_BYTES, path
        total = sum(len(client.get(f"/static/{name}").content) for name in ("face.js", "style.css"))
        assert total < MOST_BYTES / 3
