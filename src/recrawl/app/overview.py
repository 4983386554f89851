"""The house at a glance: what the budget was spent on, what was found, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from recrawl.app.presence import n_alive
from recrawl.app.quantity import Budget, iso
from recrawl.app.rows import Row, number
from recrawl.evaluate.card.card import card
from recrawl.evaluate.card.course import Course, course
from recrawl.evaluate.card.figures import Card
from recrawl.evaluate.card.reading import read_past
from recrawl.model import DAY_S, HOUR_S, Due, HostStanding, Sums
from recrawl.terms import granted, noted_terms

if TYPE_CHECKING:
    from recrawl.app.build import House

N_TURNS = 10
MOST_DUE = 5_000  # visits of an hour that are told one by one
PROGRESS_DAYS = 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """Figures that are there at once."""

    now: float
    n_resources: int
    n_hosts: int
    n_paused: int
    n_due: int  # now, and not paused
    n_asked: int  # hosts that somebody is at
    n_running: int  # processes that visit
    n_visits: int  # ever, of what is watched
    n_changes: int
    n_failures: int
    n_versions: int
    n_day: int  # visits of the last 24 hours
    n_second: int  # second looks of that time: they are charged like visits
    per_day: float | None  # the budget; None: no limit
    granted: float | None  # visits that the budgets of the last 24 hours had for them; None: no limit
    bytes_per_day: float | None
    rule: str
    price: float | None
    next_at: float  # inf: nothing is planned
    last_at: float | None  # of the newest visit that was made here
    priced_at: float | None

    @property
    def n_charged(self) -> int:
        """Of the last 24 hours."""
        return self.n_day + self.n_second

    @property
    def n_left(self) -> float | None:
        """Of the budget of 24 hours."""
        return None if self.granted is None else max(0.0, self.granted - self.n_charged)

    def row(self) -> Row:
        return {
            "now": iso(self.now),
            "resources": self.n_resources,
            "hosts": self.n_hosts,
            "paused": self.n_paused,
            "due": self.n_due,
            "hosts_being_asked": self.n_asked,
            "running": self.n_running,
            "visits": self.n_visits,
            "changes": self.n_changes,
            "failures": self.n_failures,
            "versions": self.n_versions,
            "visits_last_24h": self.n_day,
            "second_looks_last_24h": self.n_second,
            "budget_per_day": self.per_day,
            "budget_bytes_per_day": self.bytes_per_day,
            "budget_last_24h": self.granted,
            "budget_left": self.n_left,
            "rule": self.rule,
            "price": self.price,
            "priced_at": None if self.priced_at is None else iso(self.priced_at),
            "next_visit_at": iso(self.next_at),
            "last_visit_at": None if self.last_at is None else iso(self.last_at),
        }


def glance(house: House) -> Glance:
    from recrawl.app.build import PRESENCE_FOLDER

    store, now = house.store, house.clock.now()
    counts, terms, schedule = store.counts(now), noted_terms(store), house.config.schedule
    budget = schedule.limits if terms is None else Budget(terms.per_day, terms.bytes_per_day)
    newest = store.took(1)
    return Glance(
        now=now,
        n_resources=counts["resources"],
        n_hosts=counts["hosts"],
        n_paused=counts["paused"],
        n_due=counts["due"],
        n_asked=counts["leased"],
        n_running=n_alive(house.home / PRESENCE_FOLDER),
        n_visits=counts["visits"],
        n_changes=counts["changes"],
        n_failures=counts["failures"],
        n_versions=counts["versions"],
        n_day=store.n_visits_since(now - DAY_S),
        n_second=store.n_second_since(now - DAY_S),
        per_day=budget.visits_per_day,
        granted=budget.visits_per_day if terms is None else number(granted(store).visits(now - DAY_S, now)),
        bytes_per_day=budget.bytes_per_day,
        rule=f"{schedule.policy}:{schedule.goal}" if terms is None else terms.rule,
        price=None if terms is None else number(terms.price),
        next_at=store.ready_at(now) if counts["resources"] else inf,
        last_at=float(newest.at[-1]) if len(newest) else None,
        priced_at=None if terms is None else terms.priced_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The last 24 hours, and those before."""

    now: float
    sums: Sums
    before: Sums
    troubled: Sequence[HostStanding]  # the worst
    n_troubled: int

    def row(self) -> Row:
        return {
            "visits": self.sums.n_visits,
            "changes": self.sums.n_changes,
            "told_nothing": self.sums.n_failures,
            "second_looks": self.sums.n_second,
            "bytes": self.sums.n_bytes,
            "changes_the_day_before": self.before.n_changes,
            "hosts_in_trouble": self.n_troubled,
        }


def day(house: House) -> Day:
    now = house.clock.now()
    troubled, n_troubled = house.store.troubled(8)
    return Day(
        now=now,
        sums=house.store.sums(now - DAY_S, now),
        before=house.store.sums(now - 2 * DAY_S, now - DAY_S),
        troubled=troubled,
        n_troubled=n_troubled,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """What is planned for the time from now on."""

    from_at: float
    until_at: float
    due: Sequence[Due]
    n_late: int  # due before that, and not visited yet
    turns: Sequence[Due]  # of those, the first of each host: they are next, as the budget allows

    @property
    def whole(self) -> bool:
        return len(self.due) < MOST_DUE

    def row(self) -> Row:
        return {
            "from": iso(self.from_at),
            "until": iso(self.until_at),
            "late": self.n_late,
            "whole": self.whole,
            "next_in_turn": [_due_row(one) for one in self.turns],
            "visits": [_due_row(one) for one in self.due[:1_000]],
        }


def _due_row(due: Due) -> Row:
    return {"resource_id": due.resource_id, "url": due.url, "host": due.host, "at": iso(due.at)}


def coming(house: House, span_s: float = HOUR_S) -> Coming:
    now = house.clock.now()
    return Coming(
        from_at=now,
        until_at=now + span_s,
        due=house.store.coming(now, now + span_s, MOST_DUE),
        n_late=house.store.counts(now)["due"],
        turns=house.store.in_turn(now, N_TURNS),
    )


@dataclass(frozen=True, slots=True)
class Progress:
    """How the schedule did lately: the report card, and its figures over time."""

    at: float
    card: Card
    course: Course


def progress(house: House, days: float = PROGRESS_DAYS) -> Progress:
    """It reads up to a hundred thousand visits, and takes a second or two."""
    now = house.clock.now()
    past, notes = read_past(house.store, now, days)
    return Progress(now, card(past, notes), course(past))
