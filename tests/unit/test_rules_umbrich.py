"""The archiver's strategies, step by step as worked out by hand."""

from __future__ import annotations

import pytest

from recrawl.model import DAY_S
from recrawl.schedule.policies.rules.named import RULES
from recrawl.schedule.policies.rules.rule import Rule
from recrawl.schedule.policies.rules.step import step
from recrawl.schedule.policies.rules.umbrich import rung, stretched


def days(name: str, bits: str, start_days: float = 7.0) -> list[float]:
    """The gaps in days after each visit; 1 found a change, 0 did not."""
    rule = RULES[name].bounded(DAY_S, 180 * DAY_S, start_days * DAY_S)
    return followed(rule, bits)


def followed(rule: Rule, bits: str) -> list[float]:
    row, at, gaps = rule.rows(1)[0].tolist(), 0.0, []
    for bit in bits:
        elapsed_s = row[0]
        at += elapsed_s
        step(rule.code, rule.numbers, row, at, elapsed_s, bit == "1")
        gaps.append(row[0] / DAY_S)
    return gaps


def test_fix_halves_after_two_changes_and_doubles_after_two_visits_without() -> None:
    assert days("fix", "11") == [7, 3.5]
    assert days("fix", "00") == [7, 14]
    assert days("fix", "0101") == [7, 7, 7, 7]


def test_fix_counts_only_snapshots_at_the_present_gap() -> None:
    assert days("fix", "1111") == [7, 3.5, 3.5, 1.75]
    assert days("fix", "0001") == [7, 14, 14, 14]


def test_above_a_month_the_factor_is_one_and_a_half() -> None:
    assert days("fix", "00", 30.0) == [30, 60]  # a month is not above a month
    assert days("fix", "00", 40.0) == [40, 60]
    assert days("fix", "11", 60.0) == [60, 40]
    assert days("fix", "11", 30.0) == [30, 15]


def test_gaps_stay_between_a_day_and_six_months() -> None:
    assert days("fix", "111111", 1.5) == [1.5, 1, 1, 1, 1, 1]
    assert days("fix", "0000", 150.0) == [150, 180, 180, 180]


def test_at_a_bound_the_snapshots_go_on_counting() -> None:
    # three changes in a row at one day, then two visits without: those two alone decide
    assert days("fix", "11100", 1.0) == [1, 1, 1, 1, 2]


@pytest.mark.parametrize(("start", "n"), [(1.0, 4), (7.0, 4), (8.0, 3), (30.0, 3), (31.0, 2), (61.0, 1)])
def test_dyn_needs_fewer_snapshots_the_rarer_they_are(start: float, n: int) -> None:
    gaps = days("dyn", "0" * n, start)
    assert gaps[:-1] == [start] * (n - 1)
    assert gaps[-1] > start


def test_the_share_of_changes_stretches_the_gap_by_the_papers_table() -> None:
    shares = [1.0, 0.9, 0.76, 0.75, 0.61, 0.6, 0.5, 0.4, 0.39, 0.25, 0.24, 0.1, 0.09, 0.0]
    third = pytest.approx(1 / 3)
    two_thirds = pytest.approx(1 / 1.5)
    assert [stretched(share) for share in shares] == [
        *(third, 0.5, 0.5, two_thirds, two_thirds, 1.0, 1.0, 1.0),
        *(1.5, 1.5, 2.0, 2.0, 3.0, 3.0),
    ]


def test_window_looks_at_half_of_what_there_is_up_to_nine_and_then_at_the_last_ten() -> None:
    # the last one: / 3; the last one: * 3; the last one: / 3; one of the last two: as it is
    assert days("window", "1010", 9.0) == pytest.approx([3, 9, 3, 3])
    # 10th: six changes in ten is not above .6: as it is; 11th: 6 of the last ten once more
    bits = "0000" + "111111"
    assert days("window", bits, 9.0)[-1] == pytest.approx(days("window", bits[:-1], 9.0)[-1])


def test_the_papers_worked_example_gives_four_fifths() -> None:
    rule = RULES["state-1"].bounded(DAY_S, 180 * DAY_S, 7 * DAY_S)
    row = rule.rows(1)[0].tolist()
    table = 2 + rung(7 * DAY_S, rule.numbers) * 4
    # n(0|0), n(1|0), n(0|1), n(1|1), and the last state was a change
    row[table : table + 4] = [9.0, 40.0, 50.0, 10.0]
    row[1] = 0.0
    step(rule.code, rule.numbers, row, 0.0, 7 * DAY_S, False)  # one more 0 after 0: 10, so P(1|0) = 40/50
    assert row[table : table + 4] == [10.0, 40.0, 50.0, 10.0]
    assert row[0] == 3.5 * DAY_S  # .8 is above .75: / 2


def test_state_1_begins_unchanged_and_goes_by_what_followed_the_present_state() -> None:
    # 0 after 0: P(1|0) = 0: * 3. Then at 21 days a change after 0: nothing is known of what follows a change.
    assert days("state-1", "0") == [21]
    assert days("state-1", "1") == [7]
    assert days("state-1", "11") == [7, pytest.approx(7 / 3)]  # 1 after 1: P(1|1) = 1: / 3
    # 1, 1 at 7 days; at 7/3 a 0 follows 1, nothing is known of what follows 0 there
    assert days("state-1", "110") == pytest.approx([7, 7 / 3, 7 / 3])


def test_state_2_remembers_two_states() -> None:
    # 1 after 00; 1 after 01; 1 after 11: only now something is known of what follows 11
    assert days("state-2", "111") == pytest.approx([7, 7, 7 / 3])
    assert days("state-2", "0") == [21]  # 0 after 00


def test_every_gap_has_a_table_of_its_own_a_step_of_one_and_a_half_apart() -> None:
    rule = RULES["state-2"].bounded(DAY_S, 180 * DAY_S, 7 * DAY_S)
    for gap_days in (1.0, 2.0, 7.0, 21.0, 60.0, 119.0):
        here = rung(gap_days * DAY_S, rule.numbers)
        assert rung(1.5 * gap_days * DAY_S, rule.numbers) == here + 1
    assert rule.width == 2 + 14 * 2 * 4
    # what was learned at 7 days is unknown at 21, and known again back at 7
    assert days("state-1", "0" + "1" + "1") == pytest.approx([21, 21, 7])


def test_week_never_moves() -> None:
    assert days("week", "110100") == [7] * 6
    assert followed(RULES["week"], "01") == [7, 7]
