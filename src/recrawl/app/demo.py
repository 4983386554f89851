"""The demonstration: recrawl at work on a small living web, a day a second, judged by the truth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.app.build import ARCHIVE_FOLDER, STORE_FILE, House
from recrawl.app.config import Config, Fetching, Gaps, Schedule
from recrawl.contracts import Store
from recrawl.errors import BadInputError
from recrawl.evaluate.plain import PlainScore, plain_score
from recrawl.evaluate.uniform import uniform_visits
from recrawl.live.clock import FastClock
from recrawl.live.runner import Landed
from recrawl.livingweb import LivingWeb, town
from recrawl.livingweb.world import Truth
from recrawl.model import DAY_S, HOUR_S, Changed, Floats, Ints, NewResource, Settings
from recrawl.schedule.reason import rate, span
from recrawl.urls import host_key

START_AT = datetime(2026, 1, 5, tzinfo=UTC).timestamp()  # a Monday
N_RESOURCES = 200
BUDGET_PER_DAY = 100.0  # half as many visits a day as there are resources
N_UNIFORM = 20  # orders of the uniform schedule to average over


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the demonstration is, told once a second."""

    day: float
    n_visits: int
    n_changes: int
    n_failures: int
    learned: str  # one thing that was learned of late


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrated:
    """What came of it, beside a uniform schedule of the same number of visits over the same web."""

    days: float
    budget_per_day: float
    ours: PlainScore
    uniform: PlainScore
    n_visits: int
    n_failures: int
    n_false_alarms: int
    store: Path
    archive: Path
    busiest: str  # a URL worth looking at

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "resources": self.ours.resources,
            "visits": self.n_visits,
            "changes_true": self.ours.changes,
            "changes_seen": self.ours.observed,
            "recall": self.ours.recall,
            "precision": self.ours.precision,
            "freshness": self.ours.freshness,
            "uniform": {
                "recall": self.uniform.recall,
                "precision": self.uniform.precision,
                "freshness": self.uniform.freshness,
            },
            "store": str(self.store),
            "archive": str(self.archive),
            "days": self.days,
            "budget_per_day": self.budget_per_day,
            "failures": self.n_failures,
            "false_alarms": self.n_false_alarms,
        }


async def demo(
    home: Path,
    *,
    seconds: float = 30.0,
    seed: int = 1,
    goal: str | None = None,
    tell: Callable[[Progress], object] = lambda _: None,
) -> Demonstrated:
    """Watch the town for `seconds`, each of them a day, and score what was seen against the truth."""
    if (home / STORE_FILE).exists():
        raise BadInputError(f"{home} holds a store already; give the demo an empty folder with --home.")
    clock = FastClock(start_at=START_AT, speed=DAY_S, standing=True)
    end_at = START_AT + seconds * DAY_S
    house = House(home, _config(goal), clock)
    try:
        async with LivingWeb(town(N_RESOURCES, seed), clock=clock, seed=seed) as web:
            urls = web.urls()
            house.store.add(
                [
                    NewResource(url=url, host=host_key(url), settings=Settings(allow_private=True))
                    for url in urls
                ],
                START_AT,
            )
            await _run(house, clock, end_at, tell)
            truth = web.truth(START_AT, end_at)
        return _judged(house, urls, truth, end_at, seed)
    finally:
        house.close()


def _config(goal: str | None) -> Config:
    return Config.model_construct(  # which asks no environment: nothing there changes what is shown
        schedule=Schedule(
            budget=f"{BUDGET_PER_DAY:g}/day",
            goal=goal or "fresh",
            policy="index",
            predictor="either",
            reprice_every=DAY_S / 4,
        ),
        gaps=Gaps(min_gap=HOUR_S, max_gap=180 * DAY_S, weight=1.0),
        fetching=Fetching(contact="demo@recrawl.invalid"),  # type: ignore[call-arg]
    )


