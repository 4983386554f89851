"""How long a round takes: the paper's formulas, the line, what is learned from visits, and the estimate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.compiled import plain
from recrawl.model import Floats, Hosts, Ints, Took
from recrawl.schedule.capacity import line
from recrawl.schedule.capacity.estimate import Load, Model, load_of, near
from recrawl.schedule.capacity.looks import (
    AGAIN,
    FIRST,
    NEVER,
    OFTEN,
    looks,
    next_reasons,
    p_changed,
    p_fails,
    reasons,
)
from recrawl.schedule.capacity.paces import GUESSED_S, N_USUAL, P_TWICE, Paces, Rule, paces
from recrawl.schedule.capacity.paper import crawl_s, packed, threads
from recrawl.schedule.capacity.samples import Samples

NO_HOSTS = np.zeros(0, np.int64)


def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


# -- the paper -----------------------------------------------------------------------------------------


def test_the_papers_example_six_documents_that_take_over_three_delays() -> None:
    """Three threads, each begins a delay after the one before; each crawls two of the six."""
    took_s, delay_s = np.array([3.2]), np.array([1.0])
    n = threads(took_s, delay_s, 100)
    assert n.tolist() == [3]
    assert crawl_s(ints(6), took_s, delay_s, n).tolist() == [pytest.approx(6 * 3.2 / 3 + 2.0)]


def test_a_domain_that_is_quicker_than_its_delay_has_one_thread() -> None:
    assert threads(np.array([0.5, 2.0]), np.array([1.0, 0.0]), 7).tolist() == [1, 7]


def test_domains_share_bins_as_long_as_the_longest() -> None:
    """20 s beside 12 + 8 s and 9 s: the third bin is where the last one stays shortest."""
    ones = np.ones(4)
    found = packed(ints(20, 12, 9, 8), ones, ones, 64)
    assert (found.took_s, found.n_threads, found.n_bins) == (20.0, 3, 3)


def test_too_few_threads_lower_what_a_domain_may_have() -> None:
    """Four threads each take 40 * 4 / 4 + 3 = 43 s; two of them on four threads have two each, and longer."""
    docs, took_s, delay_s = ints(40, 40), np.array([4.0, 4.0]), np.array([1.0, 1.0])
    assert packed(docs, took_s, delay_s, 8).took_s == pytest.approx(43.0)
    found = packed(docs, took_s, delay_s, 4)
    assert found.took_s == pytest.approx(81.0)
    assert (found.n_threads, found.most_threads) == (4, 2)


def test_more_domains_than_threads_make_bins_longer() -> None:
    ones = np.ones(6)
    found = packed(ints(5, 5, 5, 5, 5, 5), ones, ones, 2)
    assert found.took_s == pytest.approx(15.0)
    assert found.n_threads == 2


# -- the line ------------------------------------------------------------------------------------------


def test_one_request_at_a_time_a_host_and_a_rest_between() -> None:
    """a: 0-2, rests 5, 7-9; b: 0-3. With one worker b waits for a, and a then for b."""
    first, key = ints(0, 2, 3), np.array([1.0, 3.0, 2.0])
    took_s, rest_s, ready_s = np.array([2.0, 2.0, 3.0]), np.full(3, 5.0), np.zeros(2)
    assert line.ends(first, key, took_s, rest_s, ready_s, 2).tolist() == [2.0, 9.0, 3.0]
    assert line.ends(first, key, took_s, rest_s, ready_s, 1).tolist() == [2.0, 9.0, 5.0]
    slower = np.array([2.0, 2.0, 9.0])
    assert line.ends(first, key, slower, rest_s, ready_s, 1).tolist() == [2.0, 13.0, 11.0]


def test_whoever_is_longer_due_is_first_in_line() -> None:
    first, took_s = ints(0, 1, 2, 3), np.full(3, 2.0)
    ended = line.ends(first, np.array([3.0, 1.0, 2.0]), took_s, np.zeros(3), np.zeros(3), 1)
    assert ended.tolist() == [6.0, 2.0, 4.0]


def test_with_room_for_all_the_line_is_a_sum() -> None:
    rng = np.random.default_rng(1)
    n_each = rng.integers(1, 9, 40)
    first = np.concatenate([[0], np.cumsum(n_each)]).astype(np.int64)
    n = int(first[-1])
    given = rng.random(n), rng.random(n), 3 * rng.random(n), rng.random(40)
    summed = line.ends(first, *given, 40)
    assert np.allclose(plain(line._queued)(first, *given, 40), summed)
    assert line.ends(first, *given, 3).max() > summed.max()


def test_the_line_is_the_same_when_it_is_compiled() -> None:
    rng = np.random.default_rng(2)
    first = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 30))]).astype(np.int64)
    n = int(first[-1])
    given = first, rng.random(n), rng.random(n), 3 * rng.random(n), np.zeros(30), 4
    assert np.array_equal(line._queued(*given), plain(line._queued)(*given))


# -- what visits tell ----------------------------------------------------------------------------------


def visits(*rows: tuple[int, float, float, float]) -> Took:
    """Host, end, how long it took, when it was due."""
    group, at, took_s, due_at = (np.array(column) for column in zip(*rows, strict=True))
    return Took(
        id=np.arange(len(rows)) + 1,
        group=group.astype(np.int64),
        at=at.astype(np.float64),
        due_at=due_at.astype(np.float64),
        took_s=took_s.astype(np.float64),
        troubled=np.zeros(len(rows), np.bool_),
        changed=np.zeros(len(rows), np.bool_),
    )


def hosts(*rest_s: float, n_failures: int = 0) -> Hosts:
    n = len(rest_s)
    return Hosts(
        id=np.arange(1, n + 1),
        name=tuple(f"h{i}" for i in range(n)),
        rest_s=np.array(rest_s),
        gate_at=np.zeros(n),
        n_failures=np.full(n, n_failures),
    )


def of(took: Took, known: Hosts, *, n_workers: int = 64) -> Paces:
    return paces(took, known, known.id, Rule(2.0), n_workers=n_workers)


def test_second_looks_are_told_from_rests_and_keep_the_visits_room() -> None:
    """Four pages in turn, three times each, 4 s apart. All change at their second visit; three of the four
    are looked at twice: another rest and another fetch."""
    changed = np.repeat([False, True, False], 4)
    between = [0.0, *[4.0] * 4, 9.0, 9.0, 9.0, 4.0, 4.0, 4.0, 4.0]
    ends_at = np.cumsum(np.array(between) + 1.0)
    took = replace(
        visits(*((1, float(at), 1.0, 0.0) for at in ends_at)), id=np.tile([1, 2, 3, 4], 3), changed=changed
    )
    found = of(took, hosts(4.0))
    assert found.p_twice[FIRST] == (3 + N_USUAL * P_TWICE[FIRST]) / (4 + N_USUAL)
    assert found.p_twice[AGAIN] == P_TWICE[AGAIN], "nothing was heard of those"
    assert set(own(found.over_s, 0)) == {0.0}
    for p_twice, middle_s in ((0.0, 3 * 1.0 + 2 * 4.0), (1.0, 3 * 1.0 + 2 * 4.0 + 3 * 5.0)):
        load = load_with(ints(0, 0, 0), p_twice=p_twice)
        model = Model(load, found, np.zeros(1), asks_robots=False)
        assert model.estimate(1).middle_s == pytest.approx(middle_s)


def test_a_change_may_be_looked_at_twice_where_it_is_the_first_or_the_second_or_fourth_in_a_row() -> None:
    changed = np.array([False, True, True, True, True, False, True])
    took = replace(visits(*((1, float(i), 0.5, 0.0) for i in range(7))), id=np.ones(7, np.int64))
    assert reasons(replace(took, changed=changed)).tolist() == [
        NEVER,
        FIRST,
        AGAIN,
        NEVER,
        AGAIN,
        NEVER,
        NEVER,
    ]
    failed = replace(took, changed=changed, troubled=np.arange(7) == 5)
    assert reasons(failed).tolist()[-1] == NEVER, "the fifth in a row: a failure says nothing of it"
    for n, fresh, reason in ((1, True, FIRST), (2, False, AGAIN), (3, False, NEVER), (4, False, AGAIN)):
        so_far = looks(replace(took, changed=changed).pick(np.arange(n)))
        assert next_reasons(so_far, ints(0), np.array([fresh])).tolist() == [reason]
        often = replace(so_far, often=np.ones(1, np.bool_))
        wanted = OFTEN if reason == AGAIN else reason
        assert next_reasons(often, ints(0), np.array([fresh])).tolist() == [wanted]


def test_a_change_is_as_likely_as_before_by_the_time_that_has_passed() -> None:
    """Resource 1 changed on both visits that could tell, resource 2 on none; they were a day apart."""
    day_s = 86_400.0
    at = np.repeat(np.arange(3) * day_s, 2) + 1.0
    took = replace(
        visits(*((1, float(t), 0.5, 0.0) for t in at)),
        id=np.tile([1, 2], 3),
        changed=np.tile([True, False], 3) & (at > day_s),
    )
    known = looks(took)
    nothing = np.zeros(3)
    often, seldom, never = p_changed(known, ints(0, 1, -1), nothing, 3 * day_s + 1.0).tolist()
    assert (often, seldom, never) == pytest.approx((2.5 / 3.0, 0.5 / 3.0, 0.0))
    later = p_changed(known, ints(1), nothing, 4 * day_s + 1.0)
    assert later.tolist() == pytest.approx([1.0 - (2.5 / 3.0) ** 2])
    once = looks(took.pick(ints(0, 1)))
    assert p_changed(once, ints(0, 1, -1), np.array([0.3, 0.1, 0.0]), day_s).tolist() == [0.3, 0.1, 0.0]


def load_with(place: Ints, *, p_twice: float = 0.0, p_trouble: float = 0.0) -> Load:
    n = len(place)
    page = np.full(n, -1)
    return Load(place, np.arange(float(n)), page, np.full(n, p_twice), np.full(n, p_trouble))


def own(samples: Samples, place: int) -> list[float]:
    start = samples.start[place]
    values: list[float] = np.round(samples.values[start : start + samples.n[place]], 6).tolist()
    return values


def test_what_lies_between_visits_that_waited_for_their_host_is_its_rest() -> None:
    """Ends at 1, 7, 13, 24: five seconds, five, and ten; the last was not due yet."""
    took = visits(
        (1, 1.0, 1.0, 0.0), (1, 7.0, 1.0, 0.0), (1, 13.0, 1.0, 0.0), (1, 24.0, 1.0, 0.0), (1, 37.0, 1.0, 36.0)
    )
    found = of(took, hosts(10.0))
    assert set(own(found.over_s, 0)) == {0.0, 5.0}
    assert found.base_s.tolist() == [5.0]
    assert own(found.took_s, 0) == [1.0] * 5


def test_a_slow_answer_is_followed_by_a_longer_rest_by_the_rule() -> None:
    """Twice as long as the answer took, where that is more than the host asks for: 3 s, 3, 8."""
    took = visits((1, 1.0, 1.0, 0.0), (1, 5.0, 1.0, 0.0), (1, 12.0, 4.0, 0.0), (1, 21.0, 1.0, 0.0))
    found = paces(took, hosts(3.0), ints(1), Rule(2.0, 2.0, 60.0), n_workers=9)
    assert found.base_s.tolist() == [3.0]
    assert set(own(found.over_s, 0)) == {0.0}
    assert found.rule.rest_s(found.base_s, np.array([4.0])).tolist() == [8.0]


def test_a_visit_that_may_have_waited_for_room_in_the_air_tells_of_no_rest() -> None:
    """Of three hosts never more than two were in the air; host 1 has its turn as soon as host 2 is done.
    Where all three were there at once, nobody can have waited."""
    rows = [(1, 1.0, 1.0, 0.0), (2, 9.0, 9.0, 0.0), (3, 12.0, 11.0, 0.0), (1, 10.0, 1.0, 0.0)]
    rows += [(2, 22.0, 10.0, 0.0), (3, 24.0, 8.0, 0.0), (1, 23.0, 1.0, 0.0)]
    assert set(own(of(visits(*rows), hosts(3.0, 3.0, 3.0)).over_s, 0)) == {0.0}
    together = [*rows, (1, 40.0, 9.0, 99.0), (2, 40.0, 9.0, 99.0), (3, 40.0, 9.0, 99.0)]
    assert 5.0 in own(of(visits(*together), hosts(3.0, 3.0, 3.0)).over_s, 0)


def test_a_first_visit_asked_for_robots_first() -> None:
    """It took a fetch, the host's rest of 5 s, and another fetch: 0.5 + 5 + 0.5."""
    found = of(visits((1, 6.0, 6.0, 0.0)), hosts(5.0))
    assert own(found.took_s, 0) == [0.5]


