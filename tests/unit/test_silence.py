"""Silences that a forecast cannot explain, and what may be behind them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.app.silence import behind
from recrawl.learn.credible import interval, mass_below, quantile
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.silence import firmness, n_quiet, p_quiet, silent
from recrawl.model import (
    DAY_S,
    SILENCE,
    Batch,
    Changed,
    Effective,
    Floats,
    Manner,
    Outcome,
    Resource,
    Seen,
    Standing,
    Version,
    Visit,
)
from recrawl.simulate.processes import Bursty, Law, Poisson

NOW = 1_700_000_000.0
DAYS = 80.0


def batch_of(changed: list[list[bool]], since_at: Floats) -> Batch:
    n = len(changed)
    bits = [sum(int(bit) << i for i, bit in enumerate(reversed(row[-64:]))) for row in changed]
    return Batch(
        id=np.arange(1, n + 1),
        weight=np.ones(n),
        min_gap_s=np.full(n, 900.0),
        max_gap_s=np.full(n, 180 * DAY_S),
        since_at=since_at,
        gap_s=np.full(n, DAY_S),
        n_informative=np.array([len(row) + 1 for row in changed]),
        n_changes=np.array([sum(row) for row in changed]),
        n_failures=np.zeros(n, dtype=np.int64),
        bits=np.array(bits, dtype=np.uint64),
    )


def seen_of(changed: list[list[bool]], at: list[Floats]) -> Seen:
    ids = np.concatenate([np.full(len(row), i + 1) for i, row in enumerate(changed)])
    return Seen(
        id=ids,
        since_at=np.concatenate([times[:-1] for times in at]),
        at=np.concatenate([times[1:] for times in at]),
        changed=np.concatenate([np.array(row, dtype=np.int8) for row in changed]),
        event_at=np.full(len(ids), np.nan),
    )


def world(law: Law, per_day: Floats, ended: Floats, seed: int) -> tuple[list[list[bool]], list[Floats]]:
    """Verdicts and times of visits at about the mean gap, of resources that change no more after `ended`."""
    rng = np.random.default_rng(seed)
    n = len(per_day)
    bounds, events = law.draw(np.zeros(n), np.full(n, DAYS * DAY_S), rng)
    changed, at = [], []
    for i in range(n):
        own = events[bounds[i] : bounds[i + 1]]
        gap_s = DAY_S / per_day[i]
        times = np.cumsum(gap_s * rng.uniform(0.6, 1.4, int(DAYS * per_day[i])))
        n_before = np.searchsorted(own[own < ended[i]], times)
        changed.append((np.diff(n_before) > 0).tolist())
        at.append(NOW + times)
    return changed, at


def test_quiet_visits_are_counted_from_the_newest_back() -> None:
    rows = [[True, False, False], [False, True], [False] * 70, [True, *[False] * 63], []]
    assert n_quiet(batch_of(rows, np.zeros(5))).tolist() == [2, 0, 64, 63, 0]


def test_what_was_believed_at_the_last_change_is_what_was_learned_up_to_it() -> None:
    rng = np.random.default_rng(3)
    changed = [[*(rng.random(25) < 0.6).tolist(), True, *[False] * n] for n in (0, 3, 18, 30)]
    at = [NOW + DAY_S * np.arange(len(row) + 1.0) for row in changed]
    batch = batch_of(changed, np.array([t[-1] for t in at]))
    whole = Rhythm(without=["rates", "habits", "calendar"])
    whole.learn(seen_of(changed, at))
    then = Rhythm(without=["rates", "habits", "calendar"])
    then.learn(seen_of([row[:26] for row in changed], [times[:27] for times in at]))
    a, b_s = then.state(batch.id, batch.group)
    now_a, _ = whole.state(batch.id, batch.group)
    shape, _ = whole.priors.of(batch.group)
    assert np.allclose(firmness(batch, now_a, shape, whole.forgetting), a)
    changed_at, p = whole.silences(batch, batch.since_at)
    assert changed_at.tolist() == [times[26] for times in at]
    length_s = batch.since_at - changed_at
    assert np.allclose(p, (b_s / (b_s + length_s)) ** a)
    assert silent(p).tolist() == [False, False, True, True]


def test_a_belief_that_has_faded_to_the_prior_is_taken_for_no_firmer_than_it_can_have_been() -> None:
    changed = [[*[True, False] * 20, True, *[False] * 80]]
    at = [NOW + DAY_S * np.arange(len(changed[0]) + 1.0)]
    whole, then = Rhythm(without=["rates", "habits"]), Rhythm(without=["rates", "habits"])
    whole.learn(seen_of(changed, at))
    then.learn(seen_of([changed[0][:41]], [at[0][:42]]))
    batch = batch_of(changed, at[0][-1:])
    a, shape = whole.state(batch.id, batch.group)[0], whole.priors.of(batch.group)[0]
    assert np.allclose(a, shape)
    exact = then.state(batch.id, batch.group)[0]
    found = firmness(batch, a, shape, whole.forgetting)
    assert 0.3 * exact < found <= exact
    assert silent(whole.silences(batch, batch.since_at)[1]).all()


@pytest.mark.parametrize("bursty", [False, True], ids=["poisson", "bursty"])
def test_few_of_the_living_are_called_silent_and_most_of_the_dead(bursty: bool) -> None:
    per_day = np.geomspace(0.25, 1.0, 100)
    dead = np.arange(100) % 10 == 0
    law = Bursty(per_day, branching=0.5, decay_s=DAY_S / 2) if bursty else Poisson(per_day)
    changed, at = world(law, per_day, np.where(dead, (DAYS - 24.0 / per_day) * DAY_S, np.inf), seed=4)
    rhythm, batch = Rhythm(), batch_of(changed, np.array([times[-1] for times in at]))
    rhythm.learn(seen_of(changed, at))
    found = silent(rhythm.silences(batch, batch.since_at)[1])
    assert found[~dead].sum() <= 4  # of 90; at 1 % it is one, give or take
    assert found[dead & (per_day > 0.4)].mean() > 0.5


def test_the_surer_a_rate_was_the_less_a_silence_is_explained() -> None:
    firm = np.array([1.0, 5.0, 1e6])
    p = p_quiet(firm, np.full(3, DAY_S), np.full(3, 4 * DAY_S))
    assert np.allclose(p, [1 / 5, (5 / 9) ** 5, np.exp(-4)], rtol=1e-4)


def test_bounds_of_a_rate_cut_off_what_they_say() -> None:
    for a in (0.05, 0.5, 3.0, 40.0):
        low, high = interval(a, 10.0, 0.9)
        assert mass_below(a, 10.0 * low) == pytest.approx(0.05)
        assert mass_below(a, 10.0 * high) == pytest.approx(0.95)
    assert quantile(1.0, 0.5) == pytest.approx(np.log(2.0))
    assert quantile(10.0, 0.95) == pytest.approx(15.70522)


URL = "http://a.example/"
CHANGE = Visit(fetch_id="1", resource_id=1, at=NOW, changed=Changed.YES, evidence="2 words added")
QUIET = replace(CHANGE, fetch_id="2", at=NOW + DAY_S, changed=Changed.NO, evidence="the same bytes")
FAILED = replace(QUIET, outcome=Outcome.NET_ERROR, changed=Changed.UNKNOWN, evidence="no such host")
GONE = Version(resource_id=1, seq=2, at=NOW, digest="", gone=True)
WALL = replace(SILENCE, disguise="login", disguised_at=NOW)
MISSED = replace(CHANGE, evidence="what is looked for is gone: nothing matches h1")
LOGIN = replace(CHANGE, evidence="a login page, and not for the first time: 9 words removed")


@pytest.mark.parametrize(
    ("standing", "visits", "cause", "words"),
    [
        (Standing(), [QUIET, CHANGE], "", "it has fallen silent"),
        (Standing(n_failures=2), [FAILED, QUIET, CHANGE], "", "it has fallen silent"),
        (Standing(n_failures=3), [FAILED, CHANGE], "failing", "last 3 visits told nothing: no such host"),
        (Standing(n_failures=3, noise=WALL, last_at=NOW + DAY_S), [FAILED], "disguised", "1 day its answers"),
        (Standing(), [QUIET, LOGIN], "disguised", "stands there since is a login page"),
        (Standing(version=GONE), [QUIET, CHANGE], "gone", "it is gone since 2023-11-14"),
        (Standing(moved_to="http://b.example/"), [QUIET, CHANGE], "moved", "moved to http://b.example/"),
        (Standing(), [QUIET, MISSED], "selector", "nothing matches h1"),
    ],
)
def test_what_may_be_behind_it_is_told_by_what_visits_show(
    standing: Standing, visits: list[Visit], cause: str, words: str
) -> None:
    effective = Effective(manner=Manner(include=("h1",)))
    resource = Resource(id=1, url=URL, host="a.example", host_id=1, added_at=NOW, effective=effective)
    found, told = behind(resource, standing, visits)
    assert found == cause
    assert words in told
