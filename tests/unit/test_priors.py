"""Priors fitted to what was seen: known ones are found again, and few data lead nowhere far."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

from recrawl.learn.histories import Histories
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.priors import (
    _PER_DAY,
    MAX_GROUPS,
    _coarse,
    _grid,
    _weights,
    digamma,
    doubted,
    fitted,
    likelihoods,
)
from recrawl.model import DAY_S, Floats, Ints, Priors, Seen


def drawn(per_day: Floats, n_each: int, rng: np.random.Generator) -> Histories:
    row = np.repeat(np.arange(len(per_day)), n_each)
    gap = rng.exponential(1.0, len(row))
    changed = rng.random(len(row)) < -np.expm1(-per_day[row] * gap)
    return Histories(
        n=len(per_day), row=row, gap_s=gap * DAY_S, changed=changed, after_s=np.full(len(row), np.nan)
    )


def none(n: int) -> Ints:
    return np.zeros(n, dtype=np.int64)


@pytest.mark.parametrize(("shape", "scale"), [(0.4, 4.0), (1.5, 6.0), (3.0, 60.0)])
def test_a_known_prior_is_found_again(shape: float, scale: float) -> None:
    rng = np.random.default_rng(2)
    priors = fitted(drawn(rng.gamma(shape, 1.0 / scale, 2_000), 12, rng), none(2_000))
    assert priors.shape == pytest.approx(shape, rel=0.25)
    assert priors.shape / priors.scale_s * DAY_S == pytest.approx(shape / scale, rel=0.1)
    assert priors.n_resources == 2_000


def test_few_data_leave_the_default_and_more_lead_away_from_it() -> None:
    rng = np.random.default_rng(3)
    means = []
    for n in (0, 1, 4, 40, 400):
        priors = fitted(drawn(np.linspace(0.5, 1.5, n), 6, rng), none(n))
        means.append(priors.shape / priors.scale_s * DAY_S)
        assert not len(priors.group)
    assert means[0] == pytest.approx(0.05)
    assert means[0] < means[1] < means[2] < 1.5
    assert means[1] / means[2] > 0.25  # one resource leads far, but not all the way
    assert means[3:] == pytest.approx([1.0, 1.0], rel=0.2)


def test_what_tells_next_to_nothing_leaves_the_default() -> None:
    seen = Histories(
        n=1,
        row=none(1),
        gap_s=np.array([60.0]),
        changed=np.array([False]),
        after_s=np.array([np.nan]),
    )
    priors = fitted(seen, none(1), shape=2.0, scale_days=4.0)
    assert priors.shape == pytest.approx(2.0, rel=0.1)
    assert priors.scale_s == pytest.approx(4.0 * DAY_S, rel=0.1)


@pytest.mark.parametrize(("shape", "mean"), [(0.15, 0.005), (1.0, 0.1), (8.0, 3.0)])
def test_a_prior_lies_on_the_rates_as_a_gamma_does(shape: float, mean: float) -> None:
    weights = _weights(_grid(np.log([shape]), np.log([mean])))[:, 0]
    edges = _PER_DAY * np.exp(0.075)
    assert np.cumsum(weights) == pytest.approx(stats.gamma.cdf(edges, shape, scale=mean / shape), abs=5e-3)


def test_the_probability_of_what_was_seen_is_that_of_the_integral() -> None:
    """What the fit maximises, for one resource and one prior, against adaptive quadrature."""
    rng = np.random.default_rng(4)
    seen = drawn(np.array([0.3]), 12, rng)
    shape, scale = 0.8, 5.0
    grid = np.exp(np.arange(np.log(1e-6), np.log(1e4), 0.1)) / DAY_S
    weight = stats.gamma.pdf(grid * DAY_S, shape, scale=1 / scale) * grid * DAY_S * 0.1
    ours = np.exp(likelihoods(seen, grid)[0]) @ weight

    def density(rate: float) -> float:
        gap = seen.gap_s / DAY_S
        told = np.where(seen.changed, -np.expm1(-rate * gap), np.exp(-rate * gap)).prod()
        return float(told * stats.gamma.pdf(rate, shape, scale=1 / scale))

    assert ours == pytest.approx(integrate.quad(density, 0.0, 20.0, limit=200)[0], rel=1e-4)


def test_groups_get_their_own_and_small_ones_lean_on_the_whole() -> None:
    rng = np.random.default_rng(5)
    means = np.array([0.02, 0.1, 0.5, 2.0] * 5)
    sizes = np.array([60] * 19 + [2])
    group = np.repeat(np.arange(1, 21), sizes)
    per_day = rng.gamma(2.0, means[group - 1] / 2.0)
    per_day[-2:] = 0.02  # the small one: against its name, slow
    seen = drawn(per_day, 4, rng)
    priors = fitted(seen, group)
    shapes, scales_s = priors.of(np.arange(1, 21))
    found = shapes / scales_s * DAY_S
    assert np.abs(np.log(found[:19] / means[:19])).max() < 0.7
    whole = priors.shape / priors.scale_s * DAY_S
    assert 0.02 < found[19] < whole
    assert shapes[:19].min() > 1.3 * priors.shape  # those of a group are more alike than all are
    shape, scale_s = priors.of(np.array([0, 99]))
    assert shape.tolist() == [priors.shape] * 2
    assert scale_s.tolist() == [priors.scale_s] * 2


def test_sums_that_leave_out_what_is_faint_are_the_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(1, 13), 40)
    # groups so far apart, and so sure of it, that narrow bells lie nowhere near most of them
    per_day = rng.gamma(4.0, np.geomspace(1e-3, 8.0, 12)[group - 1] / 4.0)
    seen = drawn(per_day, 60, rng)
    quick = fitted(seen, group)
    monkeypatch.setattr("recrawl.learn.priors._FAR", np.inf)  # everything is summed whole
    whole = fitted(seen, group)
    assert quick.shapes == pytest.approx(whole.shapes, rel=1e-9)
    assert quick.scales_s == pytest.approx(whole.scales_s, rel=1e-9)


def test_what_every_fit_begins_with_is_as_if_made_anew_and_stays_so() -> None:
    tried, weights = _coarse()
    assert np.array_equal(weights, _weights(tried))
    for column in (tried.log_shape, tried.log_mean, weights):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0.0


def test_groups_that_are_no_different_get_the_prior_of_the_whole() -> None:
    rng = np.random.default_rng(6)
    group = np.repeat(np.arange(1, 41), 25)
    priors = fitted(drawn(rng.gamma(1.0, 0.2, 1_000), 8, rng), group)
    found = priors.shapes / priors.scales_s
    assert np.abs(np.log(found * priors.scale_s / priors.shape)).max() < 0.25
    assert np.median(np.abs(np.log(priors.shapes / priors.shape))) < 0.2


def test_only_those_that_told_most_have_their_own() -> None:
    rng = np.random.default_rng(7)
    sizes = np.array([2] * MAX_GROUPS + [3, 1])
    group = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    priors = fitted(drawn(rng.gamma(1.0, 0.2, len(group)), 2, rng), group)
    assert len(priors.group) == MAX_GROUPS
    assert MAX_GROUPS + 1 in priors.group
    assert MAX_GROUPS + 2 not in priors.group  # one resource is no group
    assert (np.diff(priors.group) > 0).all()


def test_priors_come_back_as_they_were_noted() -> None:
    priors = Priors(
        shape=0.7,
        scale_s=1.5e5,
        group=np.array([3, 8]),
        shapes=np.array([1.25, 2.5]),
        scales_s=np.array([100.5, 7.0]),
        n_resources=9,
        fitted_at=1e9,
    )
    back = Priors.read(priors.written())
    for name in ("shape", "scale_s", "n_resources", "fitted_at"):
        assert getattr(back, name) == getattr(priors, name)
    assert [column.tolist() for column in back.of(np.array([8, 1, 3]))] == [
        [2.5, 0.7, 1.25],
        [7.0, 1.5e5, 100.5],
    ]


def test_an_exchanged_prior_moves_a_resource_by_what_it_owes_to_it() -> None:
    gap_s = np.full(30, DAY_S)
    at = 1e9 + np.cumsum(gap_s)
    seen = Seen(
        id=np.ones(30, dtype=np.int64),
        since_at=at - gap_s,
        at=at,
        changed=np.tile([1, 0, 0], 10).astype(np.int8),
        event_at=np.full(30, np.nan),
        group=np.full(30, 4),
    )
    new = Priors(
        shape=0.5, scale_s=DAY_S, group=np.array([4]), shapes=np.array([3.0]), scales_s=np.array([2.0])
    )
    moved = []
    for n in (0, 1, 30):
        gamma = GammaFilter()
        gamma.learn(seen.pick(np.arange(n)))
        row = gamma.memory(np.array([1])).copy()
        before = np.array(gamma.state(np.array([1]), np.array([4])))[:, 0]
        gamma.ground(new)
        after = np.array(gamma.state(np.array([1]), np.array([4])))[:, 0]
        assert np.array_equal(gamma.memory(np.array([1])), row)
        share = row[0, 2]
        assert after - before == pytest.approx(share * np.array([3.0 - 0.5, 2.0 - 10 * DAY_S]))
        moved.append(share)
    assert moved[0] == 1.0
    assert moved[1] == 1.0  # nothing to forget yet
    assert moved[2] < 0.6


def test_thedigamma_is_that_of_others() -> None:
    x = np.geomspace(0.01, 50.0, 200)
    assert digamma(x) == pytest.approx(special.digamma(x), abs=1e-8)


def test_a_doubted_prior_has_the_mean_and_the_mean_logarithm_of_both() -> None:
    found = Priors(
        shape=0.2,
        scale_s=200 * DAY_S,
        group=np.array([3, 5]),
        shapes=np.array([4.0, 0.5]),
        scales_s=np.array([400.0, 10.0]) * DAY_S,
        n_resources=9,
        fitted_at=7.0,
    )
    mixed = doubted(found, 0.3)
    for group, shape, scale in ((0, 0.2, 200.0), (3, 4.0, 400.0), (5, 0.5, 10.0)):
        a, b_s = (float(one[0]) for one in mixed.of(np.array([group])))
        assert a / b_s * DAY_S == pytest.approx(0.7 * shape / scale + 0.3 * 0.05)
        logs = 0.7 * (special.digamma(shape) - np.log(scale)) + 0.3 * (special.digamma(0.5) - np.log(10.0))
        assert special.digamma(a) - np.log(b_s / DAY_S) == pytest.approx(logs, rel=1e-6)
    assert (mixed.n_resources, mixed.fitted_at) == (9, 7.0)
    assert (mixed.shapes[1], mixed.scales_s[1]) == pytest.approx((0.5, 10 * DAY_S))  # as the default is


def test_who_is_not_doubted_stays_and_who_is_altogether_is_the_default() -> None:
    found = Priors(shape=0.2, scale_s=200 * DAY_S)
    assert (doubted(found, 0.0).shape, doubted(found, 0.0).scale_s) == pytest.approx((0.2, 200 * DAY_S))
    assert (doubted(found, 1.0).shape, doubted(found, 1.0).scale_s) == pytest.approx((0.5, 10 * DAY_S))
