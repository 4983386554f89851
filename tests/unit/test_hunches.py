"""Hunches in priors, and what they are good for."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
import pytest

from recrawl.checks.store.samples import T0
from recrawl.grounds import hunched_priors
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.histories import histories
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.priors import fitted, scaled
from recrawl.model import (
    DAY_S,
    Batch,
    Floats,
    Priors,
    Seen,
)
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index

PRIORS = Priors(
    shape=0.5,
    scale_s=10 * DAY_S,
    hunched=Priors(
        shape=2.0,
        scale_s=2.0 * DAY_S,
        group=np.array([4]),
        shapes=np.array([3.0]),
        scales_s=np.array([1.5 * DAY_S]),
    ),
)


def test_a_prior_with_a_hunch_is_about_the_hunch() -> None:
    group = np.array([1, 1, 1, 4, 4, 1])
    shape, scale_s = PRIORS.of(group, np.array([nan, 0.1, 10.0, 0.1, nan, 0.0]))
    assert shape.tolist() == [0.5, 2.0, 2.0, 3.0, 0.5, 0.5]
    # of a group that changes twice as often as it looks, the rate is twice the hunch
    assert (shape / scale_s * DAY_S).tolist() == pytest.approx([0.05, 0.1, 10.0, 0.2, 0.05, 0.05])


def test_without_hunches_or_without_what_they_mean_priors_are_as_they_were() -> None:
    group, per_day = np.array([1, 4]), np.array([3.0, 3.0])
    plain = replace(PRIORS, hunched=None)
    for priors, said in ((PRIORS, None), (plain, per_day), (PRIORS, np.full(2, nan))):
        shape, scale_s = priors.of(group, said)
        assert (shape.tolist(), scale_s.tolist()) == ([0.5, 0.5], [10 * DAY_S] * 2)


def test_priors_with_hunches_are_read_as_they_were_written() -> None:
    again = Priors.read(PRIORS.written())
    assert again.written() == PRIORS.written()
    assert again.hunched is not None
    assert again.hunched.shapes.tolist() == [3.0]
    assert Priors.read(replace(PRIORS, hunched=None).written()).hunched is None


def visits(per_day: Floats, gap_s: float, n: int, seed: int, group: int = 1) -> Seen:
    """Of resources with these rates, every `gap_s`."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(1, len(per_day) + 1), n)
    at = np.asarray(T0 + gap_s * np.tile(np.arange(1, n + 1), len(per_day)), dtype=np.float64)
    p = -np.expm1(-np.repeat(per_day, n) * gap_s / DAY_S)
    return Seen(
        id=ids,
        since_at=at - gap_s,
        at=at,
        changed=(rng.random(len(ids)) < p).astype(np.int8),
        event_at=np.full(len(ids), nan),
        group=np.full(len(ids), group),
    )


def test_in_time_scaled_by_a_hunch_everybody_changes_once_a_day() -> None:
    seen_, ids = histories(visits(np.array([0.1, 10.0]), 3_600.0, 5, seed=1))
    own = scaled(seen_, np.array([0.1, 10.0])[ids - 1])
    assert np.unique(own.gap_s).tolist() == pytest.approx([360.0, 36_000.0])


WIDE = Priors(shape=0.5, scale_s=0.5 * DAY_S)


def test_hunched_priors_say_how_far_rates_are_from_hunches() -> None:
    rng = np.random.default_rng(3)
    rates = np.exp(rng.normal(np.log(0.5), 1.5, 400))
    told = visits(rates, 0.5 * DAY_S, 24, seed=4)
    found = []
    for off in (0.1, 1.0):  # ln of the hunch's error
        hunch = rates * np.exp(rng.normal(off**2 / 2, off, 400))
        with_hunches = replace(told, hunch_per_day=hunch[told.id - 1])
        one = hunched_priors(with_hunches, WIDE, 20.0, 20.0, now=T0)
        assert one is not None
        found.append(one)
    good, poor = found
    assert good.shape > 2.0 * poor.shape  # the better the hunch the firmer
    for one in found:
        assert one.shape <= 20.0
        assert one.shape / one.scale_s * DAY_S == pytest.approx(1.0, abs=0.45)
    timid = hunched_priors(replace(told, hunch_per_day=rates[told.id - 1]), WIDE, 0.7, 0.7, now=T0)
    assert timid is not None
    assert timid.shape <= 0.7  # never firmer than the model's own held-out figures
    shuffled = replace(told, hunch_per_day=rng.permutation(rates)[told.id - 1])
    assert hunched_priors(shuffled, WIDE, 1.0, 1.0, now=T0) is None


def test_where_hardly_anybody_judges_hunches_only_a_model_that_has_proven_itself_is_heeded() -> None:
    rates = np.exp(np.random.default_rng(3).normal(np.log(0.5), 1.5, 400))
    told = visits(rates, 0.5 * DAY_S, 24, seed=4)
    told = replace(told, hunch_per_day=rates[told.id - 1])
    nobody, few = told.pick(told.id < 0), told.pick(told.id < 4)
    for some in (nobody, few):
        assert hunched_priors(some, WIDE, 2.0, 2.0, now=T0) is None
    taken = hunched_priors(nobody, WIDE, 2.0, 2.0, True, now=T0)
    assert taken is not None
    assert (taken.shape, taken.scale_s) == (2.0, 2.0 * DAY_S)
    by_few = hunched_priors(few, WIDE, 2.0, 2.0, True, now=T0)
    assert by_few is not None
    assert by_few.shape <= 2.0