def test_what_was_seen_seldom_is_known_less_well() -> None:
    """Four rests and a hundred with the same spread: the mean of ten visits is surer with a hundred."""
    few, many = (Samples(ints(0), ints(n), np.tile([2.0, 2.0, 2.0, 10.0], n // 4)) for n in (4, 100))
    widths = []
    for samples in (few, many):
        known = replace(even(np.ones(1), np.ones(1)), over_s=samples)
        found = model_of([40], known).estimate(1)
        widths.append(found.high_s - found.low_s)
    assert widths[0] > 1.5 * widths[1]


def test_a_value_is_resampled_from_its_own_host_alone() -> None:
    samples = Samples(ints(0, 2, 5, 5), ints(2, 3, 2, 2), np.array([1.0, 2.0, 11.0, 12.0, 13.0, 21.0, 22.0]))
    drawn = [samples.resampled(np.random.default_rng(i)).values for i in range(50)]
    assert set(np.array(drawn)[:, :2].ravel()) == {1.0, 2.0}
    assert set(np.array(drawn)[:, 2:5].ravel()) == {11.0, 12.0, 13.0}
    assert set(np.array(drawn)[:, 5:].ravel()) == {21.0, 22.0}


def test_nothing_visited_is_a_guess_and_a_stranger_is_like_the_others() -> None:
    nothing = paces(visits((9, 1.0, 1.0, 0.0)).pick(NO_HOSTS), hosts(), ints(0), Rule(2.0), n_workers=9)
    assert nothing.guessed
    assert (own(nothing.took_s, 0), nothing.base_s.tolist()) == ([GUESSED_S], [2.0])
    took = visits((1, 1.0, 1.0, 0.0), (1, 32.0, 1.0, 0.0), (1, 63.0, 1.0, 0.0), (1, 94.0, 1.0, 0.0))
    found = paces(took, hosts(30.0), ints(1, 0), Rule(2.0), n_workers=64)
    assert found.known.tolist() == [True, False]
    model = Model(load_with(ints(1, 1, 1)), found, np.zeros(2), asks_robots=False)
    assert model.estimate(8).middle_s == pytest.approx(63.0)


# -- the estimate --------------------------------------------------------------------------------------


def even(took_s: Floats, rest_s: Floats, *, p_trouble: float = 0.0) -> Paces:
    """Hosts that always take as long."""
    n = len(took_s)
    one = np.ones(n, np.int64)
    return Paces(
        rule=Rule(0.0),
        took_s=Samples(np.arange(n), one, took_s),
        over_s=Samples(np.arange(n), one, np.zeros(n)),
        base_s=rest_s,
        robots_s=took_s,
        p_trouble=np.full(n, p_trouble),
        trouble_s=np.full(n, 60.0),
        n_failures=np.zeros(n, np.int64),
        known=np.ones(n, np.bool_),
        pages=Samples(NO_HOSTS, NO_HOSTS, np.zeros(1)),
        looks=looks(visits((1, 1.0, 1.0, 0.0)).pick(NO_HOSTS)),
    )


def model_of(n_each: list[int], known: Paces, *, asks_robots: bool = False) -> Model:
    place = np.repeat(np.arange(len(n_each)), n_each)
    none = np.zeros(len(place), np.int64)
    key = np.arange(len(place), dtype=np.float64)
    load, _ = load_of(known, place, key, none, none > 0, np.zeros(len(place)), 0.0)
    return Model(load, known, np.zeros(len(n_each)), asks_robots=asks_robots)


def test_the_estimate_is_what_most_rounds_come_near_to() -> None:
    assert near(np.full(200, 100.0)) == pytest.approx(100.0)
    heaps = np.concatenate([np.full(110, 100.0), np.full(90, 160.0)])
    assert near(heaps) == pytest.approx(100.0)
    assert near(270.0 - heaps) == pytest.approx(170.0)
    assert near(np.array([100.0, 120.0, 121.0])) == pytest.approx(np.mean([0.85 * 121.0, 1.15 * 100.0]))


def test_a_host_that_is_left_alone_yet_begins_later() -> None:
    model = model_of([2, 1], even(np.ones(2), np.full(2, 4.0)))
    assert model.estimate(2).middle_s == 6.0
    assert replace(model, ready_s=np.array([0.0, 30.0])).estimate(2).middle_s == 31.0


def test_our_own_work_keeps_a_visits_room_in_the_air() -> None:
    """One worker and ten hosts: half a second of ours before each visit is five seconds of the round."""
    known = even(np.ones(10), np.full(10, 2.0))
    known = replace(known, over_s=Samples(np.arange(10), np.ones(10, np.int64), np.full(10, 0.5)))
    assert model_of([1] * 10, known).estimate(1).middle_s == pytest.approx(15.0)


def test_a_page_takes_as_long_as_it_did_more_likely_than_as_long_as_others_of_its_host() -> None:
    """Page 1 always takes 9 s and the other nine of its host 1 s; all were visited four times."""
    rows = [(1, 20.0 * i, 9.0 if i % 10 == 0 else 1.0, 0.0) for i in range(1, 41)]
    found = of(replace(visits(*rows), id=np.arange(1, 41) % 10 + 1), hosts(2.0))
    for page, took_s in ((1, 9.0), (2, 1.0)):
        load, _ = load_of(found, ints(0), np.zeros(1), ints(page), np.zeros(1, np.bool_), np.zeros(1), 999.0)
        drawn = [taken[0] for taken, _ in Model(load, found, np.zeros(1), asks_robots=False)._draws(200)]
        assert 0.7 < np.mean(np.array(drawn) - min(own(found.over_s, 0)) >= took_s) <= 1.0
        assert np.median(drawn) == pytest.approx(took_s + np.median(own(found.over_s, 0)), abs=1.0)


def test_a_round_is_as_long_as_its_slowest_host() -> None:
    known = even(np.array([1.0, 2.0]), np.array([4.0, 21.0]))
    found = model_of([10, 3], known).estimate(8)
    assert (found.low_s, found.middle_s, found.high_s) == (48.0, 48.0, 48.0)
    slowest = [(slow.place, slow.n_visits, slow.took_s) for slow in found.slowest]
    assert slowest == [(1, 3, 48.0), (0, 10, 46.0)]
    asked = model_of([10, 3], known, asks_robots=True)
    assert asked.estimate(8).middle_s == 48.0 + 2.0 + 21.0


def test_the_same_seed_gives_the_same_interval_and_strangers_make_it_wide() -> None:
    rng = np.random.default_rng(3)
    known = even(rng.random(6) + 0.5, 10.0 * rng.random(6))
    sure = model_of([5] * 6, known).estimate(64)
    known.known[:2] = False
    unsure = model_of([5] * 6, known)
    assert unsure.estimate(64) == unsure.estimate(64)
    assert sure.low_s == sure.high_s
    found = unsure.estimate(64)
    assert found.low_s <= found.middle_s <= found.high_s
    two = model_of([5, 5], known).estimate(64)
    assert two.low_s < two.high_s


def test_as_many_workers_as_are_needed_and_none_for_what_a_host_cannot_do() -> None:
    model = model_of([1] * 40, even(np.full(40, 10.0), np.full(40, 2.0)))
    assert [model.n_workers_for(s) for s in (10.0, 100.0, 399.0, 400.0, 9.0)] == [40, 4, 2, 1, None]
    for n, took_s in ((40, 10.0), (4, 100.0), (3, 140.0)):
        assert model.estimate(n).middle_s == took_s


def test_a_round_holds_what_ends_in_time_and_of_each_host_the_first() -> None:
    model = model_of([10, 2], even(np.array([1.0, 1.0]), np.array([9.0, 1.0])))
    chosen = model.fitting(45.0, 8)
    assert chosen.tolist() == [True] * 5 + [False] * 5 + [True] * 2
    many = model_of([1] * 100, even(np.full(100, 10.0), np.full(100, 2.0)))
    fits = many.fitting(100.0, 4)
    assert 30 <= fits.sum() <= 40
    assert fits[: int(fits.sum())].all(), "those that are first in line"


def test_a_host_that_fails_is_left_alone_for_longer_each_time() -> None:
    calm = model_of([3], even(np.array([1.0]), np.array([2.0]))).estimate(1)
    failing = model_of([3], even(np.array([1.0]), np.array([2.0]), p_trouble=1.0)).estimate(1)
    assert calm.middle_s == 7.0
    assert failing.middle_s == pytest.approx(3.0 + 60.0 + 120.0)


def test_what_is_likely_to_fail_is_visited_last_of_its_host() -> None:
    """Nobody waits then while the host is left alone."""
    model = model_of([3, 2], even(np.array([1.0, 1.0]), np.array([2.0, 2.0])))
    risk = np.array([0.9, 0.05, 0.5, 0.02, 0.0])
    load = replace(model.load, p_trouble=risk)
    assert load.risky_last().tolist() == [1, 2, 0, 3, 4], "what hardly ever fails keeps its turn"
    sure = replace(model, load=replace(load, p_trouble=np.array([1.0, 0.0, 0.0, 0.0, 0.0])))
    assert sure.estimate(2).middle_s == pytest.approx(1.0 + 60.0 + 1.0 + 2.0 + 1.0)
    assert sure.in_turn().estimate(2).middle_s == pytest.approx(7.0)


def test_what_failed_before_fails_again_more_likely_than_not() -> None:
    """Page 1 failed eight times in a row, the others of its host never: that says little of them."""
    rows = [(1, 600.0 * i, 1.0, 600.0 * i) for i in range(1, 25)]
    page = np.arange(24) % 3 + 1
    took = replace(visits(*rows), id=page, troubled=page == 1)
    found = of(took, hosts(2.0))
    load, _ = load_of(
        found, ints(0, 0, 0, 0), np.arange(4.0), ints(1, 2, 3, 9), np.zeros(4, np.bool_), np.zeros(4), 2e4
    )
    p_first = (1 + 1 / 17) / 18  # one in seventeen visits was the first of a failure, here and everywhere
    assert load.p_trouble.tolist() == pytest.approx([9 / 10, p_first / 9, p_first / 9, p_first])


def test_what_was_well_before_fails_again_as_often_as_its_failures_stayed() -> None:
    """Page 1 is flaky: it failed three times, and was well right after twice."""
    troubled = np.array([True, False, True, False, True])
    took = replace(visits(*((1, 600.0 * i, 1.0, 0.0) for i in range(5))), id=np.ones(5, np.int64))
    known = looks(replace(took, troubled=troubled))
    assert known.p_stays == 1 / 4
    assert p_fails(known, ints(0), np.zeros(1)).tolist() == pytest.approx([(0 + 1 / 4) / 3])
    down = looks(replace(took, troubled=np.arange(5) > 0))
    assert p_fails(down, ints(0), np.zeros(1)).tolist() == pytest.approx([(3 + 4 / 5) / 4])
