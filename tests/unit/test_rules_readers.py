"""The rules of feed readers, step by step as worked out by hand. An entry is a visit that found a change."""

from __future__ import annotations

import pytest

from recrawl.model import DAY_S, HOUR_S
from recrawl.schedule.policies.rules.named import RULES
from recrawl.schedule.policies.rules.readers import N_KEPT
from recrawl.schedule.policies.rules.step import step


def hours(name: str, visits: list[tuple[float, bool]]) -> list[float]:
    """The gaps in hours after visits at these hours."""
    rule = RULES[name]
    row, last, gaps = rule.rows(1)[0].tolist(), 0.0, []
    for at, changed in visits:
        elapsed_s = (at - last) * HOUR_S
        gaps.append(step(rule.code, rule.numbers, row, 1e9 + at * HOUR_S, elapsed_s, changed) / HOUR_S)
        last = at
    return gaps


def test_miniflux_takes_whole_visits_a_week_from_the_mean_gap_of_the_weeks_entries() -> None:
    # one entry: a day. Entries 9 hours apart: 168 / 9 = 18.67, so 19 visits a week: one in 8.842 hours
    assert hours("miniflux", [(1, True), (10, True)]) == pytest.approx([24, 168 / 19])
    # three, 9 and 3 hours apart: on average 6: 28 visits a week
    assert hours("miniflux", [(1, True), (10, True), (13, True)])[-1] == pytest.approx(6)


def test_miniflux_forgets_entries_after_a_week() -> None:
    assert hours("miniflux", [(1, True), (10, True), (171, False)])[-1] == 24  # one is left
    assert hours("miniflux", [(1, True), (10, True), (169, False)])[-1] == pytest.approx(168 / 19)


def test_commafeed_takes_half_the_mean_gap_up_to_an_hour() -> None:
    assert hours("commafeed", [(1, True), (1.5, True)]) == pytest.approx([1, 0.25])
    assert hours("commafeed", [(1, True), (9, True)])[-1] == 1
    assert hours("commafeed", [(1, True), (1.01, True)])[-1] == pytest.approx(1 / 12)  # five minutes


def test_commafeed_slows_down_where_nothing_new_came() -> None:
    quiet = [(6.9, 0.5), (7.0, 1.0), (13.9, 1.0), (14.0, 2.0), (29.9, 2.0), (30.0, 4.0)]
    for after_days, gap in quiet:
        visits = [(1.0, True), (2.0, True), (2 + 24 * after_days, False)]
        assert hours("commafeed", visits)[-1] == pytest.approx(gap)
    assert hours("commafeed", [(5.0, False)]) == [4]


def test_autottl_divides_the_time_since_the_oldest_entry_of_thirty_days_by_their_number() -> None:
    assert hours("freshrss-autottl", [(1, False)]) == [24]
    assert hours("freshrss-autottl", [(1, True)]) == [1]  # no time has passed since: the smallest gap
    assert hours("freshrss-autottl", [(1, True), (21, False)])[-1] == 20
    assert hours("freshrss-autottl", [(1, True), (21, True)])[-1] == 10
    assert hours("freshrss-autottl", [(1, True), (721, True), (722, True)])[-1] == 1  # two, half an hour each


def test_only_the_newest_entries_are_kept() -> None:
    rule = RULES["freshrss-autottl"].bounded(60.0, 9 * DAY_S, HOUR_S)
    row = rule.rows(1)[0].tolist()
    n = N_KEPT + 10
    for i in range(n):
        # an hour apart at first, then ten minutes
        at = 1e9 + (i * HOUR_S if i < 10 else 10 * HOUR_S + (i - 10) * 600.0)
        gap_s = step(rule.code, rule.numbers, row, at, 600.0, True)
    assert gap_s == pytest.approx((N_KEPT - 1) * 600.0 / N_KEPT)


@pytest.mark.parametrize("name", ["miniflux", "commafeed", "freshrss-autottl"])
def test_within_wide_bounds_a_reader_still_answers_with_its_own_largest_gap(name: str) -> None:
    own = RULES[name]
    wide = own.bounded(HOUR_S / 60, 180 * DAY_S)
    assert wide.max_gap_s == own.max_gap_s  # else it would stay away for half a year where nothing came
    assert own.bounded(DAY_S, 180 * DAY_S).max_gap_s == DAY_S  # no gap is shorter than the bounds allow
    assert own.bounded(HOUR_S / 60, HOUR_S).max_gap_s == HOUR_S  # nor longer


def test_a_crawlers_largest_gap_is_only_an_end_and_gives_way_to_that_of_the_experiment() -> None:
    for name in ("nutch", "storm-crawler", "heritrix", "fix"):
        assert RULES[name].bounded(DAY_S, 180 * DAY_S).max_gap_s == 180 * DAY_S
