"""Plan: what budgets would give, the one that is applied, and policies over one's own past."""

from __future__ import annotations

import re
import time
from typing import Any

import httpx
from lxml.html import fromstring
from tests.web.conftest import Served

from recrawl.app.amending import amend
from recrawl.app.config import load
from recrawl.app.tokens import May


def patiently(client: httpx.Client, path: str) -> httpx.Response:
    """Asked again while it is being worked out."""
    for _ in range(60):
        answer = client.get(path, headers={"X-Part": "1"})
        if answer.status_code not in (202, 503):
            return answer
        assert answer.headers["Retry-After"] == "2"
        time.sleep(1.0)
    raise AssertionError(path)


def test_the_curve_rises_with_the_budget_and_marks_ours(year: Served) -> None:
    with year.client() as client:
        page = client.get("/plan")
        assert page.status_code == 200
        assert "50/day" in page.text
        part = patiently(client, "/plan/curve")
        assert part.status_code == 200
        assert "<html" not in part.text
        assert "<svg" in part.text
        document = patiently(client, "/api/v1/plan").json()
    fresh = [point["freshness"]["value"] for point in document["points"]]
    assert fresh == sorted(fresh)
    assert document["present_per_day"] == 50.0
    shown = re.findall(r'data-freshness="([\d.]+) %', part.text)
    assert shown == [f"{100 * x:.1f}" for x in fresh]


def test_what_would_change_is_shown_before_it_is_applied(year_copy: Served) -> None:
    with year_copy.client("") as browser:
        browser.post("/enter", data={"token": year_copy.token})
        page = browser.get("/plan/budget?per_day=100")
        assert "100/day" in page.text
        part = patiently(browser, "/plan/beside?per_day=100/day")
        assert "Now, 50 a day" in part.text
        assert "Then, 100 a day" in part.text
        assert "/resources/" in part.text  # to whom it means most
        assert load(year_copy.home).schedule.budget == "50/day"
        word = re.findall(r'name="csrf" value="([^"]+)"', page.text)[0]
        assert browser.post("/plan/budget", data={"budget": "100/day"}).status_code == 403
        applied = browser.post("/plan/budget", data={"budget": "100/day", "csrf": word})
        assert applied.status_code == 303
        assert load(year_copy.home).schedule.budget == "100/day"
        assert "The budget is 100/day now" in browser.get("/plan").text
        assert "The budget is 100/day now" not in browser.get("/plan").text


def read(html: str) -> Any:
    """A page as a tree; the stubs know too little of those."""
    return fromstring(html)


def test_a_budget_that_is_refused_comes_back_as_it_was_typed(year_copy: Served) -> None:
    with year_copy.client() as client:
        (field,) = read(client.get("/plan").text).findall(".//input[@name='per_day']")
        assert (field.get("value"), field.get("aria-invalid")) == ("50", None)
        for wrong, status in (
            ("much <b>", 400),
            ("0", 400),
            ("", 400),
            ("5" * 201, 422),
            ("2GB/day", 400),
        ):
            asked = client.get("/plan/budget", params={"per_day": wrong, "goal": "capture", "within": "2h"})
            page = read(asked.text)
            (field,) = page.findall(".//form[@action='/plan/budget']//input[@name='per_day']")
            assert (asked.status_code, field.get("value")) == (status, wrong)
            (told,) = page.findall(".//label/span[@id='wrong-per_day']")
            assert field.get("aria-describedby") == "wrong-per_day"
            assert told.text_content().endswith(".")
            assert "Nothing was changed. See below what to mend." in asked.text
            assert [one.get("value") for one in page.findall(".//option[@selected]")] == ["capture"]
            assert 'name="within" value="2h"' in asked.text
            if wrong != "2GB/day":
                applied = client.post("/plan/budget", data={"budget": wrong})
                (field,) = read(applied.text).findall(".//input[@name='per_day']")
                assert (applied.status_code, field.get("value")) == (status, wrong)
                assert field.get("aria-invalid") == "true"
        assert load(year_copy.home).schedule.budget == "50/day"


