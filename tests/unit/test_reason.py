"""Sentences for people."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from recrawl.contracts import Goal
from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import DAY_S, Plan, Standing
from recrawl.schedule.goals import Capture, Fresh, Prompt
from recrawl.schedule.reason import rate, reason, span


def plan(**said: object) -> Plan:
    figures: dict[str, object] = {
        "resource_id": 1, "due_at": 2e9, "gap_s": 3.5 * 86400, "price": 12345.0, "p_changed": 0.31,
        "per_day": 0.1, "rule": "index:fresh",
    }  # fmt: skip
    return Plan(**{**figures, **said})  # type: ignore[arg-type]


def test_the_reason_has_the_figures_it_rests_on() -> None:
    text = reason(plan(), Standing(n_informative=12, n_changes=4))
    assert text == (
        "4 changes seen in 12 visits, about one in 10 days expected; 31.0 % likely to have changed 3.5 days "
        "after the last look; then a visit is worth about 3.43 hours of stale time saved, with this budget "
        "the least that one is made for (goal fresh)."
    )


def test_what_a_visit_is_worth_is_said_in_what_the_goal_is_about() -> None:
    """The figure alone means nothing to whoever has not read the theory."""
    assert "worth about 3.43 hours of being behind saved" in reason(
        plan(rule="index:fresh-harmonic"), Standing()
    )
    assert "worth about 3.43 hours of waiting for news saved" in reason(plan(rule="index:prompt"), Standing())
    caught = reason(plan(rule="index:capture", price=0.2149), Standing())
    assert "worth about a 21.5 % chance of a version that would be missed" in caught
    assert "worth about 12,300 by its goal" in reason(plan(rule="index:other"), Standing())
    for free in (0.0, 1e-300, 4e-300, float("nan")):
        assert reason(plan(price=free), Standing()).endswith("; then a visit is worth it (goal fresh).")


def test_a_weight_counts_what_a_visit_is_worth_so_many_times() -> None:
    text = reason(plan(), Standing(), weight=2.0)
    assert "about 1.71 hours of stale time saved, with this budget and with its weight of 2 the least" in text
    assert "a visit of the usual size is worth about" in reason(plan(), Standing(), by_size=True)


@pytest.mark.parametrize("goal", [Fresh(), Capture(), Prompt()], ids=lambda goal: goal.name)
def test_what_it_is_worth_is_what_one_more_visit_brings(goal: Goal) -> None:
    """By how much the goal's own measure rises for each visit more: that is what the words claim."""
    shape, scale_s, gap_s = 2.0, 1.5 * DAY_S, 0.8 * DAY_S

    def by_second(per_s: float) -> float:
        """What so many visits win in each second, or lose."""
        t_s = np.linspace(0.0, 1.0 / per_s, 100_001)
        stale = 1.0 - (scale_s / (scale_s + t_s)) ** shape
        if goal.name == "capture":
            return per_s * float(stale[-1])
        return -per_s * float(np.trapezoid(stale if goal.name == "fresh" else shape * t_s / scale_s, t_s))

    per_s, more = 1.0 / gap_s, 1e-3 / gap_s
    brings = (by_second(per_s + more) - by_second(per_s - more)) / (2.0 * more)
    forecasts = GammaForecasts(np.array([shape]), np.array([scale_s]))
    assert brings == pytest.approx(float(goal.worth(forecasts, np.array([gap_s]))[0]), rel=1e-3)


def test_a_source_that_told_of_a_change_is_mentioned() -> None:
    text = reason(plan(), Standing(told_at=1e9, told_by=7))
    assert "after the last look; a source has told of a change since; then a visit" in text


def test_a_bound_that_holds_no_more_is_not_said_to_hold() -> None:
    now = (3_600.0, 180 * DAY_S)
    for bound, end in (("max", "largest"), ("min", "smallest")):
        made = plan(gap_s=7_200.0, bound=bound)
        was = f"2 hours was the {end} gap allowed when this was planned; `recrawl run` plans it anew"
        assert was in reason(made, Standing(), bounds_s=now)
        assert f"2 hours is the {end} gap allowed" in reason(made, Standing(), bounds_s=(7_200.0, 7_200.0))
    jittered = plan(gap_s=0.93 * DAY_S, bound="max")
    assert "is the largest gap allowed" in reason(jittered, Standing(), bounds_s=(60.0, DAY_S))


def test_bounds_are_named() -> None:
    assert "smallest gap allowed" in reason(plan(bound="min"), Standing())
    assert "largest gap allowed" in reason(plan(bound="max"), Standing())
    late = plan(bound="max", price=inf)
    assert "no visit is worth the price" in reason(late, Standing())
    assert "its host cannot keep it" in reason(late, Standing(), scarce="its host")
    assert "uniform would have it later" in reason(replace(late, rule="uniform"), Standing())


def test_first_looks_and_retries_have_their_own_words() -> None:
    assert "Never looked at" in reason(plan(rule="first-look"), Standing())
    assert "3 times in a row" in reason(plan(rule="retry", gap_s=3600.0), Standing(n_failures=3))
    assert "(once)" in reason(plan(rule="retry", gap_s=900.0), Standing(n_failures=1))


def test_spans_and_rates_read_well() -> None:
    assert span(900.0) == "15 minutes"
    assert span(86400.0) == "1 day"
    assert span(3599.99999) == span(3597.0) == "1 hour"
    assert span(0.9) == "0.9 seconds"
    assert span(float("inf")) == "for ever"
    assert rate(2.5) == "2.5 a day"
    assert rate(0.5) == "one in 2 days"
    assert rate(0.0) == "no change"


def test_a_new_resource_is_said_to_look_like_others() -> None:
    """Until it is known by what it did."""
    new = Standing(n_informative=2, hunch_per_day=1 / 3, hunch_gap_s=3 * DAY_S)
    assert "; it looks like pages that change every 3 days; then a visit" in reason(plan(), new)
    assert "every hour" in reason(plan(), replace(new, hunch_per_day=24.0))
    assert "looks like" not in reason(plan(), replace(new, n_informative=11))
    assert "looks like" not in reason(plan(), Standing(n_informative=2))
