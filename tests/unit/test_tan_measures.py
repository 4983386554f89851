"""The measures of threads, on examples worked out by hand; `docs/reference/measures.md` has them."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.evaluate.tan.following import SOONEST_S, followed
from recrawl.evaluate.tan.measures import Watched, delays_s, figures, mape, normalised, windows
from recrawl.evaluate.tan.rates import paced
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats

MIN = 60.0


def threads(*posts_min: list[float]) -> Threads:
    n = [len(one) for one in posts_min]
    at = MIN * np.array([post for one in posts_min for post in one])
    bounds = np.concatenate([[0], np.cumsum(n)])
    return Threads(bounds, at, np.full(len(at), -1), None, np.zeros(len(n), dtype=np.int64))


def seen(posts_min: list[float], visits_min: list[float]) -> Watched:
    """Watched from 0 to the last post."""
    return Watched(
        start_at=np.zeros(1),
        end_at=MIN * np.array(posts_min[-1:]),
        bounds=np.array([0, len(posts_min)]),
        at=MIN * np.array(posts_min),
        visit_bounds=np.array([0, len(visits_min)]),
        visit_at=MIN * np.array(visits_min),
    )


EXAMPLE = seen([10.0, 12.0, 40.0, 100.0], [20.0, 60.0, 90.0])


def test_a_post_waits_for_the_next_visit_or_for_the_end() -> None:
    assert (delays_s(EXAMPLE) / MIN).tolist() == [10.0, 8.0, 20.0, 0.0]
    assert figures(EXAMPLE).t_score_min.tolist() == [9.5]


def test_a_visit_at_the_very_moment_of_a_post_fetches_it() -> None:
    assert delays_s(seen([10.0, 30.0], [10.0])).tolist() == [0.0, 0.0]


def test_normalised_misses_are_shares_of_the_longest_delays_and_alarms_of_the_minutes_without_posts() -> None:
    """38 minutes of 90 + 88 + 60 + 0, and three visits in 100 minutes with four posts."""
    p_miss, p_fa = normalised(EXAMPLE, delays_s(EXAMPLE))
    assert p_miss[0] == pytest.approx(38 / 238)
    assert p_fa[0] == pytest.approx(3 / 96)
    assert figures(EXAMPLE).p_error_norm[0] == pytest.approx((38 / 238 + 3 / 96) / 2)


def test_a_thread_without_spare_minutes_has_no_normalised_false_alarms() -> None:
    p_miss, p_fa = normalised(seen([1.0, 2.0], [1.5]), np.array([30.0, 0.0]))
    assert p_miss.tolist() == [0.5]
    assert np.isnan(p_fa).all()


def test_windows_hold_half_as_many_events_as_there_are_from_post_to_post() -> None:
    """P P V P V V P: 7 events for 4 posts, so k = 2. Of six windows five have a post, one is PP, one VV."""
    miss, alarm = windows(EXAMPLE)
    assert miss[0] == pytest.approx(1 / 5)
    assert alarm[0] == pytest.approx(1 / 6)
    assert figures(EXAMPLE).pr_error[0] == pytest.approx((1 / 5 + 1 / 6) / 2)


def test_a_visit_after_every_post_makes_no_window_wrong() -> None:
    miss, alarm = windows(seen([10.0, 30.0, 70.0], [11.0, 31.0, 70.0]))
    assert (miss[0], alarm[0]) == (0.0, 0.0)


def test_visits_all_the_time_miss_nothing_and_are_all_false_alarms() -> None:
    """14 events for two posts: windows of four, with one post at most."""
    miss, alarm = windows(seen([60.0, 120.0], [10.0 * i for i in range(1, 13)]))
    assert (miss[0], alarm[0]) == (0.0, 1.0)


def test_without_visits_every_window_has_missed_something() -> None:
    miss, alarm = windows(seen([10.0, 30.0, 70.0], []))
    assert (miss[0], alarm[0]) == (1.0, 0.0)


def test_too_few_events_for_a_window_have_no_such_figures() -> None:
    miss, alarm = windows(seen([10.0], []))
    assert np.isnan([miss[0], alarm[0]]).all()


def test_windows_of_each_thread_are_its_own() -> None:
    """What two threads have together is what each has alone."""
    rng = np.random.default_rng(5)
    parts = []
    for _ in range(20):
        posts = np.sort(rng.random(rng.integers(1, 9))) * 1000.0
        parts.append(seen(posts.tolist(), np.sort(rng.random(rng.integers(0, 40)) * posts[-1]).tolist()))
    both = Watched(
        start_at=np.concatenate([one.start_at for one in parts]),
        end_at=np.concatenate([one.end_at for one in parts]),
        bounds=np.cumsum([0, *(one.n_posts[0] for one in parts)]),
        at=np.concatenate([one.at for one in parts]),
        visit_bounds=np.cumsum([0, *(one.n_visits[0] for one in parts)]),
        visit_at=np.concatenate([one.visit_at for one in parts]),
    )
    alone = [_slow(one) for one in parts]
    assert np.allclose(np.array(windows(both)), np.array(alone).T, equal_nan=True)


def _slow(one: Watched) -> tuple[float, float]:
    """The same by lists of letters."""
    marked = [(at, "P") for at in one.at.tolist()] + [(at, "V") for at in one.visit_at.tolist()]
    events = "".join(letter for _, letter in sorted(marked))
    k = 2 * max(1, int(len(events) / events.count("P") / 4 + 0.5))
    held = [events[i : i + k] for i in range(len(events) - k + 1)]
    spoken = [some for some in held if "P" in some]
    n_missed = sum(some.count("P") > some.count("V") for some in held)
    n_false = sum(some.count("V") > some.count("P") for some in held)
    nothing = float("nan")
    return n_missed / len(spoken) if spoken else nothing, n_false / len(held) if held else nothing


def test_mape_is_the_mean_share_by_which_gaps_were_predicted_wrong() -> None:
    """5 for 10 is half of it, 6 for 2 twice as much; a gap of seconds counts as a minute."""
    found = mape(MIN * np.array([10.0, 2.0, 0.1]), MIN * np.array([5.0, 6.0, 3.0]), np.array([0, 0, 1]), 3)
    assert found[:2].tolist() == [1.25, 2.0]
    assert np.isnan(found[2])


def visits_min(posts: list[float], n_train: int, gaps: list[float]) -> list[float]:
    found = followed(threads(posts), np.array([n_train]), MIN * np.array(gaps))
    return list((found.visit_at / MIN).tolist())


def test_the_next_visit_is_at_the_last_post_plus_what_was_predicted_after_it() -> None:
    """At 25 the post of 20 is found, after which 30 minutes are predicted, so the next one is at 50."""
    assert visits_min([0.0, 10.0, 20.0, 45.0, 100.0], 2, [1.0, 15.0, 30.0, 50.0, 1.0]) == [25.0, 50.0, 95.0]


def test_a_prediction_in_the_past_waits_half_the_time_since_the_last_post_and_five_minutes_at_least() -> None:
    """4 minutes after the post at 0 nothing is there: five more; then half of 9, half of 13.5 and so on."""
    assert visits_min([0.0, 25.0], 1, [4.0, 1.0]) == [4.0, 9.0, 14.0, 21.0]


@pytest.mark.parametrize("gap", [float("nan"), -3.0, float("inf"), 0.0])
def test_what_is_no_gap_is_a_prediction_in_the_past(gap: float) -> None:
    assert visits_min([0.0, 11.0], 1, [gap, gap]) == [SOONEST_S / MIN, 2 * SOONEST_S / MIN]


def test_several_posts_may_be_found_at_once_and_the_last_of_them_decides() -> None:
    assert visits_min([0.0, 5.0, 7.0, 60.0], 1, [10.0, 1.0, 30.0, 1.0]) == [10.0, 37.0, 52.0]


def test_threads_are_followed_one_by_one() -> None:
    posts = [[0.0, 25.0], [0.0, 10.0, 20.0, 45.0, 100.0]]
    gaps = np.array([4.0, 1.0, 1.0, 15.0, 30.0, 50.0, 1.0])
    found = followed(threads(*posts), np.array([1, 2]), MIN * gaps)
    assert found.visit_bounds.tolist() == [0, 4, 7]
    assert (found.visit_at / MIN).tolist() == [4.0, 9.0, 14.0, 21.0, 25.0, 50.0, 95.0]
    assert (found.at / MIN).tolist() == [25.0, 20.0, 45.0, 100.0]
    assert (found.start_at / MIN).tolist() == [0.0, 10.0]


def test_a_fixed_rate_does_not_care_what_it_finds() -> None:
    found = paced(threads([0.0, 10.0, 41.0], [5.0, 25.0]), np.array([1, 1]), 10 * MIN)
    minutes: Floats = found.visit_at / MIN
    assert minutes.tolist() == [10.0, 20.0, 30.0, 40.0, 15.0, 25.0]
    assert found.visit_bounds.tolist() == [0, 4, 6]
