"""What is made of resources that a source has told of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.checks.predictor import sample_batch, sample_visits
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.told import Told
from recrawl.model import DAY_S, HOUR_S, Batch, Floats, Seen
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index

N = 30
TRUE, FALSE = 1001, 1002  # sources
NOW = 2e9


def told_visits(
    n_each: int = 40, *, changes_told: float = 1.0, false_told: float = 0.0, seed: int = 4, by: int = TRUE
) -> Seen:
    """Of resources that change every eighth day or so; who told, of which share of the changes, and of how
    many visits where there was none."""
    rng = np.random.default_rng(seed)
    seen = sample_visits(N, n_each=n_each, seed=seed)
    changed = rng.random(len(seen)) < 0.2
    told = rng.random(len(seen)) < np.where(changed, changes_told, false_told)
    told_at = np.where(told, seen.at - 0.1 * (seen.at - seen.since_at), np.nan)
    return replace(
        seen, changed=changed.astype(np.int8), told_at=told_at, told_by=np.where(told, by, 0).astype(np.int64)
    )


def batch(by: int | None = None, after_s: float = 2 * HOUR_S) -> Batch:
    found = replace(sample_batch(N), since_at=np.full(N, NOW - DAY_S))
    if by is None:
        return found
    return replace(found, told_at=np.full(N, NOW - DAY_S + after_s), told_by=np.full(N, by))


def taught(*seen: Seen) -> Rhythm:
    rhythm = Rhythm()
    for visits in seen:
        rhythm.learn(visits)
    return rhythm


def grid(until_s: float, n: int = 9) -> Floats:
    return np.linspace(0.0, until_s, n)[:, None] * np.ones(N)


def test_a_source_that_is_right_is_believed_and_one_that_lies_is_not() -> None:
    rhythm = taught(told_visits(), told_visits(changes_told=0.3, false_told=0.3, seed=5, by=FALSE))
    t_s = np.full(N, DAY_S)
    untold = rhythm.forecast(batch(), NOW).survival(t_s)
    by_true = rhythm.forecast(batch(TRUE), NOW).survival(t_s)
    by_false = rhythm.forecast(batch(FALSE), NOW).survival(t_s)
    assert (by_true < 0.1 * untold).all()
    assert (by_false > 0.8 * untold).all()


def test_before_the_telling_all_is_as_it_was() -> None:
    rhythm = taught(told_visits())
    told, untold = rhythm.forecast(batch(TRUE), NOW), rhythm.forecast(batch(), NOW)
    early_s = grid(1.99 * HOUR_S)
    for name in ("survival", "survival_integral", "survival_slope", "n_expected", "n_expected_integral"):
        assert getattr(told, name)(early_s) == pytest.approx(getattr(untold, name)(early_s), rel=1e-12)


def test_integrals_belong_to_their_curves() -> None:
    rhythm = taught(told_visits(changes_told=0.7, false_told=0.1))
    told = rhythm.forecast(batch(TRUE), NOW)
    assert isinstance(told, Told)
    until_s, n = 2 * DAY_S, 40_000
    middle_s = (np.arange(n) + 0.5)[:, None] * until_s / n * np.ones(N)
    for curve, whole in (("survival", "survival_integral"), ("n_expected", "n_expected_integral")):
        summed = getattr(told, curve)(middle_s).sum(axis=0) * until_s / n
        assert getattr(told, whole)(np.full(N, until_s)) == pytest.approx(summed, rel=1e-3)
    assert (np.diff(told.survival(grid(until_s, 200)), axis=0) <= 1e-12).all()
    rows = np.array([3, 17])
    t_s = np.full(N, DAY_S)
    assert np.allclose(told.pick(rows).survival(t_s[rows]), told.survival(t_s)[rows])


def test_whoever_was_told_of_is_due_at_once_and_nobody_is_due_later_for_it() -> None:
    rhythm = taught(told_visits())
    asked = batch(TRUE)
    quote = Index(Fresh()).quote(asked, rhythm.forecast(asked, NOW))
    plain = Index(Fresh()).quote(batch(), rhythm.forecast(batch(), NOW))
    for price in np.geomspace(1e2, 1e5, 8).tolist():
        assert (quote.gaps(price) <= plain.gaps(price) + 1e-6).all()
    gap_s = quote.gaps(1e4)
    assert gap_s == pytest.approx(np.clip(2 * HOUR_S, asked.min_gap_s, asked.max_gap_s), rel=1e-6)


def test_changes_that_were_told_of_do_not_make_a_resource_restless() -> None:
    """What is left to find without a telling is what visits are planned for."""
    told = taught(told_visits())
    silent = taught(
        replace(told_visits(), told_at=np.full(N * 40, np.nan), told_by=np.zeros(N * 40, dtype=np.int64))
    )
    ids = np.arange(1, N + 1)
    group = np.zeros(N, dtype=np.int64)
    rate = [np.divide(*rhythm.state(ids, group)) for rhythm in (told, silent)]
    assert np.median(rate[0]) < 0.3 * np.median(rate[1])


def test_who_overhears_believes_as_those_who_learned() -> None:
    seen = told_visits(changes_told=0.6, false_told=0.05)
    rhythm, deaf = taught(seen), Rhythm()
    deaf.recall(np.arange(1, N + 1), rhythm.memory(np.arange(1, N + 1)))
    deaf.overhear(seen)
    t_s = np.full(N, DAY_S)
    told, heard = (one.forecast(batch(TRUE), NOW) for one in (rhythm, deaf))
    assert isinstance(told, Told)
    assert isinstance(heard, Told)
    assert heard.belief == pytest.approx(told.belief, abs=0.1)
    assert heard.survival(t_s) == pytest.approx(told.survival(t_s), abs=0.1)


def test_signals_can_be_left_out() -> None:
    rhythm = Rhythm(without=("signals",))
    rhythm.learn(told_visits())
    assert not isinstance(rhythm.forecast(batch(TRUE), NOW), Told)


def test_nobody_knows_of_a_telling_that_is_still_to_come() -> None:
    rhythm = taught(told_visits())
    asked = batch(TRUE)
    assert not isinstance(rhythm.forecast(asked, NOW - DAY_S), Told)
