from __future__ import annotations

import json

import numpy as np
import pytest

from recrawl.learn.histories import Histories
from recrawl.learn.hunches import BANDS, Fit, Hunched
from recrawl.learn.priors import fitted, foretold, scaled
from recrawl.learn.sights.splits import by_resource
from recrawl.model import DAY_S, Floats, Ints, Priors

FIT = Fit(shape=0.5, scale_days=0.5)


def visited(per_day: Floats, n_visits: int, rng: np.random.Generator) -> Histories:
    """Daily visits of pages with these rates."""
    n = len(per_day)
    row = np.repeat(np.arange(n), n_visits)
    return Histories(
        n=n,
        row=row,
        gap_s=np.full(len(row), DAY_S),
        changed=rng.random(len(row)) < -np.expm1(-per_day[row]),
        after_s=np.full(len(row), np.nan),
    )


def pages(spreads: tuple[float, float], n: int = 600, seed: int = 1) -> tuple[Histories, Floats, Floats]:
    """Half look fast and half slow; how far rates lie from looks, as a spread of their logarithms."""
    rng = np.random.default_rng(seed)
    slow = np.arange(n) % 2
    hunch = np.where(slow == 1, 0.02, 0.8) * np.exp(0.3 * rng.standard_normal(n))
    per_day = hunch * np.exp(np.where(slow == 1, spreads[1], spreads[0]) * rng.standard_normal(n))
    return visited(per_day, 40, rng), hunch, per_day


def nobody(n: int) -> Ints:
    return np.zeros(n, dtype=np.int64)


def test_hunches_that_are_surer_have_firmer_priors() -> None:
    seen, hunch, _ = pages((0.1, 2.5))
    some = Hunched.of(seen, nobody(seen.n), hunch)
    n_bands, told = FIT.banded(some, by_resource(seen.n, 2))
    assert n_bands > 1
    bent = FIT.about(some, n_bands)
    shape, _ = bent.about(nobody(2), np.array([0.8, 0.02]))
    assert shape[0] > 4 * shape[1]
    even = FIT.banded(some, by_resource(seen.n, 2), (1,))[1]
    assert told.sum() > even.sum() + 20.0
    fresh, new_hunch, _ = pages((0.1, 2.5), seed=2)  # and of pages that nobody has fitted anything to
    given = [
        foretold(fresh, *Priors(shape=1.0, scale_s=1.0, hunched=one).of(nobody(600), new_hunch)).sum()
        for one in (bent, FIT.about(some))
    ]
    assert given[0] > given[1] + 20.0


def test_hunches_that_are_all_as_sure_have_one_prior_in_multiples() -> None:
    seen, hunch, _ = pages((0.8, 0.8))
    some = Hunched.of(seen, nobody(seen.n), hunch)
    assert FIT.banded(some, by_resource(seen.n, 2))[0] == BANDS[0] == 1
    found = FIT.about(some)
    assert not len(found.bends)
    assert found.shape == fitted(scaled(seen, hunch), nobody(seen.n), shape=0.5, scale_days=0.5).shape


def test_hunches_that_are_all_the_same_are_not_bent() -> None:
    seen, _, _ = pages((0.1, 2.5), n=200)
    some = Hunched.of(seen, nobody(200), np.full(200, 0.1))
    assert not len(FIT.about(some, 8).bends)
    none = visited(np.empty(0), 0, np.random.default_rng(1))
    nothing = Hunched.of(none, nobody(0), np.empty(0))
    assert FIT.about(nothing).shape == 0.5


def test_a_group_that_changes_oftener_than_it_looks_has_its_own_mean_in_every_band() -> None:
    rng = np.random.default_rng(3)
    _, hunch, per_day = pages((0.1, 2.0))
    group = np.where(np.arange(600) < 60, 7, 8).astype(np.int64)
    seen = visited(np.where(group == 7, 6.0, 1.0) * per_day, 40, rng)
    bent = FIT.about(Hunched.of(seen, group, hunch), 3)
    of_7, of_8 = (bent.about(np.full(2, one), np.array([0.8, 0.02])) for one in (7, 8))
    assert len(bent.bends) == 3
    assert np.all(of_7[0] / of_7[1] > 2.0 * of_8[0] / of_8[1])
    np.testing.assert_allclose(of_7[0], of_8[0])


def test_priors_are_never_firmer_than_they_may_be() -> None:
    seen, hunch, _ = pages((0.1, 0.1))
    some = Hunched.of(seen, nobody(seen.n), hunch)
    assert FIT.about(some).shape > 0.7
    timid = Fit(shape=0.5, scale_days=0.5, firmest=0.3).about(some)
    assert timid.shape == pytest.approx(0.3)
    assert timid.shape / timid.scale_s == pytest.approx(FIT.about(some).shape / FIT.about(some).scale_s)


def test_bends_are_written_and_read_and_go_evenly_from_hunch_to_hunch() -> None:
    bends = np.array([[0.01, 0.5, 1.0], [1.0, 2.0, 4.0]])
    priors = Priors(shape=0.4, scale_s=DAY_S, hunched=Priors(shape=0.6, scale_s=0.6 * DAY_S, bends=bends))
    for one in (priors, Priors.read(priors.written())):
        shape, scale_s = one.of(nobody(5), np.array([0.001, 0.01, 0.1, 1.0, np.nan]))
        np.testing.assert_allclose(shape, [0.3, 0.3, 0.6, 1.2, 0.4])
        np.testing.assert_allclose(shape / scale_s * DAY_S, [0.001, 0.01, 0.2, 4.0, 0.4])
    old = json.loads(priors.written())
    del old["bends"], old["hunched"]["bends"]  # as they were noted before there were any
    assert Priors.read(json.dumps(old)).of(nobody(1), np.array([0.1]))[0] == pytest.approx(0.6)
