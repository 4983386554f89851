"""Priors of a replay: fitted to the visits that it has made so far, and to nothing else."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from recrawl.errors import UnknownPartError
from recrawl.evaluate.contenders import GROUNDS, contender
from recrawl.evaluate.grounding import fits, told
from recrawl.evaluate.measures import measure
from recrawl.evaluate.protocol import FIRST_GAP_S, Window
from recrawl.grounds import N_NEWEST
from recrawl.learn.priors import SCALE_DAYS, SHAPE
from recrawl.model import DAY_S, HOUR_S, Floats, Ints
from recrawl.simulate.traces import Traces, Visits

START_AT = 1.7e9


def traces_of(at: list[Floats], host: Ints | None = None) -> Traces:
    sizes = [len(one) for one in at]
    return Traces(
        born_at=np.full(len(at), START_AT - DAY_S),
        bounds=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        at=np.concatenate(at),
        digest=np.zeros(sum(sizes), dtype=np.uint64),
        first_digest=np.zeros(len(at), dtype=np.uint64),
        host=np.zeros(len(at), dtype=np.int64) if host is None else host,
        weight=np.ones(len(at)),
    )


def visits_of(at: list[Floats]) -> Visits:
    bounds = np.concatenate([[0], np.cumsum([len(one) for one in at])]).astype(np.int64)
    return Visits(bounds=bounds, at=np.concatenate(at))


def window_of(n: int, days: float) -> Window:
    first_gap_s = FIRST_GAP_S * np.random.default_rng(5).random(n)
    return Window(
        start_at=START_AT, end_at=START_AT + days * DAY_S, rows=np.arange(n), first_gap_s=first_gap_s
    )


def test_what_visits_told_is_read_off_the_histories() -> None:
    rng = np.random.default_rng(1)
    changes = [np.sort(START_AT + DAY_S * rng.uniform(-5, 40, n)) for n in (0, 3, 60, 0, 9)]
    visits = [np.sort(START_AT + DAY_S * rng.uniform(0, 40, n)) for n in (4, 1, 90, 0, 33)]
    rows = np.array([0, 2, 4, 1])
    seen = told(traces_of(changes), visits_of(visits), rows, START_AT)
    assert seen.n == len(rows)
    for place, row in enumerate(rows.tolist()):
        edges = np.concatenate([[START_AT], visits[row]])
        n_between = [int(((changes[row] > a) & (changes[row] <= b)).sum()) for a, b in pairwise(edges)]
        own = seen.row == place
        assert seen.changed[own].tolist() == [n > 0 for n in n_between][-N_NEWEST:]
        assert seen.gap_s[own] == pytest.approx(np.diff(edges)[-N_NEWEST:])
    assert not seen.timed.any()


def test_before_anything_was_visited_the_prior_is_the_default() -> None:
    traces = traces_of([np.array([START_AT + DAY_S])])
    priors = fits(traces, window_of(1, 30.0)).fit(visits_of([np.empty(0)]))
    assert (priors.shape, priors.scale_s) == (SHAPE, SCALE_DAYS * DAY_S)


def test_priors_are_fitted_ever_more_seldom_until_the_window_ends() -> None:
    times = fits(traces_of([np.empty(0)]), window_of(1, 100.0)).at
    days = [(at - START_AT) / DAY_S for at in times]
    assert days == pytest.approx([1.0, 3.0, 9.0, 27.0, 81.0, 243.0])


def test_the_future_is_not_in_them() -> None:
    """Changes after the last visit leave the priors as they are."""
    rng = np.random.default_rng(3)
    visits = [START_AT + DAY_S * np.arange(1.0, 10.0) for _ in range(20)]
    early = [np.sort(START_AT + 9 * DAY_S * rng.random(4)) for _ in range(20)]
    late = [np.append(at, START_AT + DAY_S * np.linspace(9.5, 90.0, 40)) for at in early]
    found = [
        fits(traces_of(at), window_of(20, 100.0)).fit(visits_of(visits)).written() for at in (early, late)
    ]
    assert found[0] == found[1]


def test_who_is_fast_is_taken_for_fast_sooner() -> None:
    """Pages that change all day, beside the default of a change in twenty days: at equal visits more changes
    are told apart than by whoever learns of each page from that page alone."""
    rng = np.random.default_rng(4)
    n, days = 60, 20.0
    per_day = rng.choice([1.0, 10.0], n)
    changes = [np.sort(START_AT + days * DAY_S * rng.random(rng.poisson(days * rate))) for rate in per_day]
    traces, window = traces_of(changes, np.arange(n)), window_of(n, days)
    recall = {}
    for without in ((), (GROUNDS,)):
        one = contender("index", goal="capture", min_gap_s=2 * HOUR_S, max_gap_s=180 * DAY_S, without=without)
        visits = one.visits(traces, window, n_visits=4_000)
        assert len(visits) == pytest.approx(4_000, rel=0.01)
        recall[without] = measure(traces, visits, window).total().recall
    assert recall[()] > 1.05 * recall[GROUNDS,]


def test_they_are_left_out_by_name_beside_parts_of_the_rhythm() -> None:
    contender("index", min_gap_s=DAY_S, max_gap_s=DAY_S, without=("habits", GROUNDS))
    with pytest.raises(UnknownPartError, match="no part called 'moods'"):
        contender("index", min_gap_s=DAY_S, max_gap_s=DAY_S, without=("moods", GROUNDS))
