"""What every policy must do. For plug-in authors: run each of `CHECKS` on a function that makes yours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from recrawl.checks.predictor import sample_batch, sample_visits
from recrawl.contracts import Forecasts, Policy, Predictor

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


CHECKS = [
    check_gaps_stay_within_bounds,
    check_never_sooner_when_dearer,
    check_quoting_is_pure,
    check_a_batch_is_its_rows,
]
