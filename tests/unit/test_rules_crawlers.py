"""The rules of crawlers, step by step as worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recrawl.model import DAY_S, HOUR_S
from recrawl.schedule.policies.rules.named import RULES
from recrawl.schedule.policies.rules.rule import Rule
from recrawl.schedule.policies.rules.step import step


def followed(rule: Rule, bits: str) -> list[float]:
    """The gaps in days after each visit, each visit made when it is due."""
    row, at, gaps = rule.rows(1)[0].tolist(), 1e9, []
    for bit in bits:
        elapsed_s = row[0]
        at += elapsed_s
        step(rule.code, rule.numbers, row, at, elapsed_s, bit == "1")
        gaps.append(row[0] / DAY_S)
    return gaps


def test_nutch_begins_at_thirty_days_and_shortens_by_a_fifth() -> None:
    assert RULES["nutch"].rows(1)[0, 0] == 30 * DAY_S
    assert followed(RULES["nutch"], "11") == pytest.approx([24.0, 19.2])


def test_nutch_goes_back_towards_the_last_change() -> None:
    # 30 days without a change: 42 days, counted from 0.3 * 30 days ago; then 63 days since the change at the
    # first copy: 58.8 is less than that age, so 63, counted from 0.3 * 63 days ago
    assert followed(RULES["nutch"], "00") == pytest.approx([33.0, 44.1])


def test_nutch_counts_from_the_last_change_that_it_saw() -> None:
    # the change takes the interval to 24 days; 24 days later 33.6, counted from 0.3 * 24 days ago
    assert followed(RULES["nutch"], "10") == pytest.approx([24.0, 33.6 - 7.2])


def test_nutchs_offset_is_cut_to_nothing_not_to_a_share() -> None:
    rule = RULES["nutch"].bounded(DAY_S, 10 * DAY_S, 10 * DAY_S)
    row = rule.rows(1)[0].tolist()
    gaps = []
    # 10, 20, 30 days since the change: 10 - 3, 10 - 6, 10 - 9; 40 days: 0.3 * 40 = 12 is beyond the largest
    # gap, and the whole-number division makes it 0
    for n in (1, 2, 3, 4):
        gaps.append(step(rule.code, rule.numbers, row, 1e9 + n * 10 * DAY_S, 10 * DAY_S, False) / DAY_S)
    assert gaps == [7.0, 4.0, 1.0, 10.0]


def test_nutch_without_the_synchronising_is_multiplying() -> None:
    plain = replace(RULES["nutch"], own=(0.4, 0.2, 0.0, 0.0), start_gap_s=10 * DAY_S)
    assert followed(plain, "001") == pytest.approx([14.0, 19.6, 15.68])


def test_storm_crawler_goes_towards_its_smallest_gap_in_whole_minutes() -> None:
    # a day is 1440 minutes: (1440 + 60) / 2 = 750, (750 + 60) / 2 = 405, 232.5 -> 232
    assert [gap * 1440 for gap in followed(RULES["storm-crawler"], "111")] == pytest.approx([750, 405, 232])
    # 232 * 1.5 = 348; up to fourteen days
    assert followed(RULES["storm-crawler"], "1110")[-1] * 1440 == pytest.approx(348)
    assert followed(RULES["storm-crawler"], "0" * 9)[-1] == 14.0


def test_heritrix_multiplies_and_divides_by_one_and_a_half() -> None:
    assert followed(RULES["heritrix"], "0011") == pytest.approx([1.5, 2.25, 1.5, 1.0])
    assert followed(RULES["heritrix"], "0" * 12)[-1] == 28.0
    assert followed(RULES["heritrix"], "1" * 12)[-1] == pytest.approx(HOUR_S / DAY_S)


def test_hydra_climbs_its_ladder_and_falls_off_at_a_change() -> None:
    assert followed(RULES["hydra"], "00000") == [1.0, 7.0, 30.0, 30.0, 30.0]
    assert followed(RULES["hydra"], "0010") == [1.0, 7.0, 0.5, 1.0]


def test_hydra_keeps_its_rung_where_the_bounds_are_narrower() -> None:
    # its lowest rung, 12 hours, is below the bound; the next one, a day, comes all the same before a week
    assert followed(RULES["hydra"].bounded(DAY_S, 20 * DAY_S, 7 * DAY_S), "1000") == [1.0, 1.0, 7.0, 20.0]


def test_changedetection_looks_every_three_hours_whatever_it_finds() -> None:
    assert followed(RULES["changedetection"], "0101") == [0.125] * 4
    assert followed(RULES["changedetection"].bounded(DAY_S, 9 * DAY_S, 7 * DAY_S), "01") == [1.0, 1.0]
