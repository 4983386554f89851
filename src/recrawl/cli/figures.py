"""The figures of the house, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recrawl.cli.terminal import n_of
from recrawl.schedule.reason import price_words

NEARLY = 1.05  # times the budget is as much as it has: the price is never found to the last visit
FEW = 0.01  # of a day's visits: so few that are saved up explain nothing


def figures(row: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Line by line, each with its name."""
    yield "watched", f"{row['resources']:,} on {n_of(row['hosts'], 'host')}, {row['paused']:,} paused"
    yield "due now", f"{row['due']:,}" + (f"; {_spent(row)}" if row["free_at"] else "")
    yield "next visit", row["next_visit_at"]
    if (made := row["last_round"]) is not None:
        yield "last round", _round(made)
    made = f"{looks(row['visits_last_24h'], row['second_looks_last_24h'])} in the last 24 h{_other(row)}"
    saved = "" if row["bytes_saved"] is None else f", {n_of(row['bytes_saved'], 'byte')} saved up"
    if row["bytes_owed"]:
        saved = f", {n_of(row['bytes_owed'], 'byte')} more than the budget had until now"
    yield "budget", f"{_budget(row)} a day: {made}{saved}"
    yield "rule", row["rule"]
    yield "price", _price(row) + (f"; {_full(row['full_hosts'])}" if row["full_hosts"] else "")
    yield (
        "visits",
        f"{row['visits']:,}: {row['changes']:,} found a change, {row['failures']:,} told nothing"
        + (f", {row['second_looks']:,} had a second look" if row["second_looks"] else ""),
    )
    yield "versions", f"{row['versions']:,}"
    on_shelf = f" ({row['archive_carried']:,} on the shelf)" if row["archive_carried"] else ""
    n_files = f"{n_of(row['archive_files'], 'file')}{on_shelf}"
    yield "archive", f"{n_of(row['archive_bytes'], 'byte')} in {n_files}, {row['archive']}"
    yield "store", row["store"]
    if row["notices"]:
        failing = f"; not delivered: {', '.join(row['notices_failing'])}" if row["notices_failing"] else ""
        yield "notices", f"{row['notices']:,}{failing}"


def _other(row: Mapping[str, Any]) -> str:
    """What there was for these 24 hours, where the budget was another one for some of them."""
    then, per_day = row["budget_last_24h"], row["budget_per_day"]
    if then is None or per_day is None or abs(then - per_day) <= FEW * per_day:
        return ""
    return f", for which the budgets of that time had {then:,.0f}"


def looks(n_visits: int, n_second: int) -> str:
    """What the budget is charged for."""
    second = f" and {n_of(n_second, 'second look')}" if n_second else ""
    return f"{n_of(n_visits, 'visit')}{second}"


def _price(row: Mapping[str, Any]) -> str:
    if row["priced_at"] is None:
        return "not found yet"
    n = round(row["demand_per_day"])
    if row["price"] is not None:
        worth = f"about {n_of(n, 'visit')} a day {'is' if n == 1 else 'are'} worth making"
        goal = row["rule"].partition(":")[2]
        price = price_words(goal, row["price"]) if goal and row["price"] > 0.0 else f"{row['price']:,.3g}"
        return f"{price}, at which {worth}{_beyond(row)}"
    from recrawl.schedule.policies.classes import CLASSED
    from recrawl.schedule.policies.rules.named import RULES

    ruled = row["rule"] in {*RULES, *CLASSED}
    who = f"the rule {row['rule']} asks" if ruled else "the largest gaps alone ask"
    much = f"{n_of(n, 'visit')} a day" if n else "less than a visit a day, and the budget has less still"
    return f"none: {who} for {much}, so visits come late; raise the budget or the gaps"


def _spent(row: Mapping[str, Any]) -> str:
    return f"the budget has no visit free until {row['free_at']}"


def _beyond(row: Mapping[str, Any]) -> str:
    """Why that may be more than the budget has."""
    per_day, saved = row["budget_per_day"], row["visits_saved"]
    if per_day is None or row["demand_per_day"] <= NEARLY * per_day:
        return ""
    if saved >= FEW * per_day:
        verb = "is" if saved == 1 else "are"
        return f", more than the budget has: {n_of(saved, 'visit')} saved up {verb} spent first"
    return ", more than the budget has in the long run: the price is for what falls due in the day ahead"


def _round(made: Mapping[str, Any]) -> str:
    from recrawl.app.quantity import short

    n = f"{made['n_chosen']:,} of {made['n_due']:,} due"
    told = f"{n} in {short(made['took_s'])}, estimated {short(made['middle_s'])} ({made['error']:+.0%})"
    return f"{made['began_at']}: {told}"


def _budget(row: Mapping[str, Any]) -> str:
    limits = ((row["budget_per_day"], "visit"), (row["budget_bytes_per_day"], "byte"))
    return " and ".join(
        f"{most:,.15g} {what}{'' if most == 1 else 's'}" for most, what in limits if most is not None
    )


def _full(n: int) -> str:
    return (
        f"{n_of(n, 'host')} cannot serve all that is worth it, and {'has' if n == 1 else 'have'} a higher one"
    )
