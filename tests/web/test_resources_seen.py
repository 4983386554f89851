"""The list in a real browser: found while one types, sorted, changed, left alone while somebody is at it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.web.chromium import NARROW, WIDE, Visitor, chromium, entered, needs_browser
from tests.web.conftest import Served
from tests.web.test_seen import WIDER, grave

from recrawl.model import Settings

pytestmark = needs_browser
ROWS = "[data-row] a.url"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def urls(visitor: Visitor) -> list[str]:
    return [row.inner_text() for row in visitor.page.query_selector_all(ROWS)]


def until(visitor: Visitor, holds: Any) -> None:
    end = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < end, visitor.page.inner_text("main")[:2_000]
        time.sleep(0.1)


def test_what_is_typed_is_found_without_leaving_the_page(browser: Any, year: Served) -> None:
    with entered(browser, year, WIDE) as visitor:
        visitor.go("/resources")
        page = visitor.page
        page.evaluate("window.stayed = true")
        page.keyboard.press("/")
        page.keyboard.type("GAZETTE")
        until(visitor, lambda: all("gazette" in url for url in urls(visitor)))
        assert "text=GAZETTE" in page.url
        page.click("th a:has-text('Last change')")
        until(visitor, lambda: page.query_selector("th[aria-sort='descending']") is not None)
        assert "sort=changed" in page.url
        assert all("gazette" in url for url in urls(visitor))
        assert page.evaluate("window.stayed")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.className") == "url"
        assert visitor.complaints == []


def test_several_are_chosen_and_changed(browser: Any, year_copy: Served) -> None:
    with entered(browser, year_copy, NARROW) as visitor:
        visitor.go("/resources?tag=news&sort=url")
        page = visitor.page
        chosen = urls(visitor)
        page.check("fieldset input[data-selects]")
        assert len(page.query_selector_all("input[name=one]:checked")) == len(chosen) == 50
        page.fill("form[action='/resources/several'] input[name=tag]", "mine")
        page.click("button[value=tag]")
        page.wait_for_load_state()
        assert "50 resources with the tag mine now." in page.inner_text(".said")
        visitor.go("/resources?tag=mine&sort=url")
        assert urls(visitor) == chosen
        assert visitor.complaints == []


def test_what_was_chosen_and_typed_is_still_there_where_it_is_refused(
    browser: Any, year_copy: Served
) -> None:
    with entered(browser, year_copy, NARROW) as visitor:
        visitor.go("/resources?sort=url")
        page = visitor.page
        page.locator("input[name=one]").nth(2).check()
        page.fill("form[action='/resources/several'] input[name=min_gap]", "soon")
        page.click("button[value=set]")
        page.wait_for_load_state()
        page.wait_for_timeout(3_000)  # scripts have had their time
        assert "See below what to mend" in page.get_by_role("alert").inner_text()
        assert "'soon' is not a length of time" in page.inner_text("#wrong-min_gap")
        assert page.input_value("form[action='/resources/several'] input[name=min_gap]") == "soon"
        assert page.locator("input[name=one]").nth(2).is_checked()
        assert page.evaluate("document.activeElement.name") == "min_gap"
        assert page.evaluate(WIDER) <= 0
        assert grave(page) == []
        page.fill("form[action='/resources/several'] input[name=min_gap]", "2h")
        page.press("form[action='/resources/several'] input[name=min_gap]", "Enter")
        page.wait_for_load_state()
        assert "Set for 1 resource." in page.inner_text(".said")
        assert not page.is_visible("text=Do what the fields say")


def test_nothing_moves_under_the_hands_of_who_has_chosen(browser: Any, year_copy: Served) -> None:
    with entered(browser, year_copy, WIDE) as visitor:
        visitor.go("/resources?state=paused")
        page = visitor.page

        def pause(*ids: int) -> None:
            with year_copy.house() as house:
                house.store.say_each(ids, Settings(paused=True), year_copy.clock.now())

        page.wait_for_timeout(3_000)  # until it listens
        pause(11)
        until(visitor, lambda: len(urls(visitor)) == 1)  # the page looks again by itself
        page.check("input[name=one]")
        pause(12, 13)
        page.wait_for_timeout(9_000)
        assert len(urls(visitor)) == 1
        assert page.is_checked("input[name=one]")
        page.uncheck("input[name=one]")
        page.evaluate("document.activeElement.blur()")
        pause(14)
        until(visitor, lambda: len(urls(visitor)) == 4)