async def _run(house: House, clock: FastClock, end_at: float, tell: Callable[[Progress], object]) -> None:
    counts = {"visits": 0, "changes": 0, "failures": 0}
    learned = "getting a first copy of everything"

    def watch(landed: Landed) -> None:
        nonlocal learned
        visit, plan = landed.absorbed.visit, landed.absorbed.plan
        counts["visits"] += 1
        counts["changes"] += visit.changed is Changed.YES
        counts["failures"] += not visit.informative
        if visit.changed is Changed.YES and landed.lease.standing.n_informative >= 3:
            learned = f"{landed.lease.resource.url}: {rate(plan.per_day)}, look again in {span(plan.gap_s)}"

    async def report() -> None:
        while True:
            await clock.sleep(clock.speed)
            day = (clock.now() - START_AT) / DAY_S
            tell(
                Progress(
                    day=day,
                    n_visits=counts["visits"],
                    n_changes=counts["changes"],
                    n_failures=counts["failures"],
                    learned=learned,
                )
            )

    async with house.fetcher() as fetcher:
        runner = house.runner(house.loop(), fetcher, watch=watch)
        clock.start()
        reporting = asyncio.create_task(report())
        try:
            await runner.run(until_at=end_at)
        finally:
            reporting.cancel()
            await runner.aclose()


def _judged(house: House, urls: tuple[str, ...], truth: Truth, end_at: float, seed: int) -> Demonstrated:
    events = [truth.changed_at[url] for url in urls]
    ids, at, n_visits, n_failures, n_false = _true_sights(house.store, urls, events)
    rng = np.random.default_rng(seed)
    uniform = [
        plain_score(
            events,
            *uniform_visits(len(urls), n_visits, start_at=START_AT, end_at=end_at, rng=rng),
            start_at=START_AT,
            end_at=end_at,
        )
        for _ in range(N_UNIFORM)
    ]
    ours = plain_score(events, ids, at, start_at=START_AT, end_at=end_at, n_visits=n_visits)
    return Demonstrated(
        days=(end_at - START_AT) / DAY_S,
        budget_per_day=BUDGET_PER_DAY,
        ours=ours,
        uniform=_mean(uniform),
        n_visits=n_visits,
        n_failures=n_failures,
        n_false_alarms=n_false,
        store=house.home / STORE_FILE,
        archive=house.home / ARCHIVE_FOLDER,
        busiest=urls[int(np.bincount(ids, minlength=len(urls)).argmax())],
    )


def _true_sights(
    store: Store, urls: tuple[str, ...], events: list[Floats]
) -> tuple[Ints, Floats, int, int, int]:
    """The visits after which the copy held really was the live thing, and how many there were in all.

    A visit that failed, or that believed a server's "not modified" when it was not true, is none.
    """
    ids: list[int] = []
    times: list[float] = []
    n_visits = n_failures = n_false = 0
    for index, url in enumerate(urls):
        resource = store.find(url)
        if resource is None:
            continue
        held = -1
        for visit in reversed(list(store.visits(resource.id))):
            n_visits += 1
            n_failures += not visit.informative
            live = int(np.searchsorted(events[index], visit.at, "right"))
            n_false += visit.changed is Changed.YES and live == held
            if not visit.informative or (visit.changed is Changed.NO and live != held):
                continue
            held = live
            ids.append(index)
            times.append(visit.at)
    return np.array(ids, dtype=np.int64), np.array(times), n_visits, n_failures, n_false


def _mean(scores: list[PlainScore]) -> PlainScore:
    first = scores[0]
    return PlainScore(
        resources=first.resources,
        visits=first.visits,
        changes=first.changes,
        observed=round(float(np.mean([one.observed for one in scores]))),
        recall=float(np.mean([one.recall for one in scores])),
        precision=float(np.mean([one.precision for one in scores])),
        freshness=float(np.mean([one.freshness for one in scores])),
        delay_days_mean=float(np.mean([one.delay_days_mean for one in scores])),
    )
