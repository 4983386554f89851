"""What every policy must do. For plug-in authors: run each of `CHECKS` on a function that makes yours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from recrawl.checks.predictor import sample_batch, sample_visits
from recrawl.contracts import Divisible, Forecasts, Learner, Policy, Predictor

MakePolicy = Callable[[], Policy]


def sample_forecasts(predictor: Predictor, n: int) -> Forecasts:
    """Forecasts for `sample_batch(n)` after a few visits to each."""
    predictor.learn(sample_visits(n))
    return predictor.forecast(sample_batch(n), 2e9)


def check_gaps_stay_within_bounds(make: MakePolicy, predictor: Predictor) -> None:
    """At any price, free and infinite included."""
    batch = sample_batch(50)
    quote = make().quote(batch, sample_forecasts(predictor, 50))
    for price in (0.0, 1e-6, 1.0, 1e3, 1e6, 1e12, inf):
        gap_s = quote.gaps(price)
        assert gap_s.shape == (50,)
        assert (gap_s >= batch.min_gap_s * (1 - 1e-9)).all()
        assert (gap_s <= batch.max_gap_s * (1 + 1e-9)).all()


def check_never_sooner_when_dearer(make: MakePolicy, predictor: Predictor) -> None:
    quote = make().quote(sample_batch(50), sample_forecasts(predictor, 50))
    gaps = np.array([quote.gaps(price) for price in np.geomspace(1e-6, 1e12, 80)])
    assert (np.diff(gaps, axis=0) >= -1e-6 * gaps[1:]).all()


def check_quoting_is_pure(make: MakePolicy, predictor: Predictor) -> None:
    """The same question gets the same answer, whatever was asked between."""
    batch, policy = sample_batch(20), make()
    forecasts = sample_forecasts(predictor, 20)
    first = policy.quote(batch, forecasts).gaps(1.0)
    policy.quote(replace(batch, weight=batch.weight * 7.0), forecasts).gaps(100.0)
    assert np.array_equal(first, policy.quote(batch, forecasts).gaps(1.0))


def check_a_batch_is_its_rows(make: MakePolicy, predictor: Predictor) -> None:
    """A resource's gap does not depend on its company in the batch."""
    batch, policy = sample_batch(20), make()
    forecasts = sample_forecasts(predictor, 20)
    together = policy.quote(batch, forecasts).gaps(100.0)
    for row in range(20):
        only = np.array([row])
        alone = policy.quote(batch.pick(only), forecasts.pick(only)).gaps(100.0)
        assert np.allclose(alone, together[row])


def check_a_divisible_quote_is_its_rows(make: MakePolicy, predictor: Predictor) -> None:
    """One that answers for some of its rows says of them what it said with all of them, at prices of their
    own too."""
    quote = make().quote(sample_batch(20), sample_forecasts(predictor, 20))
    if not isinstance(quote, Divisible):
        return
    rows = np.array([17, 3, 3, 8])
    prices = np.geomspace(1.0, 1e4, 20)
    assert np.allclose(quote.pick(rows).gaps(100.0), quote.gaps(100.0)[rows])
    assert np.allclose(
        quote.pick(rows).pick(np.array([1, 0])).gaps(prices[[3, 17]]), quote.gaps(prices)[[3, 17]]
    )


def check_what_was_learned_is_quoted_until_more_is_learned(make: MakePolicy, predictor: Predictor) -> None:
    """A policy that remembers decides as it learns: quoting, at any price, decides nothing anew."""
    policy = make()
    if not isinstance(policy, Learner):
        return
    batch, forecasts = sample_batch(20), sample_forecasts(predictor, 20)
    policy.learn(sample_visits(20))
    before = policy.memory(batch.id).copy()
    first = policy.quote(batch, forecasts).gaps(1.0)
    for price in (0.0, 1.0, inf):
        policy.quote(batch, forecasts).gaps(price)
    assert np.array_equal(first, policy.quote(batch, forecasts).gaps(1.0))
    assert np.array_equal(before, policy.memory(batch.id))


def check_memory_carries_all_that_was_learned(make: MakePolicy, predictor: Predictor) -> None:
    """Memory put into a fresh policy makes it decide as the old one does, now and after more visits."""
    old, new = make(), make()
    if not isinstance(old, Learner) or not isinstance(new, Learner):
        return
    batch, forecasts = sample_batch(10), sample_forecasts(predictor, 10)
    old.learn(sample_visits(10))
    rows = old.memory(batch.id)
    assert rows.shape == (10, old.width)
    new.recall(batch.id, rows)
    for seed in (1, 2):
        assert np.array_equal(old.quote(batch, forecasts).gaps(1.0), new.quote(batch, forecasts).gaps(1.0))
        later = sample_visits(10, seed=seed)
        old.learn(later)
        new.learn(later)
    assert np.array_equal(old.memory(batch.id), new.memory(batch.id))


def check_visits_are_learned_one_by_one(make: MakePolicy, predictor: Predictor) -> None:  # noqa: ARG001
    """Learning visits together is learning them in the order of time, each resource by itself."""
    together, apart = make(), make()
    if not isinstance(together, Learner) or not isinstance(apart, Learner):
        return
    visits = sample_visits(6)
    together.learn(visits)
    for row in np.argsort(visits.at, kind="stable"):
        apart.learn(visits.pick(np.array([row])))
    ids = np.arange(1, 7)
    assert np.allclose(together.memory(ids), apart.memory(ids))


def check_no_memory_is_passed_over_and_a_blank_one_is_put_back(
    make: MakePolicy,
    predictor: Predictor,  # noqa: ARG001
) -> None:
    """Rows of NaN change nothing; what is known of a resource never seen is a row like any other."""
    policy = make()
    if not isinstance(policy, Learner):
        return
    ids = np.array([1, 2, 3])
    blank = policy.memory(ids).copy()
    assert np.isfinite(blank).all()
    policy.learn(sample_visits(3))
    learned = policy.memory(ids).copy()
    policy.recall(ids, np.full((3, policy.width), np.nan))
    assert np.array_equal(learned, policy.memory(ids))
    policy.recall(ids, blank)
    assert np.array_equal(blank, policy.memory(ids))


CHECKS = [
    check_gaps_stay_within_bounds,
    check_never_sooner_when_dearer,
    check_quoting_is_pure,
    check_a_batch_is_its_rows,
    check_a_divisible_quote_is_its_rows,
    check_what_was_learned_is_quoted_until_more_is_learned,
    check_memory_carries_all_that_was_learned,
    check_visits_are_learned_one_by_one,
    check_no_memory_is_passed_over_and_a_blank_one_is_put_back,
]
