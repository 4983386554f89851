"""What `status` says of the house."""

from __future__ import annotations

import pytest

from recrawl.cli.figures import figures

ROW: dict[str, object] = {
    "resources": 3,
    "hosts": 3,
    "paused": 0,
    "due": 0,
    "next_visit_at": None,
    "last_round": None,
    "budget_per_day": 100.0,
    "budget_bytes_per_day": None,
    "visits_saved": 0,
    "bytes_saved": None,
    "bytes_owed": None,
    "free_at": None,
    "budget_last_24h": 100.0,
    "visits_last_24h": 70,
    "second_looks_last_24h": 0,
    "rule": "index:fresh",
    "price": 0.0,
    "demand_per_day": 71.2,
    "priced_at": "2026-11-15T18:18:10Z",
    "full_hosts": 0,
    "visits": 70,
    "changes": 36,
    "failures": 0,
    "versions": 39,
    "second_looks": 0,
    "archive_files": 1,
    "archive_bytes": 9,
    "archive_carried": 0,
    "archive": "archive",
    "store": "recrawl.sqlite",
    "notices": 0,
    "notices_failing": [],
}


@pytest.mark.parametrize(
    ("said", "price"),
    [
        ({}, "0, at which about 71 visits a day are worth making"),
        ({"demand_per_day": 1.0}, "0, at which about 1 visit a day is worth making"),
        ({"demand_per_day": 104.0}, "0, at which about 104 visits a day are worth making"),
        (
            {"demand_per_day": 210.0, "visits_saved": 24},
            "0, at which about 210 visits a day are worth making, more than the budget has: 24 visits saved "
            "up are spent first",
        ),
        (
            {"demand_per_day": 210.0, "price": 7.5, "full_hosts": 1},
            "7.5 seconds of stale time saved, at which about 210 visits a day are worth making, more than "
            "the budget has in the long run: the price is for what falls due in the day ahead; 1 host "
            "cannot serve all that is worth it, and has a higher one",
        ),
        ({"demand_per_day": 9e9, "budget_per_day": None}, "0, at which about 9,000,000,000 visits a day are"),
        (
            {"price": None, "demand_per_day": 210.0},
            "none: the largest gaps alone ask for 210 visits a day, so",
        ),
        ({"price": None, "demand_per_day": 0.2}, "none: the largest gaps alone ask for less than a visit a"),
        ({"price": None, "priced_at": None, "demand_per_day": None}, "not found yet"),
    ],
)
def test_more_visits_than_the_budget_has_are_explained(said: dict[str, object], price: str) -> None:
    found = dict(figures(ROW | said))["price"]
    assert isinstance(found, str)
    assert found.startswith(price)
    assert ("more than" in found) == ("more than" in price)


def test_a_budget_that_is_spent_or_in_bytes_is_told() -> None:
    plain = dict(figures(ROW))
    assert (plain["due now"], plain["budget"]) == ("0", "100 visits a day: 70 visits in the last 24 h")
    said = {"due": 58, "free_at": "2026-11-18T03:29:40Z", "budget_per_day": None}
    told = dict(figures({**ROW, **said, "budget_bytes_per_day": 1.0, "bytes_saved": 12_300}))
    assert told["due now"] == "58; the budget has no visit free until 2026-11-18T03:29:40Z"
    assert told["budget"] == "1 byte a day: 70 visits in the last 24 h, 12,300 bytes saved up"
    owing = {"bytes_saved": 0, "bytes_owed": 4_800_000, "budget_bytes_per_day": 1e6, "budget_per_day": None}
    told = dict(figures({**ROW, **owing}))
    assert str(told["budget"]).endswith(", 4,800,000 bytes more than the budget had until now")


def test_second_looks_stand_beside_the_visits_that_are_charged() -> None:
    told = dict(figures({**ROW, "second_looks_last_24h": 6, "second_looks": 9}))
    assert told["budget"] == "100 visits a day: 70 visits and 6 second looks in the last 24 h"
    assert told["visits"] == "70: 36 found a change, 0 told nothing, 9 had a second look"


def test_a_budget_that_was_another_one_for_some_of_the_day_is_told() -> None:
    told = dict(figures({**ROW, "budget_last_24h": 85.2}))
    assert told["budget"] == (
        "100 visits a day: 70 visits in the last 24 h, for which the budgets of that time had 85"
    )
    unknown = dict(figures({**ROW, "budget_last_24h": None}))
    assert unknown["budget"] == "100 visits a day: 70 visits in the last 24 h"
