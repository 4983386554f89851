"""Own time over columns, against the loop for one resource: calendar, habit and stirs together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.checks.predictor import sample_batch, sample_visits
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.beats import Beat, due_after_s, own_s
from recrawl.learn.rhythms.calendars import N_CELLS, WEEK_S, shown_at
from recrawl.learn.rhythms.forecasts import Rhythms
from recrawl.model import DAY_S, Floats

N = 60
TIMES = np.concatenate([[0.0], np.geomspace(60.0, 400 * DAY_S, 40)])


@pytest.fixture(scope="module")
def rhythm() -> Rhythm:
    """Of resources in groups of every sort: none, of one alone, of several that change together; with
    calendars in which hours are very unlike."""
    visits = sample_visits(N, n_each=40)
    group = np.where(visits.id == N, 8, visits.id % 6)
    together = (visits.at // (4 * DAY_S) + group) % 3 == 0
    predictor = Rhythm()
    predictor.learn(replace(visits, group=group, changed=together.astype(np.int8)))
    shown = predictor.common.calendars.shown
    hours = np.cumsum(np.random.default_rng(2).gamma(0.5, 1.0, (len(shown), N_CELLS)) + 0.01, axis=1)
    shown[:, 1:] = hours / hours[:, -1:] * WEEK_S
    return predictor


@pytest.fixture(scope="module")
def forecasts(rhythm: Rhythm) -> Rhythms:
    """Of those that were looked at long ago, or of late."""
    batch = sample_batch(N + 5, seed=3)
    visits = sample_visits(N, n_each=40)
    newest = np.array([visits.at[visits.id == i].max(initial=1e9) for i in batch.id.tolist()])
    since_at = np.where(batch.id % 7 == 0, newest - 30 * DAY_S, newest)
    known = np.where(batch.id == N, 8, batch.id % 6)
    return rhythm.rhythms(replace(batch, since_at=since_at, group=known))


def beats(rhythm: Rhythm, forecasts: Rhythms) -> list[Beat]:
    calendars = rhythm.common.calendars.shown[forecasts.slot + 1]
    shown = (
        [shown_at(calendar, moment_at) for calendar, moment_at in zip(calendars, at.tolist(), strict=True)]
        for at in (forecasts.since_at, forecasts.anchor_at)
    )
    rest = (forecasts.unit_s, forecasts.habit, forecasts.heed, forecasts.slot)
    return [Beat(*row) for row in zip(*shown, *(column.tolist() for column in rest), strict=True)]


def one_by_one(rhythm: Rhythm, forecasts: Rhythms) -> Floats:
    clocks = rhythm.common.calendars.shown
    return np.array(
        [
            [
                own_s(rhythm.habits, rhythm.stirs, beat, shown_at(clocks[beat.slot + 1], since_at + t_s))
                for beat, since_at in zip(beats(rhythm, forecasts), forecasts.since_at.tolist(), strict=True)
            ]
            for t_s in TIMES.tolist()
        ]
    )


def test_there_is_something_to_tell_apart(rhythm: Rhythm, forecasts: Rhythms) -> None:
    hours = np.diff(rhythm.common.calendars.shown[np.unique(forecasts.slot) + 1], axis=1)
    assert (hours.max(axis=1) / hours.min(axis=1) > 20.0).all()
    assert (forecasts.slot >= 0).any()
    assert (forecasts.slot < 0).any()
    rate = forecasts.stirs.rate[np.unique(forecasts.slot[forecasts.slot >= 0])]
    assert (rate < 0.5).any()
    assert (rate > 1.5).any()
    known = np.array([beat.since_at + TIMES for beat in beats(rhythm, forecasts)])
    cells = forecasts.stirs.first[forecasts.slot] * 900.0 * 2.0 ** forecasts.stirs.level[forecasts.slot]
    assert (known[forecasts.slot >= 0] < cells[forecasts.slot >= 0, None]).any()  # before all cells
    usual = forecasts.usual.own_s(TIMES[:, None] * np.ones(len(forecasts.slot)))
    assert np.abs(np.log(usual[1:] / one_by_one(rhythm, forecasts)[1:])).max() > 0.5


def test_as_much_own_time_passes(rhythm: Rhythm, forecasts: Rhythms) -> None:
    passed = forecasts.own_s(TIMES[:, None] * np.ones(len(forecasts.slot)))
    assert passed == pytest.approx(one_by_one(rhythm, forecasts), rel=1e-9, abs=1e-5)


def test_it_has_passed_at_the_same_time(rhythm: Rhythm, forecasts: Rhythms) -> None:
    most_s = np.full(len(forecasts.slot), 300 * DAY_S)
    wanted = np.geomspace(1.0, 100 * DAY_S, 30)[:, None] * np.ones(len(forecasts.slot))
    looped = [
        [
            due_after_s(rhythm.common, beat, since_at, own, most)
            for beat, since_at, own, most in zip(
                beats(rhythm, forecasts), forecasts.since_at.tolist(), row, most_s.tolist(), strict=True
            )
        ]
        for row in wanted.tolist()
    ]
    assert forecasts.real_s(wanted, most_s) == pytest.approx(np.array(looped), rel=1e-9, abs=2e-3)
    assert (forecasts.real_s(np.zeros(len(most_s)), most_s) < 1e-4).all()


def test_some_of_them_are_told_as_among_all(forecasts: Rhythms) -> None:
    rows = np.array([3, 40, 11])
    t_s = np.full(len(forecasts.slot), 3 * DAY_S)
    assert np.allclose(forecasts.pick(rows).own_s(t_s[rows]), forecasts.own_s(t_s)[rows], rtol=1e-14)
