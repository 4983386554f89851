"""How far off a plan may be: what visits in a row tell, bursts, and changes that come together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.batches import START_AT, batch_of, believed

from recrawl.evaluate.budgets.curve import Budgets
from recrawl.evaluate.budgets.offers import Offers
from recrawl.evaluate.budgets.outlook import even, outlook
from recrawl.evaluate.budgets.sureness import always_changed, clumped, even_odds, scatter
from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import DAY_S, HOUR_S, Seen
from recrawl.schedule.goals import Prompt
from recrawl.schedule.policies.index import Index


def test_changes_that_come_together_scatter_more_than_single_ones() -> None:
    rng = np.random.default_rng(3)
    n_hosts, n_weeks, n_each = 20, 4, 10
    host, week, _ = (part.ravel() for part in np.indices((n_hosts, n_weeks, n_each)))
    at = START_AT + 7 * DAY_S * (week + 0.5)
    alone = rng.random(len(host)) < 0.3
    together = (rng.random((n_hosts, n_weeks)) < 0.3)[host, week]
    found = []
    for changed in (alone, together):
        seen = Seen(
            id=np.arange(len(host)),
            since_at=at - DAY_S,
            at=at,
            changed=changed.astype(np.int8),
            event_at=np.full(len(host), np.nan),
            group=host,
        )
        found.append(scatter(seen, np.full(len(host), 0.3)))
    assert found[0] < 2.0
    assert 6.0 < found[1] < 16.0


def test_what_had_changed_at_every_visit_may_be_many_times_as_fast() -> None:
    batch = batch_of(60)
    always = np.arange(60) >= 50
    seen = replace(
        batch,
        n_informative=np.full(60, 30),
        bits=np.where(always, np.uint64(2**29 - 1), np.uint64(0b1011)).astype(np.uint64),
    )
    assert always_changed(seen).tolist() == always.tolist()
    assert not always_changed(replace(seen, n_informative=np.full(60, 4))).any()  # too few to say so
    offers = Offers(batch, believed(60), Index(Prompt()))
    sure, unsure = (Budgets(one, within_s=HOUR_S) for one in (offers, replace(offers, batch=seen)))
    for name in ("recall", "freshness"):
        known, wide = (one.bought(60.0).measures[name] for one in (sure, unsure))
        assert wide.value == pytest.approx(known.value, rel=1e-6)
        assert wide.low < known.low - 0.004
        assert wide.high > known.high + 0.01  # or it goes by the clock, and is slower


def test_changes_in_a_row_tell_how_fast_something_is_at_least() -> None:
    n_visits, gap_s = np.array([4, 16]), np.array([DAY_S, 2 * DAY_S])
    row = np.repeat(np.arange(2), n_visits)
    at = START_AT + np.concatenate(
        [np.arange(1, n + 1) * gap for n, gap in zip(n_visits, gap_s, strict=True)]
    )
    seen = Seen(
        id=row + 51,
        since_at=at - gap_s[row],
        at=at,
        changed=np.ones(20, dtype=np.int8),
        event_at=np.full(20, np.nan),
    )
    ids, rate = even_odds(seen)
    assert ids.tolist() == [51, 52]
    assert (1.0 - np.exp(-rate * gap_s)) ** n_visits == pytest.approx([0.5, 0.5])
    always = np.arange(60) >= 50
    bits = np.where(always, np.uint64(2**29 - 1), np.uint64(0b1011)).astype(np.uint64)
    batch = replace(batch_of(60), n_informative=np.full(60, 30), bits=bits)
    budgets = Budgets(Offers(batch, believed(60), Index(Prompt())), within_s=HOUR_S)
    assert batch.id[budgets.always].tolist() == list(range(51, 61))
    before = budgets.bought(60.0)
    fast = seen.pick(seen.id == 51)
    budgets.recount(replace(fast, at=fast.since_at + HOUR_S))
    after = budgets.bought(60.0)
    for name in ("recall", "freshness"):
        assert after.measures[name].value < before.measures[name].value - 0.01
    budgets.recount(seen.pick(seen.id == 0))  # nobody tells anything
    assert budgets.bought(60.0).measures == after.measures


def test_a_change_that_is_told_may_be_a_burst_of_several() -> None:
    known = GammaForecasts(np.array([1e9]), np.array([1e9 * DAY_S]))
    gaps = even(np.array([DAY_S]))
    one = outlook(known, gaps, HOUR_S)
    several = clumped(one)
    assert several.value("recall") == pytest.approx(one.value("recall") / 4.0)
    for name in ("freshness", "delay_days_mean", "within"):
        assert several.value(name) == pytest.approx(one.value(name))
    rng = np.random.default_rng(2)
    behind = []
    for n in rng.poisson(1.0, 20_000):  # each of them four at once
        at = np.concatenate([np.sort(rng.random(n)), [1.0]])
        harmonic = np.cumsum(1.0 / np.arange(1, 4 * n + 1))[3::4]
        behind.append(float((np.diff(at) * harmonic).sum()) if n else 0.0)
    assert several.value("harmonic") == pytest.approx(np.mean(behind), rel=0.1)
    assert clumped(one, 1.5).value("recall") == pytest.approx(one.value("recall") / 1.5)
    assert clumped(one, 1.0) == one
    half = (one.value("harmonic") + clumped(one, 2.0).value("harmonic")) / 2.0
    assert clumped(one, 1.5).value("harmonic") == pytest.approx(half)  # every other one stands for two


def test_the_interval_of_recall_reaches_from_single_changes_to_bursts_of_four() -> None:
    offers = Offers(batch_of(60), believed(60), Index(Prompt()))
    _, gaps = offers.at(60.0)
    single = outlook(offers.forecasts, gaps, HOUR_S).value("recall")
    recall = Budgets(offers, within_s=HOUR_S).bought(60.0).measures["recall"]
    assert recall.value == pytest.approx(single / 1.5)
    assert recall.low < single / 4.0
    assert recall.high > single