def test_a_budget_that_cannot_be_written_down_is_told_beside_it(year_copy: Served) -> None:
    path = year_copy.home / "recrawl.toml"
    path.write_text("schedule.budget = '50/day'\n")  # to change that is beyond us
    with year_copy.client() as client:
        answer = client.post("/plan/budget", data={"budget": "100/day"})
        assert answer.status_code == 400
        page = read(answer.text)
        assert page.find(".//h1").text_content() == "With 100 visits a day"
        (said,) = page.findall(".//p[@role='alert']")
        assert "Nothing was changed." in said.text_content()
        assert "by hand" in said.text_content()
        (field,) = page.findall(".//form[@action='/plan/budget']/input[@name='budget']")
        assert field.get("value") == "100/day"
    assert path.read_text() == "schedule.budget = '50/day'\n"


def test_a_program_sets_the_budget(year_copy: Served) -> None:
    with year_copy.client() as client:
        assert client.put("/api/v1/budget", json={"budget": "50/h"}).json()["visits_per_day"] == 1200.0
        assert client.get("/api/v1/budget").json()["budget"] == "1200/day"
        for wrong in ("much", "0/day", "-5/day", ""):
            answer = client.put("/api/v1/budget", json={"budget": wrong})
            assert answer.status_code == 422, wrong
            assert "2000/day" in answer.json()["error"]
        assert client.put("/api/v1/budget", json={}).status_code == 422
        assert client.get("/api/v1/budget").json()["visits_per_day"] == 1200.0
        heavy = client.put("/api/v1/budget", json={"budget": "2MB/day"}).json()
        assert (heavy["visits_per_day"], heavy["bytes_per_day"]) == (None, 2e6)
        assert (heavy["run_visits_per_day"], heavy["run_bytes_per_day"]) == (50.0, None)  # nobody runs here
    reader = year_copy.tokens.add("reader", May.READ, 0.0)
    with year_copy.client(reader) as client:
        assert client.put("/api/v1/budget", json={"budget": "5/day"}).status_code == 403


def test_policies_are_replayed_on_the_past(year: Served) -> None:
    with year.client() as client:
        asked = client.get("/plan/replay?policy=uniform&policy=week&days=60", headers={"X-Part": "1"})
        assert "/plan/replayed?policies=uniform%2Cweek&amp;days=60.0" in asked.text
        document = patiently(client, "/api/v1/backtest?policies=uniform,week&days=60").json()
        assert [row["policy"] for row in document["rows"]] == ["as it was", "uniform", "week"]
        part = patiently(client, "/plan/replayed?policies=uniform,week&days=60.0")
        assert "as it was" in part.text
        own = document["rows"][0]
        shares = [f"{100 * own['freshness'][end]:.1f} %" for end in ("value", "low", "high")]
        assert "{} ({} to {})".format(*shares) in part.text  # in percent, as on all pages
        assert f"{own['freshness']['value']:.3f}" not in part.text
        refused = client.get("/api/v1/backtest?policies=no-such-policy")
        assert refused.status_code == 422
        assert "nutch" in refused.json()["error"]


def test_policies_forecast_as_the_settings_say(year_copy: Served) -> None:
    amend(year_copy.home, "schedule", "predictor", "gamma")
    with year_copy.client() as client:
        document = patiently(client, "/api/v1/backtest?policies=uniform&days=60").json()
    assert document["predictor"] == "gamma"


def test_a_plan_that_rests_on_nothing_says_so(served: Served) -> None:
    with served.client() as client:
        page = client.get("/plan")
        assert page.status_code == 200
        assert "Nothing is watched yet" in page.text
        assert '<li><a href="/add">Add some addresses</a>' in page.text
        assert "/plan/curve" not in page.text  # it could say no more
        assert "Replay" not in page.text
        answer = patiently(client, "/plan/curve")
        assert answer.status_code == 200
        assert patiently(client, "/api/v1/plan").status_code == 409
        assert "recrawl run" in answer.text
        assert "recrawl add" in answer.text
        assert "0 resources" not in answer.text
        assert "<html" not in answer.text
