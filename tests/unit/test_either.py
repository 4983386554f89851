"""Threads and pages in one home: each is forecast by its own predictor, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recrawl.app.build import open_house
from recrawl.app.config import load
from recrawl.app.relearning import relearn
from recrawl.checks.predictor import CHECKS, MakePredictor, sample_batch, sample_visits
from recrawl.contracts import Predictor, Store
from recrawl.finding import Finding
from recrawl.learn.parted import Parted
from recrawl.learn.predictors.either import Either
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.predictors.thread import Thread
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, Batch, Changed, Floats, NewResource, Outcome, Seen, Visit, unfolded
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh, Prompt
from recrawl.schedule.policies.index import Index

NOW = 1_700_000_000.0
N = 12  # the odd ones are threads


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_it_keeps_the_contract(check: Callable[[MakePredictor], None]) -> None:
    check(Either)


def visits() -> tuple[Seen, Seen]:
    """Of pages, and of threads that tell when somebody spoke."""
    plain = sample_visits(N)
    plain = replace(plain, group=1 + plain.id % 3)
    pages, rest = plain.pick(plain.id % 2 == 0), plain.pick(plain.id % 2 == 1)
    said = [
        np.linspace(since, at, 5)[1:-1] if changed else np.empty(0)
        for since, at, changed in zip(rest.since_at, rest.at, rest.changed, strict=True)
    ]
    return pages, unfolded(rest, said)


def together(*parts: Seen) -> Seen:
    names = ("id", "since_at", "at", "changed", "event_at", "group", "visit_at", "before_at")
    return Seen(**{name: np.concatenate([getattr(one, name) for one in parts]) for name in names})


def batch() -> Batch:
    return replace(sample_batch(N), group=1 + np.arange(1, N + 1) % 3, since_at=np.full(N, 1e9 + 90 * DAY_S))


def test_each_row_is_forecast_by_its_own_predictor() -> None:
    pages, threads = visits()
    either, rhythm, thread = Either(), Rhythm(), Thread()
    both = together(pages, threads)
    either.learn(both)
    rhythm.learn(both)
    thread.learn(threads.pick(threads.visit_at >= first_told(threads)))
    asked, now = batch(), 2e9
    known = either.thread.knows(asked.id)
    assert set(asked.id[known]) == set(threads.id[threads.momentary])
    assert 2 < known.sum() < N // 2 + 1
    made = either.forecast(asked, now)
    assert isinstance(made, Parted)
    for goal in (Fresh(), Prompt()):
        gaps = [
            Index(goal).quote(some, one).gaps(price)
            for some, one in (
                (asked, made),
                (asked.pick(~known), rhythm.forecast(asked.pick(~known), now)),
                (asked.pick(known), thread.forecast(asked.pick(known), now)),
            )
            for price in (1e3, 1e5)
        ]
        for whole, of_pages, of_threads in (gaps[::2], gaps[1::2]):
            assert np.allclose(whole[~known], of_pages)
            assert np.allclose(whole[known], of_threads)
    t_s = np.geomspace(60.0, 100 * DAY_S, 5)[:, None]
    rows = np.array([7, 2, 3, 10])
    for name in ("survival", "survival_integral", "survival_slope", "n_expected", "n_expected_integral"):
        found: Floats = getattr(made, name)(t_s)
        assert found.shape == (5, N)
        assert np.allclose(getattr(made.pick(rows), name)(t_s), found[:, rows])
    usual, month_s = made.usual, np.full(N, 30 * DAY_S)
    gamma = usual.gamma
    assert np.allclose(usual.with_gamma(gamma).survival(t_s), usual.survival(t_s))
    faster = usual.with_gamma(replace(gamma, b_s=gamma.b_s / 3.0))
    assert np.allclose(faster.n_expected(month_s), 3.0 * usual.n_expected(month_s))
    assert np.allclose(gamma.n_expected(month_s)[known], usual.n_expected(month_s)[known])


def first_told(seen: Seen) -> Floats:
    first_at = {
        one: seen.visit_at[(seen.id == one) & seen.momentary].min(initial=np.inf)
        for one in set(seen.id.tolist())
    }
    return np.array([first_at[one] for one in seen.id.tolist()])


def test_where_nobody_tells_of_moments_it_is_the_rhythm() -> None:
    either, rhythm = Either(), Rhythm()
    for one in (either, rhythm):
        one.learn(visits()[0])
    t_s = np.geomspace(60.0, 100 * DAY_S, 9)[:, None] * np.ones(N)
    found, usual = (one.forecast(batch(), 2e9).survival(t_s) for one in (either, rhythm))
    assert np.array_equal(found, usual)
    assert not either.thread.lore().any()


def look(loop: Loop, days: range, kept: Store) -> float:
    """At everything once a day; threads tell of two posts on every other day, and of their past at first."""
    at = NOW
    for day in days:
        for i in range(N):
            at = NOW + day * DAY_S + 60.0 * i
            (lease,) = kept.claim(now=at, limit=1, lease_s=60.0, only=i + 1)
            since_at = lease.standing.since_at
            first, changed = np.isnan(since_at), (day + i) % 2 == 0
            told = i % 2 == 0 and (first or changed)
            visit = Visit(
                fetch_id=f"{i}@{at}",
                resource_id=lease.resource.id,
                at=at,
                since_at=since_at,
                outcome=Outcome.OK,
                changed=Changed.UNKNOWN if first else Changed(changed),
                moments=(at - 5 * HOUR_S, at - 4 * HOUR_S) if told else (),
            )
            loop.absorb([Finding(lease=lease, visit=visit, gate_at=at)], at)
    return at


def loop_on(store: Store, predictor: Predictor) -> Loop:
    loop = Loop(store=store, predictor=predictor, policy=Index(Fresh()), rule="index:fresh", per_day=100.0)
    loop.start(NOW)
    return loop


def added(store: Store) -> Store:
    hosts = [f"h{i % 3}.example" for i in range(N)]
    store.add([NewResource(url=f"http://{host}/{i}", host=host) for i, host in enumerate(hosts)], NOW)
    return store


def expected(loop: Loop, now: float) -> Floats:
    asked, _ = loop.store.batch()
    return loop.predictor.forecast(asked, now).n_expected(
        np.geomspace(600.0, 30 * DAY_S, 4)[:, None] * np.ones(N)
    )


def test_pages_keep_no_more_than_they_did_and_a_restart_finds_both_again() -> None:
    store = added(MemoryStore())
    loop = loop_on(store, Either())
    at = look(loop, range(8), store)
    widths = {len(store.standing(i + 1)[0].memory) for i in range(N) if i % 2}
    assert widths == {1 + Rhythm.width}
    assert {len(store.standing(i + 1)[0].memory) for i in range(0, N, 2)} == {2 + Rhythm.width + Thread.width}
    loop.reprice(at)
    assert store.note("lore:Rhythm")
    assert store.note("lore:Thread")
    later = loop_on(store, Either())
    later.reprice(at)
    threads = np.arange(N) % 2 == 0
    assert np.allclose(expected(later, at)[:, threads], expected(loop, at)[:, threads])
    plain = loop_on(store, Rhythm())
    plain.reprice(at)
    assert np.allclose(expected(later, at)[:, ~threads], expected(plain, at)[:, ~threads])


def test_it_goes_on_from_what_the_rhythm_kept_and_back() -> None:
    store = added(MemoryStore())
    before = loop_on(store, Rhythm())
    at = look(before, range(6), store)
    before.reprice(at)
    ids = np.arange(1, N + 1)
    loop = loop_on(store, Either())
    loop.reprice(at)
    assert isinstance(loop.predictor, Either)
    assert np.array_equal(loop.predictor.rhythm.memory(ids), before.predictor.memory(ids), equal_nan=True)
    assert not loop.predictor.thread.knows(ids).any()  # until their next visits, or until all is learned anew
    at = look(loop, range(6, 8), store)
    loop.reprice(at)
    back = loop_on(store, Rhythm())
    back.reprice(at)
    assert np.array_equal(back.predictor.memory(ids), loop.predictor.rhythm.memory(ids), equal_nan=True)


def test_all_visits_learned_anew_give_the_same(tmp_path: Path) -> None:
    (tmp_path / "recrawl.toml").write_text('[schedule]\npredictor = "either"\n')
    with open_house(tmp_path, config=load(tmp_path)) as house:
        added(house.store)
        loop = house.loop()
        loop.start(NOW)
        at = look(loop, range(6), house.store)
        loop.finish()
        ids = np.arange(1, N + 1)
        rows = loop.predictor.memory(ids).copy()
        assert relearn(house).n_resources == N
        anew = house.loop()
        anew.start(at)
        anew.reprice(at)
        assert np.allclose(anew.predictor.memory(ids), rows, rtol=1e-9, equal_nan=True)
