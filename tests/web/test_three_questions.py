"""Three questions that a newcomer asks, each answered in a real browser by clicking from the overview."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.web import year as years
from tests.web.chromium import Visitor, chromium, entered, needs_browser
from tests.web.conftest import Served

from recrawl.model import DAY_S, Changed

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def clicked(visitor: Visitor, name: str, role: str = "link") -> None:
    """As somebody does who knows nothing but what stands on the page."""
    visitor.page.get_by_role(role, name=name, exact=True).first.click()
    visitor.page.wait_for_load_state()
    visitor.settle()


def section(visitor: Visitor, heading: str) -> Any:
    return visitor.page.locator("section", has=visitor.page.get_by_role("heading", name=heading, exact=True))


def test_which_resource_changed_most_this_week(browser: Any, year: Served) -> None:
    with year.house() as house:
        found: dict[str, int] = {}
        for resource, _, _ in house.store.resources():
            visits = house.store.visits(resource.id, 100)
            late = [visit for visit in visits if visit.at >= years.NOW - 7 * DAY_S]
            found[resource.url] = sum(visit.changed is Changed.YES for visit in late)
    with entered(browser, year) as visitor:
        visitor.go("/")
        most = section(visitor, "What changed most")
        assert "7 days" in most.locator("[aria-current]").inner_text()
        first = most.locator("tbody tr").first
        url = first.get_by_role("link").inner_text()
        assert found[url] == max(found.values()) > 0
        assert first.locator("td").nth(1).inner_text() == str(found[url])
        clicked(visitor, url)
        assert visitor.page.get_by_role("heading", level=1).inner_text() == url
        assert visitor.complaints == []


def test_why_this_one_is_visited_when_it_is(browser: Any, year: Served) -> None:
    with entered(browser, year) as visitor:
        visitor.go("/")
        clicked(visitor, "Resources")
        row = visitor.page.locator(
            "tr[data-row]", has_text=re.compile(r"\bin \d")
        ).first  # the next that is not late
        when = row.locator("[data-name='Next visit']").inner_text()
        url = row.locator("a.url").inner_text()
        clicked(visitor, url)
        main = visitor.page.inner_text("main")
        why = main[main.index("When next, and why") :]
        assert re.search(
            r"\d+ changes? seen in \d+ visits?, about .+ expected; \d+\.\d % likely to have changed", why
        )
        assert re.search(rf"Next visit\s+{re.escape(when)}", why)
        assert visitor.complaints == []


def test_what_doubling_the_budget_would_give(browser: Any, year: Served) -> None:
    with entered(browser, year) as visitor:
        visitor.go("/")
        clicked(visitor, "Plan")
        slider = visitor.page.get_by_role("slider")
        assert slider.get_attribute("aria-valuetext") == "50 visits a day"
        slider.press("ArrowRight")
        assert slider.get_attribute("aria-valuetext") == "100 visits a day"
        said = visitor.page.locator("#budget-words").inner_text()
        share = re.search(r"Copies that are up to date: ([\d.]+) % .*? instead of ([\d.]+) %", said)
        assert share is not None, said
        assert float(share[1]) > float(share[2])
        clicked(visitor, "What would change?", "button")
        assert "Then, 100 a day" in visitor.page.inner_text("main")
        assert visitor.page.get_by_role("button", name="Apply 100/day").is_visible()
        assert visitor.complaints == []


def test_what_is_added_is_listed(browser: Any, served: Served) -> None:
    with entered(browser, served) as visitor:
        visitor.go("/")
        assert "Nothing is watched yet" in visitor.page.inner_text("main")
        clicked(visitor, "Add some addresses")
        visitor.page.get_by_label("URLs, one a line").fill("https://example.org/news")
        clicked(visitor, "Show what would be added", "button")
        clicked(visitor, "Add 1 resource", "button")
        assert "Added 1 resource" in visitor.page.get_by_role("status").inner_text()
        clicked(visitor, "See the newest")
        assert [row.inner_text() for row in visitor.page.locator("tr[data-row] a.url").all()] == [
            "https://example.org/news"
        ]
        assert visitor.complaints == []


def test_a_form_that_is_refused_has_what_was_written_and_what_is_wrong(browser: Any, served: Served) -> None:
    with entered(browser, served) as visitor:
        visitor.go("/add")
        visitor.page.get_by_label("URLs, one a line").fill("https://example.org/news")
        visitor.page.get_by_label("Never sooner than").fill("soon")
        clicked(visitor, "Show what would be added", "button")
        assert "See below what to mend" in visitor.page.get_by_role("alert").inner_text()
        field = visitor.page.get_by_label("Never sooner than")
        assert field.input_value() == "soon"
        assert "'soon' is not a length of time" in visitor.page.inner_text("#wrong-min_gap")
        assert field.get_attribute("aria-describedby") == "wrong-min_gap"
        assert visitor.page.get_by_label("URLs, one a line").input_value() == "https://example.org/news"


def test_the_slider_leaves_a_budget_that_was_refused_as_it_was_typed(browser: Any, year: Served) -> None:
    with entered(browser, year) as visitor:
        visitor.go("/plan")
        field = visitor.page.get_by_label("Visits a day", exact=True)
        field.fill("much")
        clicked(visitor, "What would change?", "button")
        slider = visitor.page.get_by_role("slider")
        assert slider.get_attribute("aria-valuetext") == "50 visits a day"  # it is there, and has spoken
        field = visitor.page.locator("[name=per_day]")
        assert field.input_value() == "much"
        assert "'much' is not a budget" in visitor.page.inner_text("#wrong-per_day")
        slider.press("ArrowRight")
        assert field.input_value() == "100"


def test_the_search_is_a_key_away_from_anywhere(browser: Any, year: Served) -> None:
    with entered(browser, year) as visitor:
        visitor.go("/")
        visitor.page.keyboard.press("/")
        visitor.page.wait_for_url("**/resources*")
        visitor.page.wait_for_function("document.activeElement.type === 'search'")
