"""The loop with a budget, through everything that may happen to it: every day's visits, host by host."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from recrawl.finding import Finding
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import DAY_S, Changed, Floats, Ints, Lease, NewResource, Outcome, Settings, Visit
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.simulate.worlds import TraceWorld

START_AT = 1.7e9
PER_DAY = 60.0
N, DAYS = 200, 14
Act = Callable[[Loop, float], object]


def town(n: int, *, name: str = "a", n_hosts: int | None = None, faster_at: float = np.inf) -> TraceWorld:
    rng = np.random.default_rng(len(name) + n)
    days = 80.0
    rates = np.clip(np.exp(rng.normal(np.log(0.3), 1.3, n)), 0.005, 8.0)

    def events(rate: float) -> Floats:
        at = START_AT + DAY_S * rng.uniform(0.0, days, rng.poisson(rate * days))
        more = START_AT + DAY_S * rng.uniform(0.0, days, rng.poisson(4.0 * rate * days))
        return np.sort(np.concatenate([at, more[more > START_AT + faster_at * DAY_S]]))

    hosts = [f"{name}{i if n_hosts is None else i % n_hosts}.test" for i in range(n)]
    said = Settings(min_gap_s=3_600.0, max_gap_s=60 * DAY_S)
    return TraceWorld(
        [NewResource(url=f"http://{host}/{i}", host=host, settings=said) for i, host in enumerate(hosts)],
        [events(rate) for rate in rates],
    )


def loop_of(per_day: float | None = PER_DAY, *, bytes_per_day: float | None = None) -> Loop:
    return Loop(
        store=MemoryStore(),
        predictor=GammaFilter(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=per_day,
        bytes_per_day=bytes_per_day,
        reprice_every_s=7_200.0,
    )


class Run:
    """Visits on a virtual clock; what they weigh, whether they fail and how long their hosts rest is said."""

    def __init__(self, loop: Loop, *worlds: TraceWorld) -> None:
        self.loop = loop
        self.place = {r.url: (world, i) for world in worlds for i, r in enumerate(world.resources)}
        self.visits: list[Visit] = []
        self.late_s: list[float] = []
        self.urls: list[str] = []
        self.rng = np.random.default_rng(2)
        loop.store.add(worlds[0].resources, START_AT)

    def until(
        self,
        days: float,
        acts: Mapping[float, Act] | None = None,
        *,
        p_failed: float = 0.0,
        rest_s: Mapping[str, float] | None = None,
        n_bytes: Callable[[int], int] = lambda _: 0,
        n_dead: int = 0,
        begun_days: float = 0.0,
    ) -> None:
        """The first `n_dead` do not answer."""
        loop, now = self.loop, START_AT + begun_days * DAY_S
        acts = acts or {}
        waiting = sorted(acts)
        while now < START_AT + days * DAY_S:
            if waiting and now >= START_AT + waiting[0] * DAY_S:
                acts[waiting.pop(0)](loop, now)
            if loop.must_reprice(now):
                loop.reprice(now)
            leases = loop.due(now, 64)
            found = [
                self._finding(
                    lease, now, 1.0 if lease.resource.id <= n_dead else p_failed, rest_s or {}, n_bytes
                )
                for lease in leases
            ]
            loop.absorb(found, now)
            if not leases:
                next_at = min([loop.wake_at(now), *(START_AT + day * DAY_S for day in waiting[:1])])
                now = max(next_at, now + 1e-3)

    def _finding(
        self,
        lease: Lease,
        now: float,
        p_failed: float,
        rest_s: Mapping[str, float],
        n_bytes: Callable[[int], int],
    ) -> Finding:
        world, i = self.place[lease.resource.url]
        since_at = lease.standing.since_at
        first = np.isnan(since_at)
        failed = self.rng.random() < p_failed
        changed = Changed.UNKNOWN if first or failed else Changed(world.n_changes(i, since_at, now) > 0)
        visit = Visit(
            fetch_id=str(len(self.visits)),
            resource_id=lease.resource.id,
            at=now,
            since_at=since_at,
            outcome=Outcome.NET_ERROR if failed else Outcome.OK,
            changed=changed,
            n_bytes=n_bytes(lease.resource.id),
        )
        self.visits.append(visit)
        self.late_s.append(now - lease.standing.due_at)
        self.urls.append(lease.resource.url)
        return Finding(lease=lease, visit=visit, gate_at=now + rest_s.get(lease.resource.host, 0.0))

    def per_day(self) -> Ints:
        at = [visit.at for visit in self.visits]
        return np.histogram(at, START_AT + DAY_S * np.arange(DAYS + 1))[0]


def halve(loop: Loop, now: float) -> None:
    loop.rebudget(PER_DAY / 2, None)
    loop.reprice(now)


MORE = town(N // 2, name="bb")
STORIES: dict[str, tuple[TraceWorld, dict[float, Act], float]] = {
    "nothing happens": (town(N), {}, 0.0),
    "half as many again are added": (
        town(N),
        {6.0: lambda loop, now: loop.store.add(MORE.resources, now)},
        0.0,
    ),
    "three in ten are removed": (
        town(N),
        {6.0: lambda loop, _: loop.store.remove(range(1, 1 + 3 * N // 10))},
        0.0,
    ),
    "everything changes five times as often": (town(N, faster_at=6.0), {}, 0.0),
    "the budget is halved": (town(N), {6.0: halve}, 0.0),
    "one visit in twenty fails": (town(N), {}, 0.05),
}


@pytest.mark.parametrize("story", STORIES)
def test_every_day_spends_the_budget_whatever_happens(story: str) -> None:
    world, acts, p_failed = STORIES[story]
    run = Run(loop_of(), world, MORE)
    run.until(DAYS, acts, p_failed=p_failed)
    wanted = np.full(DAYS, PER_DAY)
    if "halved" in story:
        wanted[6:] = PER_DAY / 2
    spent = run.per_day()
    # within two in a hundred, and less than one visit where that is less than a visit; the first two days
    # have what a new house may spend at once
    assert np.abs(spent - wanted)[2:].max() <= max(0.02 * PER_DAY, 1.0), spent
    assert run.loop.tariff.terms is not None
    assert 0.0 < run.loop.price < np.inf


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_what_is_dead_takes_little_from_what_is_not(share: float) -> None:
    run = Run(loop_of(), town(N))
    run.until(DAYS, n_dead=int(share * N))
    late_s, at = np.array(run.late_s), np.array([visit.at for visit in run.visits])
    failed = np.array([visit.outcome is Outcome.NET_ERROR for visit in run.visits])
    later = at > START_AT + 10 * DAY_S
    assert failed[later].mean() < 0.9 * share  # less than if it were looked at like the others
    assert np.median(late_s[later & ~failed]) < 3 * 3_600.0
    # while everything is tried for the first times nobody knows how much of it is dead
    assert np.abs(run.per_day() - PER_DAY)[5:].max() <= max(0.02 * PER_DAY, 1.0)


def test_where_everything_fails_visits_keep_a_price_and_waits_grow() -> None:
    """As when our own network is down: else the price would fall to nothing, and all be tried ever sooner."""
    run = Run(loop_of(6.0), town(30))
    run.until(10, n_dead=0)
    n = len(run.visits)
    run.until(24, n_dead=30, begun_days=10)
    assert run.loop.price > 0.0
    waited: dict[int, list[float]] = {}
    for visit in run.visits[n:]:
        waited.setdefault(visit.resource_id, []).append(visit.at)
    longest = [np.diff(at) for at in waited.values() if len(at) > 3]
    assert longest
    # one may wait in line for the budget, so that not every wait is longer than the one before
    assert all(gap_s[-1] > gap_s[0] for gap_s in longest)
    assert np.median([gap_s[0] for gap_s in longest]) > 2 * 900.0
    terms = run.loop.tariff.terms
    assert terms is not None
    assert terms.demand_per_day < 30.0  # retries alone


def test_a_budget_that_nothing_needs_is_not_saved_up_for_later() -> None:
    world = town(5)
    run = Run(loop_of(1_000.0), world)
    run.until(3)
    assert run.loop.price == 0.0  # 24 visits a day each is all that the smallest gap allows
    assert run.per_day()[:3].max() <= 5 * 24
    assert run.loop.n_free(START_AT + 3 * DAY_S) <= 250


def test_a_host_that_is_full_has_its_own_price_and_others_get_the_visits() -> None:
    world = town(N, n_hosts=10)
    run = Run(loop_of(), world)
    run.until(DAYS, rest_s={"a0.test": DAY_S / 2})  # twice a day at most; a tenth of the visits would be six
    of_host = np.array([url.startswith("http://a0.") for url in run.urls])
    days = (np.array([visit.at for visit in run.visits]) - START_AT) // DAY_S
    assert np.bincount(days[of_host].astype(int))[2:].max() <= 3
    assert 1.7 <= of_host[days >= 4].sum() / (DAYS - 4) <= 2.1  # and the host is never idle
    assert np.abs(run.per_day() - PER_DAY)[2:].max() <= 1.2
    terms = run.loop.tariff.terms
    assert terms is not None
    assert list(terms.dear) == ["1"]
    assert terms.dear["1"] > 1.5 * terms.price
    terms = run.loop.reprice(START_AT + DAYS * DAY_S)
    dear, usual = terms.dear["1"], run.loop.price
    plans = [(resource.host, plan) for resource, _, plan in run.loop.store.resources() if plan is not None]
    of_full = {plan.price for host, plan in plans if host == "a0.test" and plan.rule == "index:fresh"}
    assert of_full == {dear}
    assert {plan.price for host, plan in plans if host == "a1.test"} == {usual}


def test_a_budget_in_bytes_goes_by_what_visits_weighed() -> None:
    world = town(N)
    run = Run(loop_of(None, bytes_per_day=3e6), world)
    run.until(DAYS, n_bytes=lambda resource_id: 200_000 if resource_id % 2 else 20_000)
    days = ((np.array([visit.at for visit in run.visits]) - START_AT) // DAY_S).astype(int)
    weight = np.bincount(days, [visit.n_bytes for visit in run.visits])[:DAYS]
    # a visit of 200,000 bytes is one in fifteen of a day's: two days together are even enough
    assert weight[2:].reshape(-1, 2).sum(axis=1) == pytest.approx(6e6, rel=0.07)
    heavy = np.array([visit.resource_id % 2 for visit in run.visits])[days >= 5]
    assert heavy.mean() < 0.3  # for one heavy visit there are ten light ones


def test_of_two_limits_the_one_that_binds_sets_the_price() -> None:
    world = town(N)
    visits_bind = Run(loop_of(PER_DAY, bytes_per_day=1e9), world)
    visits_bind.until(8, n_bytes=lambda _: 1_000)
    assert np.abs(visits_bind.per_day()[2:8] - PER_DAY).max() <= 1.2
    bytes_bind = Run(loop_of(PER_DAY, bytes_per_day=30_000.0), world)
    bytes_bind.until(12, n_bytes=lambda _: 1_000)
    assert bytes_bind.per_day()[2:12].mean() == pytest.approx(30.0, rel=0.05)


def test_a_price_and_what_visits_weigh_survive_a_restart() -> None:
    world = town(20, n_hosts=2)
    run = Run(loop_of(8.0, bytes_per_day=1e5), world)
    run.until(6, rest_s={"a0.test": DAY_S}, n_bytes=lambda resource_id: 10_000 * resource_id)
    before = run.loop
    after = replace_loop(before)
    now = START_AT + 6 * DAY_S
    after.start(now)
    assert after.tariff.terms == before.tariff.terms
    after.reprice(now)
    assert before.tariff.costs is not None
    assert after.tariff.costs is not None
    ids = np.arange(1, 21)
    assert np.array_equal(before.tariff.costs.n_bytes(ids), after.tariff.costs.n_bytes(ids))


def replace_loop(loop: Loop) -> Loop:
    return Loop(
        store=loop.store,
        predictor=GammaFilter(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=loop.per_day,
        bytes_per_day=loop.purse.bytes_per_day,
        reprice_every_s=7_200.0,
    )


def test_before_the_first_looks_the_price_is_for_what_comes_after_them() -> None:
    loop = loop_of(2_000.0)
    said = Settings(min_gap_s=1.0, max_gap_s=60 * DAY_S)
    loop.store.add(
        [NewResource(url=f"http://{i}.test/", host=f"{i}.test", settings=said) for i in range(4)], 0.0
    )
    assert loop.reprice(START_AT).price > 0.0  # else they would be due every second until it is found again
