"""How long a round takes: the paper's formulas, the line, what is learned from visits, and the estimate."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
import pytest

from recrawl.compiled import plain
from recrawl.model import Floats, Hosts, Took
from recrawl.schedule.capacity import line
from recrawl.schedule.capacity.estimate import Load, Model, load_of
from recrawl.schedule.capacity.paces import GUESSED_S, Paces, Samples, paces
from recrawl.schedule.capacity.paper import crawl_s, packed, threads

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
    return paces(took, known, known.id, min_delay_s=2.0, n_workers=n_workers)


def test_second_looks_are_told_from_rests_and_drawn_where_a_first_change_may_come() -> None:
    """Four pages in turn, three times each, 4 s apart. All change at their second visit; three of the four
    are looked at twice: another rest and another fetch."""
    changed = np.repeat([False, True, True], 4)
    between = [0.0, *[4.0] * 4, 9.0, 9.0, 9.0, 4.0, 4.0, 4.0, 4.0]
    ends_at = np.cumsum(np.array(between) + 1.0)
    took = replace(
        visits(*((1, float(at), 1.0, 0.0) for at in ends_at)), id=np.tile([1, 2, 3, 4], 3), changed=changed
    )
    found = of(took, hosts(4.0))
    assert found.p_second == 0.75
    assert set(own(found.rest_s, 0)) == {4.0}
    for fresh, middle_s in ((False, 3 * 1.0 + 2 * 4.0), (True, 3 * 1.0 + 2 * 4.0 + 2 * 5.0)):
        load = Load(ints(0, 0, 0), np.arange(3.0), ints(0, 0, 0), np.full(3, fresh))
        sure = replace(found, p_second=1.0)
        assert Model(load, sure, asks_robots=False).estimate(1).middle_s == pytest.approx(middle_s)


def own(samples: Samples, place: int) -> list[float]:
    start = samples.start[place]
    values: list[float] = np.round(samples.values[start : start + samples.n[place]], 6).tolist()
    return values


def test_what_lies_between_visits_that_waited_for_their_host_is_its_rest() -> None:
    """Ends at 1, 7, 13, 24: five seconds, five, and ten with a second look; the last was not due yet."""
    took = visits(
        (1, 1.0, 1.0, 0.0), (1, 7.0, 1.0, 0.0), (1, 13.0, 1.0, 0.0), (1, 24.0, 1.0, 0.0), (1, 37.0, 1.0, 36.0)
    )
    found = of(took, hosts(10.0))
    assert own(found.rest_s, 0) == [5.0, 5.0, 10.0]
    assert found.base_s.tolist() == [5.0]
    assert own(found.took_s, 0) == [1.0] * 5


def test_a_visit_that_may_have_waited_for_room_in_the_air_tells_of_no_rest() -> None:
    busy = [(2, 100.0, 100.0, 0.0), (3, 100.0, 100.0, 0.0)]
    took = visits((1, 1.0, 1.0, 0.0), (1, 20.0, 1.0, 0.0), (1, 39.0, 1.0, 0.0), (1, 58.0, 1.0, 0.0), *busy)
    assert of(took, hosts(nan, nan, nan)).base_s[0] == 18.0
    crowded = of(took, hosts(nan, nan, nan), n_workers=3)
    assert crowded.base_s[0] == 2.0, "our own delay, since nothing else is known"


def test_a_first_visit_asked_for_robots_first() -> None:
    """It took a fetch, the host's rest of 5 s, and another fetch: 0.5 + 5 + 0.5."""
    found = of(visits((1, 6.0, 6.0, 0.0)), hosts(5.0))
    assert own(found.took_s, 0) == [0.5]


def test_what_was_seen_seldom_is_known_less_well() -> None:
    """Four rests and a hundred with the same spread: the mean of ten visits is surer with a hundred."""
    few, many = (Samples(ints(0), ints(n), np.tile([2.0, 2.0, 2.0, 10.0], n // 4)) for n in (4, 100))
    widths = []
    for samples in (few, many):
        known = replace(even(np.ones(1), np.ones(1)), rest_s=samples)
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
    nothing = paces(visits((9, 1.0, 1.0, 0.0)).pick(NO_HOSTS), hosts(), ints(0), min_delay_s=2.0, n_workers=9)
    assert nothing.guessed
    assert (own(nothing.took_s, 0), own(nothing.rest_s, 0)) == ([GUESSED_S], [2.0])
    took = visits((1, 1.0, 1.0, 0.0), (1, 32.0, 1.0, 0.0), (1, 63.0, 1.0, 0.0), (1, 94.0, 1.0, 0.0))
    found = paces(took, hosts(30.0), ints(1, 0), min_delay_s=2.0, n_workers=64)
    assert found.known.tolist() == [True, False]
    model = Model(
        Load(ints(1, 1, 1), np.arange(3.0), ints(0, 0, 0), np.zeros(3, np.bool_)), found, asks_robots=False
    )
    assert model.estimate(8).middle_s == pytest.approx(63.0)


# -- the estimate --------------------------------------------------------------------------------------


def even(took_s: Floats, rest_s: Floats, *, p_trouble: float = 0.0) -> Paces:
    """Hosts that always take as long."""
    n = len(took_s)
    one = np.ones(n, np.int64)
    return Paces(
        took_s=Samples(np.arange(n), one, took_s),
        rest_s=Samples(np.arange(n), one, rest_s),
        base_s=rest_s,
        p_trouble=np.full(n, p_trouble),
        n_failures=np.zeros(n, np.int64),
        known=np.ones(n, np.bool_),
    )


def model_of(n_each: list[int], known: Paces, *, asks_robots: bool = False) -> Model:
    place = np.repeat(np.arange(len(n_each)), n_each)
    none = np.zeros(len(place), np.int64)
    load, _ = load_of(place, np.arange(len(place), dtype=np.float64), none, none > 0)
    return Model(load, known, asks_robots=asks_robots)


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
    assert failing.middle_s == pytest.approx(3.0 + 67.5 + 135.0)


def test_what_failed_before_fails_again_more_likely_than_not() -> None:
    known = even(np.array([1.0]), np.array([2.0]))
    load = Load(ints(0, 0), np.arange(2.0), ints(8, 0), np.zeros(2, np.bool_))
    assert Model(load, known, asks_robots=False).estimate(1).middle_s == pytest.approx(2.0 + 67.5)
