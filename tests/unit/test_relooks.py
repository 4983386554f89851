"""Looks at what was given up: what slows down is found out, and neither budget nor host is asked for more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.test_pricing import START_AT, Run, loop_of

from recrawl.checks.predictor import sample_batch
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.model import DAY_S, Batch, Floats, NewResource, Seen, Settings
from recrawl.pricing import Asked, priced
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.schedule.relooks import SHARE, Relooks, relooks
from recrawl.simulate.worlds import TraceWorld


def looks_at_what_slowed_down(relooks: Relooks | None) -> Floats:
    """Days of the visits to what changed ten times a day for two months, as close looks had shown before, and
    then twice a year."""
    rng = np.random.default_rng(4)
    events = np.sort(np.concatenate([rng.uniform(0, 60, 600), rng.uniform(60, 1_000, 5)]))
    predictor, policy = GammaFilter(), Index(Fresh())
    batch = replace(
        sample_batch(1), weight=np.ones(1), min_gap_s=np.array([3_600.0]), max_gap_s=np.array([180 * DAY_S])
    )
    close = np.asarray(START_AT + DAY_S * np.arange(-80, 1) / 10.0, dtype=np.float64)
    predictor.learn(
        Seen(
            id=np.repeat(batch.id, 80),
            since_at=close[:-1],
            at=close[1:],
            changed=(rng.random(80) < 0.63).astype(np.int8),
            event_at=np.full(80, np.nan),
        )
    )
    days: list[float] = []
    at, bits = 0.0, 1
    while at < 1_000.0:
        batch = replace(
            batch,
            n_informative=np.array([len(days) + 1]),
            bits=np.array([bits], dtype=np.uint64),
        )
        forecasts = predictor.forecast(batch, 0.0)
        gap_s = policy.quote(batch, forecasts).gaps(0.7 * DAY_S)
        if relooks is not None:
            gap_s = relooks.applied(batch, forecasts, gap_s)
        since, at = at, at + float(gap_s[0]) / DAY_S
        bits = int(((events > since) & (events <= at)).any())
        moments = (START_AT + np.array([since, at]) * DAY_S)[:, None]
        predictor.learn(
            Seen(
                id=batch.id,
                since_at=moments[0],
                at=moments[1],
                changed=np.array([bits], dtype=np.int8),
                event_at=np.full(1, np.nan),
            )
        )
        days.append(at)
    return np.array(days)


def test_what_was_too_fast_is_found_out_when_it_slows_down() -> None:
    given_up = looks_at_what_slowed_down(None)
    looked_after = looks_at_what_slowed_down(Relooks(soon_s=4 * DAY_S, cycle_s=40 * DAY_S))
    # whatever it does now, a look after half a year finds a change; and so it goes on
    assert np.diff(given_up[:5]) == pytest.approx(180.0)
    assert ((looked_after > 5) & (looked_after < 60)).sum() <= 3
    # the pair after the change finds out, and from then on the price decides
    assert ((looked_after > 60) & (looked_after < 120)).sum() > 5
    assert np.diff(looked_after[looked_after > 400]).min() > 5.0


def test_relooks_take_a_share_of_the_budget_and_no_more() -> None:
    n = 100
    batch = replace(sample_batch(n), max_gap_s=np.full(n, 180 * DAY_S), min_gap_s=np.full(n, 3_600.0))
    a = np.full(n, 50.0)
    forecasts = GammaForecasts(a, a * DAY_S / np.where(np.arange(n) < 40, 20.0, 0.05))
    gap_s = np.where(np.arange(n) < 40, 180 * DAY_S, 5 * DAY_S)
    found = relooks(batch, forecasts, gap_s, per_day=100.0)
    assert found is not None
    assert found.soon_s == 5 * DAY_S
    assert 40 * 2 / (found.soon_s + found.cycle_s) * DAY_S == pytest.approx(0.02 * 100.0)
    assert relooks(batch, forecasts, np.full(n, 5 * DAY_S), per_day=100.0) is None


def crowd(n: int, n_lost: int) -> tuple[Batch, GammaForecasts, Floats]:
    """Of which so many change far too fast and were given up, with their gaps. Half are on host 1."""
    batch = replace(
        sample_batch(n),
        group=1 + np.arange(n) % 2,
        min_gap_s=np.full(n, 3_600.0),
        max_gap_s=np.full(n, 180 * DAY_S),
        bits=np.ones(n, dtype=np.uint64),
    )
    lost, a = np.arange(n) < n_lost, np.full(n, 50.0)
    gap_s = np.where(lost, 180 * DAY_S, 5 * DAY_S)
    return batch, GammaForecasts(a, a * DAY_S / np.where(lost, 20.0, 0.05)), gap_s


def test_a_full_host_spends_a_share_of_what_it_serves() -> None:
    n, n_lost = 400, 300
    batch, forecasts, gap_s = crowd(n, n_lost)
    found = relooks(batch, forecasts, gap_s, per_day=1_000.0, full={1: 4.0})
    assert found is not None
    # visits of many turns, in each of which a change was seen
    turns = [
        found.applied(replace(batch, n_informative=np.full(n, turn)), forecasts, gap_s) for turn in range(40)
    ]
    per_day = DAY_S / np.mean(turns, axis=0)[:n_lost]
    of_full, of_other = per_day[batch.group[:n_lost] == 1].sum(), per_day[batch.group[:n_lost] == 2].sum()
    at_least = n_lost / 2 / 180.0
    assert at_least < of_full < at_least + SHARE * 4.0  # some look twice, though few
    assert of_other == pytest.approx(SHARE * 996.0, rel=0.01)


def test_where_only_a_full_host_gave_up_the_others_have_no_looks_in_pairs() -> None:
    batch, forecasts, gap_s = crowd(100, 40)
    batch = replace(batch, group=np.where(np.arange(100) < 40, 1, 2))
    found = relooks(batch, forecasts, gap_s, per_day=100.0, full={1: 4.0})
    assert found is not None
    assert np.isinf(found.cycle_s)
    new = replace(batch, group=np.full(100, 2))  # given up since, until the price is found anew
    assert np.array_equal(found.applied(new, forecasts, gap_s), gap_s)


def test_what_is_worth_its_visits_is_not_late_for_what_was_given_up_on_a_full_host() -> None:
    rng = np.random.default_rng(1)
    said = Settings(min_gap_s=3_600.0, max_gap_s=180 * DAY_S)
    hosts = ["full.test" if i < 60 else f"o{i % 40}.test" for i in range(180)]
    rates = [0.1 if i >= 60 else 4.0 if i % 4 else 0.05 for i in range(180)]
    world = TraceWorld(
        [NewResource(url=f"http://{host}/{i}", host=host, settings=said) for i, host in enumerate(hosts)],
        [np.sort(START_AT + DAY_S * rng.uniform(0, 60, rng.poisson(60 * rate))) for rate in rates],
    )
    run = Run(loop_of(120.0), world)
    run.until(10)
    run.until(40, rest_s={"full.test": DAY_S / 4}, begun_days=10)
    at = np.array([visit.at for visit in run.visits])
    of_full = np.array([url.startswith("http://full.") for url in run.urls])
    late_s = np.array(run.late_s)[of_full & (at > START_AT + 20 * DAY_S)]
    assert len(late_s) > 0.9 * 4 * 20
    assert np.median(late_s) < DAY_S
    terms = run.loop.tariff.terms
    assert terms is not None
    assert list(terms.dear) == list(terms.relooks_at)


def test_a_budget_in_bytes_alone_looks_at_what_was_given_up_too() -> None:
    batch, forecasts, _ = crowd(400, 100)
    batch = replace(batch, since_at=START_AT - DAY_S * np.linspace(0.0, 5.0, 400))
    asked = Asked(policy=Index(Fresh()), batch=batch, forecasts=forecasts, now=START_AT, per_day=30.0)
    by_visits = priced(asked)
    by_bytes = priced(replace(asked, per_day=None, bytes_per_day=30.0 * 5e4, n_bytes=np.full(400, 5e4)))
    assert by_visits.relooks is not None
    assert by_bytes.relooks is not None
    assert by_bytes.relooks.cycle_s == pytest.approx(by_visits.relooks.cycle_s, rel=0.01)
    # where both bind, the one that allows less
    both = priced(replace(asked, per_day=300.0, bytes_per_day=30.0 * 5e4, n_bytes=np.full(400, 5e4)))
    assert both.relooks is not None
    assert both.relooks.cycle_s == pytest.approx(by_visits.relooks.cycle_s, rel=0.01)


@pytest.mark.parametrize("full", [{}, {4: 9 * DAY_S, 10**12: 3 * DAY_S}], ids=["none full", "full"])
def test_looks_are_planned_in_proportion_to_what_is_asked_about(full: dict[int, float]) -> None:
    """However many hosts there are: at every visit one is asked about."""
    n = 6
    group = np.array([4, 5, 10**12, 10**12 + 1, 7, 4])
    batch = replace(
        sample_batch(n),
        group=group,
        n_informative=np.full(n, 2),
        bits=np.ones(n, dtype=np.uint64),
        min_gap_s=np.full(n, 3_600.0),
        max_gap_s=np.full(n, 20 * DAY_S),
    )
    forecasts = GammaForecasts(np.full(n, 5.0), np.full(n, 5.0 * DAY_S / 10.0))
    found = Relooks(DAY_S, 7 * DAY_S, full).applied(batch, forecasts, batch.max_gap_s)
    assert found.tolist() == [full.get(host, 7 * DAY_S) for host in group.tolist()]
