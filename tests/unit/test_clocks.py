"""Own time over columns, against the loop for one resource."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.checks.predictor import sample_batch, sample_visits
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.forecasts import Rhythms
from recrawl.learn.rhythms.steps import Beat, own_s, real_s
from recrawl.model import DAY_S, Floats

N = 60
TIMES = np.concatenate([[0.0], np.geomspace(60.0, 400 * DAY_S, 40)])


@pytest.fixture(scope="module")
def forecasts() -> Rhythms:
    """Of resources in groups of every sort: none, of one alone, of several that change together; looked at
    long ago, or of late."""
    visits = sample_visits(N, n_each=20)
    group = np.where(visits.id == N, 8, visits.id % 6)
    together = (visits.at // (4 * DAY_S) + group) % 3 == 0
    predictor = Rhythm()
    predictor.learn(replace(visits, group=group, changed=together.astype(np.int8)))
    batch = sample_batch(N + 5, seed=3)
    newest = np.array([visits.at[visits.id == i].max(initial=1e9) for i in batch.id.tolist()])
    since_at = np.where(batch.id % 7 == 0, newest - 30 * DAY_S, newest)
    known = np.where(batch.id == N, 8, batch.id % 6)
    return predictor.forecast(replace(batch, since_at=since_at, group=known), 2e9)


def beats(forecasts: Rhythms) -> list[Beat]:
    columns = (forecasts.since_at, forecasts.anchor_at, forecasts.unit_s)
    rest = (forecasts.habit, forecasts.heed, forecasts.slot)
    return [Beat(*row) for row in zip(*(column.tolist() for column in (*columns, *rest)), strict=True)]


def one_by_one(forecasts: Rhythms) -> Floats:
    return np.array(
        [
            [own_s(forecasts.habits, forecasts.stirs, beat, beat.since_at + t_s) for beat in beats(forecasts)]
            for t_s in TIMES.tolist()
        ]
    )


def test_there_is_something_to_tell_apart(forecasts: Rhythms) -> None:
    assert (forecasts.slot >= 0).any()
    assert (forecasts.slot < 0).any()
    rate = forecasts.stirs.rate[np.unique(forecasts.slot[forecasts.slot >= 0])]
    assert (rate < 0.5).any()
    assert (rate > 1.5).any()
    known = np.array([beat.since_at + TIMES for beat in beats(forecasts)])
    cells = forecasts.stirs.first[forecasts.slot] * 900.0 * 2.0 ** forecasts.stirs.level[forecasts.slot]
    assert (known[forecasts.slot >= 0] < cells[forecasts.slot >= 0, None]).any()  # before all cells
    usual = forecasts.usual.own_s(TIMES[:, None] * np.ones(len(forecasts.slot)))
    assert np.abs(np.log(usual[1:] / one_by_one(forecasts)[1:])).max() > 0.5


def test_as_much_own_time_passes(forecasts: Rhythms) -> None:
    passed = forecasts.own_s(TIMES[:, None] * np.ones(len(forecasts.slot)))
    assert passed == pytest.approx(one_by_one(forecasts), rel=1e-9, abs=1e-5)


def test_it_has_passed_at_the_same_time(forecasts: Rhythms) -> None:
    most_s = np.full(len(forecasts.slot), 300 * DAY_S)
    wanted = np.geomspace(1.0, 100 * DAY_S, 30)[:, None] * np.ones(len(forecasts.slot))
    looped = [
        [
            real_s(forecasts.habits, forecasts.stirs, beat, own, most)
            for beat, own, most in zip(beats(forecasts), row, most_s.tolist(), strict=True)
        ]
        for row in wanted.tolist()
    ]
    assert forecasts.real_s(wanted, most_s) == pytest.approx(np.array(looped), rel=1e-9, abs=2e-3)
    assert (forecasts.real_s(np.zeros(len(most_s)), most_s) < 1e-6).all()


def test_some_of_them_are_told_as_among_all(forecasts: Rhythms) -> None:
    rows = np.array([3, 40, 11])
    t_s = np.full(len(forecasts.slot), 3 * DAY_S)
    assert np.allclose(forecasts.pick(rows).own_s(t_s[rows]), forecasts.own_s(t_s)[rows], rtol=1e-14)
