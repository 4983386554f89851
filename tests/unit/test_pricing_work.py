"""How much is worked out to find a price, and how often: counted, never timed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl import pricing
from recrawl.checks import policy as policy_checks
from recrawl.checks.policy import sample_forecasts
from recrawl.checks.predictor import sample_batch
from recrawl.contracts import Divisible, Forecasts, Quote
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.either import Either
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.live.turns import N_REST, Continuous, Repriced
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, Batch, Bools, Floats, NewResource
from recrawl.pricing import N_PILOT, NEAR, Asked, _Market, priced
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.hosts import host_prices
from recrawl.schedule.policies.index import Index
from recrawl.terms import Terms

NOW = 1.7e9


class Counting(Index):
    """Remembers how many rows it was asked about, each time."""

    def __init__(self) -> None:
        super().__init__(Fresh())
        self.asked: list[int] = []

    def quote(self, batch: Batch, forecasts: Forecasts) -> Quote:
        self.asked.append(len(batch))
        return super().quote(batch, forecasts)


def full_hosts(policy: Index, n: int = 60) -> Asked:
    """Six hosts, of which three can serve four visits a day."""
    batch = replace(
        sample_batch(n),
        group=1 + np.arange(n) % 6,
        since_at=NOW - np.linspace(0.0, DAY_S, n),
        min_gap_s=np.full(n, HOUR_S),
        max_gap_s=np.full(n, 90 * DAY_S),
    )
    busy_s = dict.fromkeys((1, 2, 3), 6 * HOUR_S) | dict.fromkeys((4, 5, 6), 60.0)
    forecasts = sample_forecasts(GammaFilter(), n)
    return Asked(policy=policy, batch=batch, forecasts=forecasts, now=NOW, per_day=200.0, busy_s=busy_s)


def test_what_does_not_depend_on_the_price_is_worked_out_once() -> None:
    policy = Counting()
    found = priced(full_hosts(policy))
    assert sorted(found.dear) == [1, 2, 3]
    assert policy.asked == [60]


def test_a_quote_that_cannot_be_divided_is_asked_for_some_rows_and_finds_the_same() -> None:
    class Whole(Counting):
        def quote(self, batch: Batch, forecasts: Forecasts) -> Quote:
            return _Whole(super().quote(batch, forecasts))

    class _Whole:
        def __init__(self, of: Quote) -> None:
            self.of = of

        def gaps(self, price: float | Floats) -> Floats:
            return self.of.gaps(price)

    whole = Whole()
    found, same = priced(full_hosts(whole)), priced(full_hosts(Counting()))
    assert min(whole.asked) < 60
    assert found.dear == pytest.approx(same.dear)
    assert found.gap_s == pytest.approx(same.gap_s)


@pytest.mark.parametrize("predictor", [Rhythm, Either])
def test_a_quote_in_own_time_is_divided_too(predictor: type[Rhythm | Either]) -> None:
    policy = Index(Fresh(), jitter=0.07)
    assert isinstance(policy.quote(sample_batch(20), sample_forecasts(predictor(), 20)), Divisible)
    policy_checks.check_a_divisible_quote_is_its_rows(lambda: policy, predictor())


def test_prices_of_hosts_are_found_in_few_turns_where_demand_falls_in_jumps() -> None:
    rng = np.random.default_rng(3)
    cliff = rng.lognormal(8.0, 1.5, 40)  # at these prices the last visit, one too many, is given up
    n_turns = 0

    def asked(prices: Floats, open_: Bools) -> Floats:
        nonlocal n_turns
        n_turns += 1
        return np.where(prices < cliff, 6.0, 0.0)

    found = host_prices(asked, np.full(40, 5.0))
    assert found == pytest.approx(cliff, rel=2e-4)
    assert n_turns <= 26


@pytest.mark.parametrize("guess", [1e-300, 4e-300])
def test_a_host_that_is_full_keeps_a_price_where_others_have_next_to_none(guess: float) -> None:
    """Where a budget nearly suffices for the smallest gaps its price is next to none."""

    def asked(prices: Floats, open_: Bools) -> Floats:
        return 100.0 / (1.0 + prices)

    assert host_prices(asked, np.array([10.0]), guess=guess) == pytest.approx([9.0], rel=1e-3)


@pytest.mark.parametrize("every", [2, 3, 7])
def test_a_price_is_that_of_all_also_where_what_is_alike_has_every_nth_number(every: int) -> None:
    n = every * N_PILOT
    fast = np.arange(n) % every == 0
    batch = replace(
        sample_batch(n),
        weight=np.ones(n),
        since_at=NOW - np.random.default_rng(1).uniform(0.0, 5 * DAY_S, n),
        min_gap_s=np.full(n, HOUR_S),
        max_gap_s=np.full(n, 90 * DAY_S),
    )
    forecasts = GammaForecasts(np.full(n, 5.0), 5.0 * DAY_S / np.where(fast, 5.0, 0.05))
    asked = Asked(policy=Index(Fresh()), batch=batch, forecasts=forecasts, now=NOW, per_day=n / 5.0)
    market = _Market(asked, mix=0.0)
    assert market.all.pressing(market.cleared()) == pytest.approx(1.0, abs=NEAR)


@pytest.mark.parametrize("seed", range(4))
def test_a_price_that_a_small_pilot_missed_is_mended_with_all(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pricing, "N_PILOT", 1_000)
    monkeypatch.setattr(pricing, "SEED", seed)
    n, rng = 30_000, np.random.default_rng(2)
    batch = replace(
        sample_batch(n),
        weight=rng.lognormal(0.0, 1.0, n),
        since_at=NOW - rng.uniform(0.0, 5 * DAY_S, n),
        min_gap_s=np.full(n, HOUR_S),
        max_gap_s=np.full(n, 90 * DAY_S),
    )
    per_day = np.clip(rng.lognormal(np.log(0.1), 1.5, n), 1e-4, 20.0)
    forecasts = GammaForecasts(np.full(n, 5.0), 5.0 * DAY_S / per_day)
    asked = Asked(policy=Index(Fresh()), batch=batch, forecasts=forecasts, now=NOW, per_day=n / 5.0)
    market = _Market(asked, mix=0.0)
    assert market.all.pressing(market.cleared()) == pytest.approx(1.0, abs=6e-3)


class Ticking:
    """A clock on which every pricing takes as long as is said."""

    speed = DAY_S

    def __init__(self, took_s: list[float]) -> None:
        self.at, self.took_s = NOW, took_s

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


def pricings(took_s: list[float], hours: int) -> tuple[list[float], Loop]:
    """When a loop that may find its price every hour did so, in so many hours of asking every minute."""
    clock, at = Ticking(took_s), list[float]()

    class Slow(Loop):
        def reprice(self, now: float) -> Terms:
            at.append((now - NOW) / HOUR_S)
            clock.at += clock.took_s[min(len(at), len(clock.took_s)) - 1]
            return super().reprice(now)

    store = MemoryStore()
    store.add([NewResource(url="http://a.test/", host="a.test")], NOW)
    loop = Slow(store=store, predictor=GammaFilter(), policy=Index(Fresh()), rule="index:fresh", per_day=9.0)
    turns = Repriced(Continuous(loop), loop, clock)
    while clock.at < NOW + hours * HOUR_S:
        turns.due(clock.at, 0)
        clock.at += 60.0
    return at, loop


def test_a_price_that_takes_long_to_find_is_found_less_often() -> None:
    at, loop = pricings([HOUR_S], 60)
    assert np.diff(at)[1:] == pytest.approx(N_REST, abs=0.02)
    assert len(at) <= 2 + 60 / N_REST
    assert loop.tariff.every_s == loop.reprice_every_s == N_REST * HOUR_S  # and it is found for that time


def test_one_that_takes_no_time_is_found_as_often_as_was_said() -> None:
    at, loop = pricings([0.0], 10)
    assert np.diff(at) == pytest.approx(1.0, abs=0.02)
    assert loop.reprice_every_s == HOUR_S


def test_one_slow_pricing_alone_puts_off_no_other() -> None:
    at, _ = pricings([0.0, HOUR_S, 0.0], 12)
    assert np.diff(at).max() <= 2.1