@pytest.mark.parametrize(("n", "n_lucky"), [(12, 0), (60, 1)])
def test_hunches_that_tell_nothing_are_hardly_ever_heeded_by_luck(n: int, n_lucky: int) -> None:
    """Four draws of each would be, judged by the visits that they were fitted to; of the few one, if any gain
    were enough."""
    n_heeded = 0
    for draw in range(14):
        rng = np.random.default_rng(100 + draw)
        rates = np.exp(rng.normal(np.log(0.3), 1.3, n))
        told = visits(rates, DAY_S, 12, seed=draw)
        group = rng.integers(1, n // 6, n) if n > 12 else np.ones(n, dtype=np.int64)
        told = replace(
            told,
            group=group[told.id - 1],
            hunch_per_day=np.exp(rng.normal(np.log(0.5), 0.6, n))[told.id - 1],
        )
        plain = fitted(histories(told)[0], group)
        n_heeded += hunched_priors(told, plain, 0.9, 0.9, now=T0) is not None
    assert n_heeded <= n_lucky


def forecast_error(gamma: GammaFilter, rates: Floats, hunch: Floats | None) -> Floats:
    """Of ln(rate), for each."""
    ids, group = np.arange(1, len(rates) + 1), np.ones(len(rates), dtype=np.int64)
    a, b_s = gamma.state(ids, group, hunch)
    return np.asarray(np.abs(np.log(a / b_s * DAY_S / rates)))


def test_a_good_hunch_helps_at_once_and_a_useless_one_harms_nobody_later() -> None:
    """The prior of hunches is fitted to others of their kind: useless ones are not heeded, and poor ones are
    believed as little as they deserve."""
    n, gap_s = 1_500, DAY_S
    rng = np.random.default_rng(5)
    rates = np.exp(rng.normal(np.log(0.15), 1.2, n))
    good = rates * np.exp(rng.normal(0.0, 0.5, n))
    useless = rng.permutation(rates)
    others = visits(rates, gap_s, 20, seed=6)
    poor = rates * np.exp(rng.normal(0.0, 1.0, n))
    plain = fitted(histories(others)[0], np.ones(n, dtype=np.int64))
    errors = {}
    for name, hunch in (("none", None), ("good", good), ("poor", poor), ("useless", useless)):
        gamma, hunched = GammaFilter(), None
        if hunch is not None:
            told = replace(others, hunch_per_day=hunch[others.id - 1])
            hunched = hunched_priors(told, plain, 1.0, 1.0, now=T0)
        gamma.ground(replace(plain, hunched=hunched))
        first = forecast_error(gamma, rates, hunch).mean()
        told = visits(rates, gap_s, 10, seed=7)
        gamma.learn(told if hunch is None else replace(told, hunch_per_day=hunch[told.id - 1]))
        errors[name] = first, forecast_error(gamma, rates, hunch).mean()
    assert errors["good"][0] < 0.5 * errors["none"][0]
    assert errors["good"][1] < 0.9 * errors["none"][1]
    assert errors["poor"][1] < 1.01 * errors["none"][1]
    assert errors["useless"] == errors["none"]


def test_first_plans_with_a_good_hunch_are_nearer_to_those_of_whoever_knows_the_rates() -> None:
    n = 300
    rng = np.random.default_rng(10)
    rates = np.exp(rng.normal(np.log(0.3), 1.2, n))
    batch = Batch(
        id=np.arange(1, n + 1),
        weight=np.ones(n),
        min_gap_s=np.full(n, 600.0),
        max_gap_s=np.full(n, 400 * DAY_S),
        since_at=np.full(n, T0),
        gap_s=np.full(n, nan),
        n_informative=np.ones(n, dtype=np.int64),
        n_changes=np.zeros(n, dtype=np.int64),
        n_failures=np.zeros(n, dtype=np.int64),
        bits=np.zeros(n, dtype=np.uint64),
        hunch_per_day=rates * np.exp(rng.normal(0.0, 0.5, n)),
    )
    policy, price = Index(Fresh()), 0.2 * DAY_S
    known = policy.quote(batch, GammaForecasts(np.full(n, 1e4), 1e4 * DAY_S / rates)).gaps(price)
    followed = (known > 700.0) & (known < 300 * DAY_S)  # neither bounded nor given up
    assert followed.sum() > n // 2
    gamma = GammaFilter()
    plain = Priors(shape=0.7, scale_s=0.7 / float(rates.mean()) * DAY_S)
    off = []
    for priors in (plain, replace(plain, hunched=Priors(shape=3.0, scale_s=3.0 * DAY_S))):
        gamma.ground(priors)
        gaps_s = policy.quote(batch, gamma.forecast(batch, T0)).gaps(price)
        off.append(np.abs(np.log(gaps_s / known))[followed].mean())
    assert off[1] < 0.6 * off[0]
