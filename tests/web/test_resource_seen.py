"""The page of one resource in a real browser: zooming by pointer and by key, differences, all its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.web.chromium import NARROW, WIDE, chromium, entered, needs_browser
from tests.web.conftest import Served
from tests.web.test_seen import sound

from recrawl.checks.store.samples import completion, lease_of
from recrawl.web.face.draw.timeline import LEFT, RIGHT, WIDTH

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def span_s(page: Any) -> float:
    """How much time the line of visits shows."""
    line = page.locator("svg.timeline")
    return float(line.get_attribute("data-until")) - float(line.get_attribute("data-from"))


def until_it_is_another(page: Any, before: float) -> float:
    page.wait_for_function(
        "(before) => { const line = document.querySelector('svg.timeline').dataset;"
        " return Number(line.until) - Number(line.from) !== before; }",
        arg=before,
    )
    return span_s(page)


def test_a_stretch_is_zoomed_into_by_dragging_and_by_keys(browser: Any, year: Served) -> None:
    with entered(browser, year, WIDE) as visitor:
        visitor.go("/resources/30")
        page = visitor.page
        whole = span_s(page)
        page.locator("svg.timeline").scroll_into_view_if_needed()
        box = page.locator("svg.timeline").bounding_box()
        left, right = (box["x"] + share * box["width"] for share in (0.5, 0.6))
        page.mouse.move(left, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(right, box["y"] + 60, steps=5)
        page.mouse.up()
        near = until_it_is_another(page, whole)
        assert near == pytest.approx(0.1 * whole * WIDTH / (WIDTH - LEFT - RIGHT), rel=0.05)
        page.focus("[data-timeline]")
        page.keyboard.press("+")
        nearer = until_it_is_another(page, near)
        assert nearer == pytest.approx(near / 2, rel=0.01)
        page.wait_for_function("() => document.activeElement.matches('[data-timeline]')")
        page.keyboard.press("-")
        again = until_it_is_another(page, nearer)  # which may be a second off
        assert again == pytest.approx(near, rel=0.01)
        page.click("text=All")
        assert until_it_is_another(page, again) > 300 * 86_400
        assert visitor.complaints == []


def test_what_differs_is_shown_below_and_the_page_stays(browser: Any, year: Served) -> None:
    with entered(browser, year, WIDE) as visitor:
        visitor.go("/resources/30")
        page = visitor.page
        earlier = page.locator('input[name="from"]').nth(10)
        earlier.check()
        seq = earlier.get_attribute("value")
        page.select_option('select[name="look"]', "sides")
        page.click("text=Show what differs")
        page.wait_for_selector("#diff table.sides ins")
        assert f"Version {seq} " in page.inner_text("#diff")
        assert page.query_selector("svg.timeline")
        page.select_option('select[name="zone"]', "5")
        page.click("#hours button")
        page.wait_for_selector('#hours option[value="5"][selected]', state="attached")
        assert page.url.endswith("/resources/30")
        assert visitor.complaints == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desk", "phone"])
def test_every_part_is_a_sound_page_of_its_own(browser: Any, year: Served, size: tuple[int, int]) -> None:
    with entered(browser, year, size) as visitor:
        for part in ("visits", "hours", "versions", "versions/2", "diff?look=sides", "diff?from=1", "remove"):
            sound(visitor, f"/resources/30/{part}")


def test_an_open_page_tells_of_a_visit_that_was_made_meanwhile(browser: Any, year_copy: Served) -> None:
    with entered(browser, year_copy, WIDE) as visitor, year_copy.house() as house:
        visitor.go("/resources/30")
        url = visitor.page.inner_text("h1")
        visitor.page.wait_for_timeout(3_000)  # until the stream of news has looked once
        at = house.clock.now()
        assert house.store.complete([completion(lease_of(house.store, url, at), at)]) == [True]
        visitor.page.wait_for_selector("#newer .said", timeout=30_000)
        assert "It was visited" in visitor.page.inner_text("#newer")
        visitor.page.click("text=Look again")
        visitor.settle()
        assert visitor.page.query_selector("#newer .said") is None
