"""Kin that tell: what they say, how far they are believed, and what comes of it."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from recrawl.contracts import Goal
from recrawl.learn.kin.visits import kin_of_visits
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.kin import (
    K,
    Ties,
    all_told_by_kin,
    believed_kin,
    check_kin,
    first_told_at,
    more_ties,
    no_ties,
    see_kin,
    tied,
    told_by_kin,
)
from recrawl.learn.rhythms.told import Told
from recrawl.model import DAY_S, Batch, Floats, KinTable, Seen
from recrawl.schedule.goals import Fresh, Prompt
from recrawl.schedule.policies.index import Index

T0 = 1_700_000_000.0


def table(*pairs: tuple[int, int, float]) -> KinTable:
    ids, of, weight = zip(*pairs, strict=True)
    return KinTable(id=np.array(ids), of=np.array(of), weight=np.array(weight))


def ties_of(*pairs: tuple[int, int, float]) -> Ties:
    return tied(no_ties(9), table(*pairs))


def test_who_was_seen_to_change_since_tells() -> None:
    ties = ties_of((1, 2, 0.8), (1, 3, 0.4), (2, 1, 0.6))
    see_kin(ties, 2, T0 + 10.0, T0 + 20.0)
    assert told_by_kin(ties, 1, T0, T0 + 30.0) == pytest.approx(0.4)  # half of what the table says, at first
    assert told_by_kin(ties, 1, T0, T0 + 20.0) == 0.0  # not seen yet
    assert told_by_kin(ties, 1, T0 + 20.0, T0 + 30.0) == 0.0  # seen before
    assert told_by_kin(ties, 2, T0, T0 + 30.0) == 0.0
    see_kin(ties, 3, T0 + 5.0, T0 + 25.0)
    assert told_by_kin(ties, 1, T0, T0 + 30.0) == pytest.approx(1.0 - 0.6 * 0.8)
    assert first_told_at(ties, 1, T0, T0 + 30.0) == T0 + 20.0


def test_a_change_that_may_have_come_before_the_last_visit_counts_in_part() -> None:
    ties = ties_of((1, 2, 0.8))
    see_kin(ties, 2, T0, T0 + 100.0)
    assert told_by_kin(ties, 1, T0 + 75.0, T0 + 101.0) == pytest.approx(0.4 * 0.25)
    see_kin(ties, 2, T0, T0 + 90.0)  # a visit that is heard of later than a newer one
    assert told_by_kin(ties, 1, T0 + 75.0, T0 + 101.0) == pytest.approx(0.4 * 0.25)


def test_many_are_told_of_as_each_is() -> None:
    rng = np.random.default_rng(1)
    pairs = [(i, int(of), float(rng.random())) for i in range(1, 30) for of in rng.choice(40, 4) + 1]
    ties = tied(no_ties(40), table(*{(i, of): (i, of, w) for i, of, w in pairs if i != of}.values()))
    for id_ in range(1, 41):
        gap_s = 1000.0 * rng.random()
        seen_at = T0 + 1000.0 * rng.random()
        see_kin(ties, id_, seen_at - gap_s, seen_at)
        check_kin(ties, id_, T0, seen_at, 0.5, bool(rng.random() < 0.5))
    ids, since_at = np.arange(1, 41), T0 + 1000.0 * rng.random(40)
    q, at = all_told_by_kin(ties, ids, since_at, T0 + 800.0)
    each = [
        (told_by_kin(ties, i, since, T0 + 800.0), first_told_at(ties, i, since, T0 + 800.0))
        for i, since in zip(ids.tolist(), since_at.tolist(), strict=True)
    ]
    assert q.tolist() == [one[0] for one in each]
    assert at.tolist() == [one[1] for one in each]
    assert 5 < (q > 0.0).sum() < 40


def checked(ties: Ties, n: int, *, changed: bool, survival: float = 0.7) -> float:
    """How far 2 is believed by 1 after so many tellings with one outcome."""
    for i in range(n):
        see_kin(ties, 2, T0 + 10.0 * i + 1.0, T0 + 10.0 * i + 2.0)
        check_kin(ties, 1, T0 + 10.0 * i, T0 + 10.0 * i + 5.0, survival, changed)
    return believed_kin(ties, ties.row[1], 0)


def test_kin_that_are_right_are_believed_and_others_fade() -> None:
    assert checked(ties_of((1, 2, 0.6)), 40, changed=True) > 0.8
    assert checked(ties_of((1, 2, 0.6)), 40, changed=False) < 0.05
    # of changes that were sure to come anyway nothing is learned
    assert checked(ties_of((1, 2, 0.6)), 40, changed=True, survival=0.0) == pytest.approx(0.3, abs=0.01)


def test_tables_that_promised_too_much_are_believed_less_of_others_too() -> None:
    ties = ties_of((1, 2, 0.6), (3, 4, 0.6))
    before = believed_kin(ties, ties.row[3], 0)
    checked(ties, 40, changed=False)
    assert believed_kin(ties, ties.row[3], 0) < before / 2.0


def test_a_new_table_keeps_what_was_checked_of_pairs_that_stay() -> None:
    ties = ties_of((1, 2, 0.6), (1, 3, 0.5))
    believed = checked(ties, 40, changed=True)
    moved = tied(more_ties(ties, 20), table((1, 15, 0.9), (1, 2, 0.6), (12, 1, 0.5)))
    place = moved.of[moved.row[1]].tolist().index(2)
    assert believed_kin(moved, moved.row[1], place) == believed
    assert moved.n[moved.row[1]].tolist().count(0.0) == K - 1
    assert moved.seen_at[2] == ties.seen_at[2]
    assert moved.row[3] == 0
    assert tied(moved, KinTable()).row.tolist() == [0] * 21


def test_of_more_kin_than_there_is_room_for_the_nearest_stay() -> None:
    ties = tied(no_ties(9), table(*((1, of, of / 10.0) for of in range(2, 9))))
    assert ties.of[ties.row[1]].tolist() == [8, 7, 6, 5, 4]


def seen(ids: list[int], since: list[float], at: list[float], changed: list[int]) -> Seen:
    return Seen(
        id=np.array(ids),
        since_at=T0 + np.array(since) * DAY_S,
        at=T0 + np.array(at) * DAY_S,
        changed=np.array(changed, dtype=np.int8),
        event_at=np.full(len(ids), np.nan),
        group=np.zeros(len(ids), dtype=np.int64),
    )


def batch(n: int, since_days: float) -> Batch:
    return Batch(
        id=np.arange(1, n + 1),
        weight=np.ones(n),
        min_gap_s=np.full(n, 3600.0),
        max_gap_s=np.full(n, 60 * DAY_S),
        since_at=np.full(n, T0 + since_days * DAY_S),
        gap_s=np.full(n, np.nan),
        n_informative=np.full(n, 2),
        n_changes=np.ones(n, dtype=np.int64),
        n_failures=np.zeros(n, dtype=np.int64),
        bits=np.ones(n, dtype=np.uint64),
    )


def gaps(predictor: Rhythm, now_days: float, goal: Goal | None = None, price: float = DAY_S) -> Floats:
    some, now = batch(2, 10.0), T0 + now_days * DAY_S
    return Index(goal or Fresh()).quote(some, predictor.forecast(some, now)).gaps(price)


def test_where_every_change_waits_by_itself_kin_tell_of_one_more() -> None:
    """The visit is due when as many are expected, with the one told of, as at any other visit."""
    predictor = Rhythm(without=("habits", "stirs", "heed", "scouts", "calendar"))
    predictor.know_kin(table((1, 3, 0.9)))
    predictor.learn(seen([1, 2, 3], [0, 0, 0], [10, 10, 10], [1, 1, 0]))
    predictor.learn(seen([3], [10], [12], [1]))
    told, untold = gaps(predictor, 12.5, Prompt(), 40 * DAY_S)
    forecasts = predictor.forecast(batch(2, 10.0), T0 + 12.5 * DAY_S)
    assert isinstance(forecasts, Told)
    expected = forecasts.n_expected(np.array([told, untold]))
    assert 2 * DAY_S < told < untold
    assert expected[0] == pytest.approx(expected[1], rel=1e-6)


@pytest.mark.parametrize("without", [(), ("kin",)])
def test_kin_of_whoever_changed_are_looked_at_sooner(without: tuple[str, ...]) -> None:
    predictor = Rhythm(without=without)
    predictor.know_kin(table((1, 3, 0.9)))
    predictor.learn(seen([1, 2, 3], [0, 0, 0], [10, 10, 10], [1, 1, 0]))
    before = gaps(predictor, 11.0)
    assert before[0] == before[1]
    predictor.learn(seen([3], [10], [12], [1]))
    after = gaps(predictor, 12.5)
    assert after[1] == before[1]
    if without:
        assert after[0] == before[0]
        return
    assert after[0] < 0.8 * before[0]
    some = batch(2, 10.0)
    told = predictor.forecast(some, T0 + 12.5 * DAY_S)
    assert isinstance(told, Told)
    assert np.asarray(told.kin_s).tolist() == [2 * DAY_S, inf]
    assert told.told_s.tolist() == [inf, inf]
    assert predictor.account(some, T0 + 12.5 * DAY_S)["kin_belief"][0] == pytest.approx(0.45)
    assert np.isnan(predictor.account(some, T0 + 11.0 * DAY_S)["kin_belief"]).all()
    predictor.learn(seen([1], [10], [13], [1]))  # its next visit: what was told is over
    row = replace_since(some, T0 + 13 * DAY_S)
    assert not isinstance(predictor.forecast(row, T0 + 14 * DAY_S), Told)


def replace_since(some: Batch, at: float) -> Batch:
    some.since_at[:] = at
    return some


def test_what_others_learned_from_tells_too() -> None:
    predictor = Rhythm()
    predictor.know_kin(table((1, 3, 0.9)))
    predictor.learn(seen([1, 2], [0, 0], [10, 10], [1, 1]))
    predictor.overhear(seen([3], [10], [12], [1]))
    assert gaps(predictor, 12.5)[0] < gaps(predictor, 12.5)[1]


def visits(rng: np.random.Generator, days: float, lag: bool) -> Seen:
    """Two that change together, one by itself as often, all in one group; a visit every three days or so."""
    shared = np.cumsum(rng.exponential(9.0, 400))
    alone = np.cumsum(rng.exponential(9.0, 400))
    parts = []
    for id_, events in ((1, shared), (2, shared + (0.2 if lag else 0.0)), (3, alone), (4, alone[::9])):
        at = np.cumsum(rng.uniform(1.0, 5.0, int(days / 3.0)))
        found = np.diff(np.searchsorted(events, at)) > 0
        parts.append((np.full(len(found), id_), at[:-1], at[1:], found))
    ids, since, end, changed = (np.concatenate(column) for column in zip(*parts, strict=True))
    some = seen(ids.tolist(), since.tolist(), end.tolist(), changed.astype(int).tolist())
    some.group[:] = 7
    return some


@pytest.mark.parametrize("lag", [False, True])
def test_visits_show_who_goes_with_whom(lag: bool) -> None:
    right, wrong = [], 0
    for seed in range(10):
        found = kin_of_visits(visits(np.random.default_rng(seed), 400.0, lag), 5)
        weight = dict(zip(zip(found.id.tolist(), found.of.tolist(), strict=True), found.weight, strict=True))
        right += [weight.get((1, 2), 0.0), weight.get((2, 1), 0.0)]
        wrong += len(weight.keys() & {(1, 3), (3, 1), (2, 3), (3, 2)})
    assert min(right) > 0.25
    assert np.mean(right) > 0.5
    assert wrong <= 4  # of 40


def test_kin_are_of_one_group_and_have_changed() -> None:
    some = visits(np.random.default_rng(3), 400.0, lag=False)
    some.group[some.id == 2] = 8
    assert not {(1, 2), (2, 1)} & set(zip(*_pairs(some), strict=True))
    some.group[:] = 0  # of none
    assert len(kin_of_visits(some, 5)) == 0
    assert len(kin_of_visits(some.pick(np.arange(0)), 5)) == 0
    few = visits(np.random.default_rng(3), 14.0, lag=False)
    assert len(kin_of_visits(few, 5)) == 0


def _pairs(some: Seen) -> tuple[list[int], list[int]]:
    found = kin_of_visits(some, 5)
    return found.id.tolist(), found.of.tolist()


def test_chance_makes_no_kin() -> None:
    rng, n = np.random.default_rng(5), 40
    parts = []
    for id_ in range(1, n + 1):
        at = np.arange(3.0 * rng.random(), 365.0, 3.0)
        parts.append((np.full(len(at) - 1, id_), at[:-1], at[1:], rng.random(len(at) - 1) < 0.3))
    ids, since, end, changed = (np.concatenate(column) for column in zip(*parts, strict=True))
    some = seen(ids.tolist(), since.tolist(), end.tolist(), changed.astype(int).tolist())
    some.group[:] = 1
    assert len(kin_of_visits(some, 5)) <= 2  # of 1,560 pairs
